// ATT (Velickovic et al., ICLR 2018, as a baseline in the GNNExplainer and PGExplainer papers): the
// network's own attention, averaged over heads and attention layers. It is the same for every
// prediction that an edge takes part in, and explains only networks that attend.
#pragma once

#include <vector>

#include "pgexplainer/explain/explainer.h"

namespace pgexplainer {

class Attention final : public Explainer {
 public:
  [[nodiscard]] std::string_view method() const override { return "att"; }
  [[nodiscard]] Support supports(const ExplainedModel& model) const override;
  void prepare(const ExplainedModel& model, std::span<const Instance> instances,
               ThreadPool& pool) override;
  [[nodiscard]] Scores score(const InstanceGraph& instance, GnnRun& run) const override;

 private:
  std::vector<float> attention_;  // of each edge of the dataset
};

}  // namespace pgexplainer
