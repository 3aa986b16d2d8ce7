// Integrated gradients (Sundararajan et al., ICML 2017) of the predicted class's probability along
// the straight line from no edges to all edges,
//
//   score_e = integral_0^1 dP_c/dm_e (m = alpha 1) d alpha,
//
// by the midpoint rule. Completeness: the scores of all edges sum to P_c(G) - P_c(no edges).
#pragma once

#include "pgexplainer/explain/explainer.h"

namespace pgexplainer {

struct IntegratedGradientsOptions {
  std::int64_t steps = 20;

  template <class Visitor>
  static void fields(Visitor&& field) {
    field("steps", &IntegratedGradientsOptions::steps, Bounds{1, 1e6},
          "points of the midpoint rule between no edges and all edges");
  }
};

class IntegratedGradients final : public Explainer {
 public:
  explicit IntegratedGradients(const IntegratedGradientsOptions& options) : options_(options) {}

  [[nodiscard]] std::string_view method() const override { return "integrated-gradients"; }
  [[nodiscard]] Scores score(const InstanceGraph& instance, GnnRun& run) const override;

 private:
  IntegratedGradientsOptions options_;
};

}  // namespace pgexplainer
