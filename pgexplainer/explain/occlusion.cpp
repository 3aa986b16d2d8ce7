#include "pgexplainer/explain/occlusion.h"

#include <limits>

#include "pgexplainer/core/index.h"
#include "pgexplainer/explain/edge_pairs.h"
#include "pgexplainer/explain/explained_row.h"

namespace pgexplainer {
namespace {

/// The lead of class c over the next one; of one class alone, its logit.
double margin(std::span<const float> logits, std::size_t c) {
  double next = logits.size() > 1 ? -std::numeric_limits<double>::infinity() : 0.0;
  for (std::size_t k = 0; k < logits.size(); ++k)
    if (k != c) next = std::max(next, static_cast<double>(logits[k]));
  return static_cast<double>(logits[c]) - next;
}

}  // namespace

Scores Occlusion::score(const InstanceGraph& instance, GnnRun& run) const {
  ExplainedRow row(instance, run);
  std::size_t c = 0;
  const auto confidence = [&](std::span<const float> logits) {
    return options_.margin ? margin(logits, c) : probability(logits, c);
  };
  const std::span<const float> whole = row.forward({});
  c = predicted_class(whole);
  const double before = confidence(whole);

  const EdgePairs pairs(instance.reverse);
  std::vector<float> mask(at(instance.num_edges()), 1.0F), lost(at(pairs.count()));
  const auto set_pair = [&](EdgeId pair, float value) {
    const EdgeId first = pairs.first[at(pair)];
    mask[at(first)] = value;
    if (pairs.size(pair) == 2) mask[at(instance.reverse[at(first)])] = value;
  };
  for (EdgeId pair = 0; pair < pairs.count(); ++pair) {
    set_pair(pair, 0.0F);
    lost[at(pair)] = static_cast<float>(before - confidence(row.forward(mask)));
    set_pair(pair, 1.0F);
  }
  Scores scores;
  pairs.spread<float>(lost, scores.edge);
  return scores;
}

}  // namespace pgexplainer
