#include "pgexplainer/explain/attention.h"

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"

namespace pgexplainer {

Support Attention::supports(const ExplainedModel& model) const {
  if (model.gnn().num_attention_layers() > 0) return {};
  return {"it has no attention layers; train one that has with 'pgexplainer train --arch gat'"};
}

void Attention::prepare(const ExplainedModel& model, std::span<const Instance>, ThreadPool&) {
  const Matrix<float> of_layer = model.gnn().attention(model.whole());
  attention_.assign(at(of_layer.cols()), 0.0F);
  for (Index edge = 0; edge < of_layer.cols(); ++edge) {
    for (Index layer = 0; layer < of_layer.rows(); ++layer)
      attention_[at(edge)] += of_layer(layer, edge);
    attention_[at(edge)] /= static_cast<float>(of_layer.rows());
    if (!(attention_[at(edge)] >= 0.0F))
      throw_bad_input(
          "the network gives edge {} no finite attention: check the features and the weights",
          edge);
  }
}

Scores Attention::score(const InstanceGraph& instance, GnnRun&) const {
  Scores scores;
  for (const EdgeId edge : instance.edges) scores.edge.push_back(attention_[at(edge)]);
  return scores;
}

}  // namespace pgexplainer
