// The two directions of an undirected edge count as one edge: who belongs together, and averages
// over both.
#pragma once

#include <span>
#include <vector>

#include "pgexplainer/core/index.h"
#include "pgexplainer/graph/adjacency.h"

namespace pgexplainer {

/// Pairs are numbered in the order of their first edge. A self-loop and an edge without a reverse
/// are pairs of one.
struct EdgePairs {
  std::vector<EdgeId> pair;   ///< of each edge
  std::vector<EdgeId> first;  ///< the first edge of each pair
  std::vector<int> size;      ///< 1 or 2

  explicit EdgePairs(std::span<const EdgeId> reverse) : pair(reverse.size(), kNoEdge) {
    for (std::size_t e = 0; e < reverse.size(); ++e) {
      if (pair[e] != kNoEdge) continue;
      pair[e] = static_cast<EdgeId>(first.size());
      first.push_back(static_cast<EdgeId>(e));
      const bool both = reverse[e] != kNoEdge && at(reverse[e]) != e;
      if (both) pair[at(reverse[e])] = pair[e];
      size.push_back(both ? 2 : 1);
    }
  }
  [[nodiscard]] EdgeId count() const { return static_cast<EdgeId>(first.size()); }

  /// The mean of a value over the edges of each pair.
  template <class T>
  void mean(std::span<const T> edge_value, std::vector<T>& pair_value) const {
    pair_value.assign(first.size(), T(0));
    for (std::size_t e = 0; e < pair.size(); ++e)
      pair_value[at(pair[e])] += edge_value[e] / static_cast<T>(size[at(pair[e])]);
  }
  /// Every edge gets the value of its pair.
  template <class T>
  void spread(std::span<const T> pair_value, std::vector<T>& edge_value) const {
    edge_value.resize(pair.size());
    for (std::size_t e = 0; e < pair.size(); ++e) edge_value[e] = pair_value[at(pair[e])];
  }
  /// The adjoint of spread: the sum over the edges of each pair.
  template <class T>
  void sum(std::span<const T> edge_value, std::vector<T>& pair_value) const {
    pair_value.assign(first.size(), T(0));
    for (std::size_t e = 0; e < pair.size(); ++e) pair_value[at(pair[e])] += edge_value[e];
  }
};

}  // namespace pgexplainer
