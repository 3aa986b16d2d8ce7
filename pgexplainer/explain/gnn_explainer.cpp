#include "pgexplainer/explain/gnn_explainer.h"

namespace pgexplainer {
namespace {

/// One score per feature: the mean over nodes of what takes part.
std::vector<float> feature_scores(const MaskDescent<float>& descent, Index num_features) {
  const std::vector<float> mask = descent.feature_mask();
  const auto width = static_cast<std::size_t>(num_features);
  std::vector<float> score(width, 0.0F);
  for (std::size_t i = 0; i < mask.size(); ++i)
    score[i % width] += mask[i] * static_cast<float>(width) / static_cast<float>(mask.size());
  return score;
}

}  // namespace

GnnExplainer::GnnExplainer(const GnnExplainerOptions& options, std::uint64_t seed)
    : options_(options), seed_(seed) {
  const Matrix<float> no_features;
  MaskDescent<float>(options, no_features, {});  // checks the kind of feature mask
}

Scores GnnExplainer::score(const InstanceGraph& instance, GnnRun& run) const {
  ExplainedRow row(instance, run);
  const std::size_t target_class = predicted_class(row.forward({}));
  MaskDescent<float> descent(options_, instance.x, instance.reverse);
  RandomStream random = instance_stream(seed_, instance.instance);
  const double spread = std::sqrt(2.0) * std::sqrt(2.0 / (2.0 * instance.num_nodes()));
  for (float& logit : descent.edge_logits())
    logit = static_cast<float>(options_.start_mean + spread * random.normal());
  for (float& logit : descent.feature_logits()) logit = static_cast<float>(0.1 * random.normal());
  for (std::int64_t epoch = 0; epoch < options_.epochs; ++epoch) {
    descent.evaluate(row, target_class);
    descent.step();
  }
  const bool per_feature =
      options_.feature_mask == "common" || options_.feature_mask == "attributes";
  return {descent.edge_mask(),
          per_feature ? feature_scores(descent, instance.x.cols()) : std::vector<float>{}};
}

}  // namespace pgexplainer
