// How faithful a ranking of edges is to the model, without ground truth: what becomes of the
// predicted class c when the best-ranked edges alone are kept, and when they are removed, for
// explanations of 5, 10, ..., 95 % of the edges.
//
//   gap = mean over sizes of P_c(kept) - P_c(removed)
//
// A good ranking has a large one. Over all sizes the opposite ranking has the negative, for keeping
// the worst s of the edges is removing the best 1 - s: there 0 is what chance gives.
#pragma once

#include <array>
#include <span>

#include "pgexplainer/explain/edge_pairs.h"
#include "pgexplainer/model/instance_graph.h"

namespace pgexplainer {

struct KeepRemove {
  static constexpr std::size_t kSizes = 19, kSmallSizes = 14;
  static constexpr double share(std::size_t size) { return 0.05 * static_cast<double>(size + 1); }

  // One per size; of several instances the sums.
  std::array<double, kSizes> kept{}, removed{};  ///< P_c
  std::array<double, kSizes> held{}, broken{};   ///< 1 if c is predicted; 1 if it is not any more

  void operator+=(const KeepRemove& other);
  /// Over sizes up to 70 %: what a reader of explanations sees.
  [[nodiscard]] double small_gap() const;
  /// Over all sizes.
  [[nodiscard]] double gap() const;
};

/// One instance, one score for each of its pairs of edges, at least one. Of equal scores the
/// earlier pair counts as better.
KeepRemove keep_and_remove(const InstanceGraph& instance, const EdgePairs& pairs,
                           std::span<const float> pair_score, std::size_t c, GnnRun& run);

/// P_c(kept) - P_c(removed) of the `count` best pairs: of a large instance a reader sees fewer than
/// the smallest size above.
double gap_of_best(std::size_t count, const InstanceGraph& instance, const EdgePairs& pairs,
                   std::span<const float> pair_score, std::size_t c, GnnRun& run);

/// KeepRemove::small_gap of the same, without a look at larger sizes.
double small_gap_of(const InstanceGraph& instance, const EdgePairs& pairs,
                    std::span<const float> pair_score, std::size_t c, GnnRun& run);

}  // namespace pgexplainer
