// Stability: do several runs of an explainer (other seeds, same instance) agree?
//
//   Spearman = Pearson correlation of the ranks, equal scores sharing their average rank
//   Jaccard  = |A and B| / |A or B| of the top-k edges of two runs
//
// both averaged over all pairs of runs; 1 = the same explanation every time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pgexplainer {

/// 1, 2, ... for ascending scores; throws on NaN.
std::vector<double> average_ranks(std::span<const float> score);

/// In [-1, 1]; NaN if a side is constant (or has fewer than two entries), where it is undefined.
double spearman(std::span<const float> a, std::span<const float> b);

/// Of the sets of the k largest scores (top_k); NaN if both are empty.
double top_k_jaccard(std::span<const float> a, std::span<const float> b, std::int64_t k);

struct Stability {
  double spearman = 0.0;  ///< over the pairs where it is defined; NaN if there are none
  double jaccard = 0.0;
  std::int64_t num_pairs = 0;
  std::int64_t num_undefined = 0;  ///< pairs left out of the mean Spearman correlation
};

/// One vector of scores per run, all of the same edges. Fewer than two runs give NaN.
Stability stability(std::span<const std::vector<float>> runs, std::int64_t k);

}  // namespace pgexplainer
