// What explains nothing: uniform random scores, the floor under every comparison.
#pragma once

#include <cstdint>

#include "pgexplainer/explain/explainer.h"

namespace pgexplainer {

class RandomScores final : public Explainer {
 public:
  explicit RandomScores(std::uint64_t seed) : seed_(seed) {}

  [[nodiscard]] std::string_view method() const override { return "random"; }
  [[nodiscard]] Scores score(const InstanceGraph& instance, GnnRun& run) const override;

 private:
  std::uint64_t seed_;
};

}  // namespace pgexplainer
