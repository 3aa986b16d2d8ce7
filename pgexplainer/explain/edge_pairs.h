// The two directions of an undirected edge count as one edge: who belongs together, and averages
// over both.
#pragma once

#include <span>
#include <vector>

#include "pgexplainer/core/index.h"
#include "pgexplainer/graph/adjacency.h"

namespace pgexplainer {

/// Pairs are numbered in the order of their first edge. A self-loop and an edge without a reverse
/// are pairs of one, whose second edge is the first.
struct EdgePairs {
  std::vector<EdgeId> first, second;  ///< the edges of each pair

  EdgePairs() = default;
  explicit EdgePairs(std::span<const EdgeId> reverse) : num_edges_(reverse.size()) {
    first.reserve(reverse.size() / 2);
    second.reserve(reverse.size() / 2);
    for (std::size_t e = 0; e < reverse.size(); ++e) {
      const EdgeId edge = static_cast<EdgeId>(e);
      const EdgeId other = reverse[e] == kNoEdge ? edge : reverse[e];
      if (other < edge) continue;
      first.push_back(edge);
      second.push_back(other);
    }
  }
  [[nodiscard]] EdgeId count() const { return static_cast<EdgeId>(first.size()); }
  /// 1 or 2
  [[nodiscard]] int size(EdgeId pair) const { return first[at(pair)] == second[at(pair)] ? 1 : 2; }
  [[nodiscard]] std::size_t num_edges() const { return num_edges_; }

  /// The mean of a value over the edges of each pair.
  template <class T>
  void mean(std::span<const T> edge_value, std::vector<T>& pair_value) const {
    pair_value.resize(first.size());
    for (std::size_t k = 0; k < first.size(); ++k)
      pair_value[k] = T(0.5) * edge_value[at(first[k])] + T(0.5) * edge_value[at(second[k])];
  }
  /// Every edge gets the value of its pair.
  template <class T>
  void spread(std::span<const T> pair_value, std::vector<T>& edge_value) const {
    edge_value.resize(num_edges_);
    for (std::size_t k = 0; k < first.size(); ++k)
      edge_value[at(first[k])] = edge_value[at(second[k])] = pair_value[k];
  }
  /// The adjoint of spread: the sum over the edges of each pair.
  template <class T>
  void sum(std::span<const T> edge_value, std::vector<T>& pair_value) const {
    pair_value.resize(first.size());
    for (std::size_t k = 0; k < first.size(); ++k)
      pair_value[k] =
          edge_value[at(first[k])] + (first[k] == second[k] ? T(0) : edge_value[at(second[k])]);
  }
  /// The adjoint of mean: edge_value += .
  template <class T>
  void mean_backward(std::span<const T> pair_value, std::span<T> edge_value) const {
    for (std::size_t k = 0; k < first.size(); ++k) {
      edge_value[at(first[k])] += T(0.5) * pair_value[k];
      edge_value[at(second[k])] += T(0.5) * pair_value[k];
    }
  }

 private:
  std::size_t num_edges_ = 0;
};

}  // namespace pgexplainer
