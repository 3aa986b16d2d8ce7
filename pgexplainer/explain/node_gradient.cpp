#include "pgexplainer/explain/node_gradient.h"

#include <algorithm>
#include <cmath>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/explain/explained_row.h"

namespace pgexplainer {

NodeGradient::NodeGradient(const NodeGradientOptions& options) : squared_(options.norm == "l2") {
  if (options.norm != "l2" && options.norm != "l1")
    throw_bad_input("option norm is '{}', expected l2 or l1", options.norm);
}

Scores NodeGradient::score(const InstanceGraph& instance, GnnRun& run) const {
  ExplainedRow row(instance, run);
  const std::span<const float> logits = row.forward({});
  std::vector<float> dlogits(logits.size(), 0.0F);
  dlogits[predicted_class(logits)] = 1.0F;
  Matrix<float> dx;
  row.backward(dlogits, {}, &dx);

  std::vector<float> importance(at(instance.num_nodes()), 0.0F);
  for (Index n = 0; n < dx.rows(); ++n) {
    float sum = 0.0F;
    for (Index f = 0; f < dx.cols(); ++f) {
      const float positive = std::max(dx(n, f), 0.0F);
      sum += squared_ ? positive * positive : positive;
    }
    importance[at(n)] = squared_ ? std::sqrt(sum) : sum;
  }
  Scores scores;
  for (std::size_t e = 0; e < instance.source.size(); ++e)
    scores.edge.push_back(
        0.5F * (importance[at(instance.source[e])] + importance[at(instance.target[e])]));
  return scores;
}

}  // namespace pgexplainer
