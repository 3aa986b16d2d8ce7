// An immutable directed multigraph in compressed sparse rows, with the caller's edge ids.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pgexplainer/core/array.h"
#include "pgexplainer/graph/adjacency.h"

namespace pgexplainer {

/// Edge e goes from source(e) to target(e), where e is its position in the caller's list. Isolated
/// nodes, self-loops and parallel edges are allowed. Built in linear time; copies share the arrays.
class Graph {
 public:
  /// What follows from the two lists of ends. Arrays may be one and the same: in an undirected
  /// graph that is sorted by (source, target), each edge once, the senders to a node are the
  /// targets of its own edges, and the edges they come by are the reversed ones.
  struct Derived {
    Array<EdgeId> in_ptr;            ///< the slots of node i are in_ptr[i] .. in_ptr[i+1]-1
    Array<NodeId> in_source;         ///< the sender of each slot
    Array<EdgeId> in_edge;           ///< the edge of each slot; ascending for each node
    Array<EdgeId> out_ptr;           ///< node i has out_ptr[i+1] - out_ptr[i] outgoing edges
    Array<EdgeId> reverse;           ///< per edge: the edge in the other direction, or kNoEdge
    EdgeId num_duplicate_edges = 0;  ///< edges that repeat an earlier (source, target)
  };

  Graph() : Graph(0, {}, {}) {}
  /// Throws if an endpoint is outside [0, num_nodes) or the two lists differ in length.
  Graph(NodeId num_nodes, std::vector<NodeId> source, std::vector<NodeId> target);
  /// As kept in a file. Sorts nothing; throws if a size is wrong or an entry names a node or an
  /// edge that does not exist. That the arrays belong to this edge list is taken on trust.
  Graph(NodeId num_nodes, Array<NodeId> source, Array<NodeId> target, Derived derived);

  [[nodiscard]] NodeId num_nodes() const { return num_nodes_; }
  [[nodiscard]] EdgeId num_edges() const { return static_cast<EdgeId>(source_.size()); }

  [[nodiscard]] NodeId source(EdgeId edge) const { return source_[static_cast<std::size_t>(edge)]; }
  [[nodiscard]] NodeId target(EdgeId edge) const { return target_[static_cast<std::size_t>(edge)]; }
  [[nodiscard]] std::span<const NodeId> sources() const { return source_; }
  [[nodiscard]] std::span<const NodeId> targets() const { return target_; }

  /// Edges into a node, and their sources; they keep the caller's order.
  [[nodiscard]] std::span<const EdgeId> in_edges(NodeId node) const {
    return row(derived_.in_edge, node);
  }
  [[nodiscard]] std::span<const NodeId> in_neighbors(NodeId node) const {
    return row(derived_.in_source, node);
  }
  /// Hints to the processor that a node's edges will be read: first where they lie, later they.
  void prefetch_place_of_edges(NodeId node) const {
    __builtin_prefetch(derived_.in_ptr.data() + node);
  }
  void prefetch_edges(NodeId node) const {
    const EdgeId begin = derived_.in_ptr[static_cast<std::size_t>(node)];
    __builtin_prefetch(derived_.in_source.data() + begin);
    __builtin_prefetch(derived_.in_edge.data() + begin);
  }
  [[nodiscard]] EdgeId in_degree(NodeId node) const { return degree(derived_.in_ptr, node); }
  [[nodiscard]] EdgeId out_degree(NodeId node) const { return degree(derived_.out_ptr, node); }

  /// The edge in the other direction, or kNoEdge. The k-th of several parallel edges pairs with the
  /// k-th of the reversed ones; a self-loop is its own reverse.
  [[nodiscard]] EdgeId reverse_edge(EdgeId edge) const {
    return derived_.reverse[static_cast<std::size_t>(edge)];
  }
  /// Whether every edge has a reverse edge.
  [[nodiscard]] bool is_undirected() const { return undirected_; }
  [[nodiscard]] EdgeId num_self_loops() const { return num_self_loops_; }
  /// Edges that repeat an earlier (source, target).
  [[nodiscard]] EdgeId num_duplicate_edges() const { return derived_.num_duplicate_edges; }

  [[nodiscard]] Adjacency adjacency() const {
    return {derived_.in_ptr, derived_.in_source, derived_.in_edge};
  }
  [[nodiscard]] const Derived& derived() const { return derived_; }

 private:
  template <class T>
  std::span<const T> row(const Array<T>& values, NodeId node) const {
    const auto begin = static_cast<std::size_t>(derived_.in_ptr[static_cast<std::size_t>(node)]);
    return std::span<const T>(values).subspan(begin, static_cast<std::size_t>(in_degree(node)));
  }
  static EdgeId degree(const Array<EdgeId>& ptr, NodeId node) {
    return ptr[static_cast<std::size_t>(node) + 1] - ptr[static_cast<std::size_t>(node)];
  }
  void check_ends();

  NodeId num_nodes_;
  Array<NodeId> source_, target_;
  Derived derived_;
  EdgeId num_self_loops_ = 0;
  bool undirected_ = true;
};

}  // namespace pgexplainer
