// The fidelity-sparsity curve: fidelity of the explanation that keeps the best edges and drops a
// share s of them all (s = sparsity; Pope et al., CVPR 2019; Yuan et al., 2022).
//
// Undirected edges are ranked by the mean score of both directions, of equal ones the lower id
// first, and round((1 - s) * edges) of them are kept, both directions at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pgexplainer/metrics/fidelity.h"

namespace pgexplainer {

struct SparsityPoint {
  double sparsity;  ///< as asked for
  Fidelity label, probability;
};

/// 0.1, 0.2, ..., 0.9
std::vector<double> default_sparsity_levels();

/// One instance (the mean over rows, should the input give several). score and reverse are per edge
/// id, as in edge_pairs. Throws if a level is outside [0, 1] or a score is NaN.
std::vector<SparsityPoint> fidelity_by_sparsity(GnnRun& run, const GnnInput<float>& input,
                                                std::span<const float> score,
                                                std::span<const EdgeId> reverse,
                                                std::span<const double> levels);

/// The mean curve over instances. Add in a fixed order for the same bits.
class MeanSparsityCurve {
 public:
  /// Throws unless every curve has the same levels.
  void add(std::span<const SparsityPoint> curve);
  [[nodiscard]] std::int64_t num_instances() const { return num_instances_; }
  /// Empty before the first add.
  [[nodiscard]] std::vector<SparsityPoint> mean() const;

 private:
  std::vector<SparsityPoint> sum_;
  std::int64_t num_instances_ = 0;
};

}  // namespace pgexplainer
