// Occlusion (Zeiler and Fergus, ECCV 2014), edge by edge: what the predicted class loses when one
// undirected edge is taken away, both directions together,
//
//   score_ij = P_c(G) - P_c(G without ij),
//
// or the same for the margin of its logit. One evaluation of the network per edge.
#pragma once

#include "pgexplainer/explain/explainer.h"

namespace pgexplainer {

struct OcclusionOptions {
  bool margin = false;

  template <class Visitor>
  static void fields(Visitor&& field) {
    field("margin", &OcclusionOptions::margin, Bounds{},
          "what is lost: of the lead of the class's logit over the next one, not of its "
          "probability, which saturates");
  }
};

class Occlusion final : public Explainer {
 public:
  explicit Occlusion(const OcclusionOptions& options) : options_(options) {}

  [[nodiscard]] std::string_view method() const override { return "occlusion"; }
  [[nodiscard]] Scores score(const InstanceGraph& instance, GnnRun& run) const override;

 private:
  OcclusionOptions options_;
};

}  // namespace pgexplainer
