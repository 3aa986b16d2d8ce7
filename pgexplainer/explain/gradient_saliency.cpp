#include "pgexplainer/explain/gradient_saliency.h"

#include <cmath>

#include "pgexplainer/core/index.h"
#include "pgexplainer/explain/explained_row.h"

namespace pgexplainer {

Scores GradientSaliency::score(const InstanceGraph& instance, GnnRun& run) const {
  ExplainedRow row(instance, run);
  const std::span<const float> logits = row.forward({});
  std::vector<float> dlogits;
  class_loss(logits, predicted_class(logits), dlogits);
  std::vector<float> dmask(at(instance.num_edges()), 0.0F);
  row.backward(dlogits, dmask, nullptr);
  for (float& d : dmask) d = options_.with_sign ? -d : std::abs(d);
  return {std::move(dmask), {}};
}

}  // namespace pgexplainer
