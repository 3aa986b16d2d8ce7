// GRAD, the gradient baseline of Ying et al. (GNNExplainer, NeurIPS 2019): an edge matters as much
// as the loss of the predicted class changes with its entry of the adjacency matrix,
//
//   score_ij = |dL / dA_ij|,   L = -log P_c(G),
//
// the mean of both directions for an undirected edge. A_ij is the factor of the edge's message
// (nn/layer.h), which is the entry itself where the network does not normalise.
#pragma once

#include "pgexplainer/explain/explainer.h"

namespace pgexplainer {

struct GradientSaliencyOptions {
  bool with_sign = false;

  template <class Visitor>
  static void fields(Visitor&& field) {
    field("with_sign", &GradientSaliencyOptions::with_sign, Bounds{},
          "-dL/dA instead of |dL/dA|: only edges that speak for the class are important");
  }
};

class GradientSaliency final : public Explainer {
 public:
  explicit GradientSaliency(const GradientSaliencyOptions& options) : options_(options) {}

  [[nodiscard]] std::string_view method() const override { return "grad"; }
  [[nodiscard]] Scores score(const InstanceGraph& instance, GnnRun& run) const override;

 private:
  GradientSaliencyOptions options_;
};

}  // namespace pgexplainer
