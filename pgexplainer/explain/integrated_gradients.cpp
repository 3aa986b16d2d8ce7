#include "pgexplainer/explain/integrated_gradients.h"

#include <algorithm>

#include "pgexplainer/core/index.h"
#include "pgexplainer/explain/explained_row.h"

namespace pgexplainer {

Scores IntegratedGradients::score(const InstanceGraph& instance, GnnRun& run) const {
  ExplainedRow row(instance, run);
  const std::size_t c = predicted_class(row.forward({}));
  std::vector<float> mask(at(instance.num_edges())), dlogits;
  Scores scores;
  scores.edge.assign(mask.size(), 0.0F);
  const auto steps = static_cast<double>(options_.steps);
  for (std::int64_t step = 0; step < options_.steps; ++step) {
    std::fill(mask.begin(), mask.end(),
              static_cast<float>((static_cast<double>(step) + 0.5) / steps));
    const std::span<const float> logits = row.forward(mask);
    const double p = probability(logits, c);
    dlogits.resize(logits.size());
    for (std::size_t k = 0; k < dlogits.size(); ++k)  // dP_c/dz_k = P_c ([k = c] - P_k)
      dlogits[k] = static_cast<float>(p * ((k == c ? 1.0 : 0.0) - probability(logits, k)) / steps);
    row.backward(dlogits, scores.edge, nullptr);
  }
  return scores;
}

}  // namespace pgexplainer
