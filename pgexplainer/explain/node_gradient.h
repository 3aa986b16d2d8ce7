// Gradient, the node importance of Pope et al. (CVPR 2019), carried over to edges as the
// PGExplainer paper does:
//
//   importance_n = || ReLU(dy_c / dx_n) ||,   y_c the logit of the predicted class,
//   score_ij     = (importance_i + importance_j) / 2.
#pragma once

#include <string>

#include "pgexplainer/explain/explainer.h"

namespace pgexplainer {

struct NodeGradientOptions {
  std::string norm = "l2";

  template <class Visitor>
  static void fields(Visitor&& field) {
    field("norm", &NodeGradientOptions::norm, Bounds{}, "of a node's gradient: l2 or l1");
  }
};

class NodeGradient final : public Explainer {
 public:
  /// Throws if the norm is neither.
  explicit NodeGradient(const NodeGradientOptions& options);

  [[nodiscard]] std::string_view method() const override { return "gradient"; }
  [[nodiscard]] Scores score(const InstanceGraph& instance, GnnRun& run) const override;

 private:
  bool squared_;
};

}  // namespace pgexplainer
