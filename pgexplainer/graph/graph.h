// An immutable directed multigraph in compressed sparse rows, both directions, with the caller's
// edge ids.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pgexplainer/graph/adjacency.h"

namespace pgexplainer {

/// Edge e goes from source(e) to target(e), where e is its position in the caller's list. Isolated
/// nodes, self-loops and parallel edges are allowed. Built in linear time.
class Graph {
 public:
  Graph() : Graph(0, {}, {}) {}
  /// Throws if an endpoint is outside [0, num_nodes) or the two lists differ in length.
  Graph(NodeId num_nodes, std::vector<NodeId> source, std::vector<NodeId> target);

  [[nodiscard]] NodeId num_nodes() const { return num_nodes_; }
  [[nodiscard]] EdgeId num_edges() const { return static_cast<EdgeId>(source_.size()); }

  [[nodiscard]] NodeId source(EdgeId edge) const { return source_[static_cast<std::size_t>(edge)]; }
  [[nodiscard]] NodeId target(EdgeId edge) const { return target_[static_cast<std::size_t>(edge)]; }
  [[nodiscard]] std::span<const NodeId> sources() const { return source_; }
  [[nodiscard]] std::span<const NodeId> targets() const { return target_; }

  /// Edge ids into, and out of, a node; parallel edges and neighbours keep the caller's order.
  [[nodiscard]] std::span<const EdgeId> in_edges(NodeId node) const {
    return row(in_ptr_, in_edge_, node);
  }
  [[nodiscard]] std::span<const EdgeId> out_edges(NodeId node) const {
    return row(out_ptr_, out_edge_, node);
  }
  [[nodiscard]] std::span<const NodeId> in_neighbors(NodeId node) const {
    return row(in_ptr_, in_source_, node);
  }
  [[nodiscard]] std::span<const NodeId> out_neighbors(NodeId node) const {
    return row(out_ptr_, out_target_, node);
  }
  [[nodiscard]] EdgeId in_degree(NodeId node) const { return degree(in_ptr_, node); }
  [[nodiscard]] EdgeId out_degree(NodeId node) const { return degree(out_ptr_, node); }

  /// The edge in the other direction, or kNoEdge. The k-th of several parallel edges pairs with the
  /// k-th of the reversed ones; a self-loop is its own reverse.
  [[nodiscard]] EdgeId reverse_edge(EdgeId edge) const {
    return reverse_[static_cast<std::size_t>(edge)];
  }
  /// Whether every edge has a reverse edge.
  [[nodiscard]] bool is_undirected() const { return undirected_; }
  [[nodiscard]] EdgeId num_self_loops() const { return num_self_loops_; }
  /// Edges that repeat an earlier (source, target).
  [[nodiscard]] EdgeId num_duplicate_edges() const { return num_duplicate_edges_; }

  [[nodiscard]] Adjacency adjacency() const { return {in_ptr_, in_source_, in_edge_}; }

 private:
  template <class T>
  static std::span<const T> row(const std::vector<EdgeId>& ptr, const std::vector<T>& values,
                                NodeId node) {
    const auto begin = static_cast<std::size_t>(ptr[static_cast<std::size_t>(node)]);
    const auto end = static_cast<std::size_t>(ptr[static_cast<std::size_t>(node) + 1]);
    return std::span<const T>(values).subspan(begin, end - begin);
  }
  static EdgeId degree(const std::vector<EdgeId>& ptr, NodeId node) {
    return ptr[static_cast<std::size_t>(node) + 1] - ptr[static_cast<std::size_t>(node)];
  }
  void pair_reverse_edges();

  NodeId num_nodes_;
  std::vector<NodeId> source_, target_;
  std::vector<EdgeId> in_ptr_, in_edge_, out_ptr_, out_edge_;
  std::vector<NodeId> in_source_, out_target_;
  std::vector<EdgeId> reverse_;
  EdgeId num_self_loops_ = 0;
  EdgeId num_duplicate_edges_ = 0;
  bool undirected_ = true;
};

}  // namespace pgexplainer
