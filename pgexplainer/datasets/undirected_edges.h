// A growing list of undirected edges, the raw material of the generators.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pgexplainer/graph/graph.h"

namespace pgexplainer {

/// Kept as one flat list of endpoints (a0, b0, a1, b1, ...): 8 bytes per edge, and each node occurs
/// in it as often as its degree, which is what preferential attachment draws from.
class UndirectedEdges {
 public:
  void add(NodeId a, NodeId b) {
    endpoints_.push_back(a);
    endpoints_.push_back(b);
  }
  [[nodiscard]] std::int64_t size() const {
    return static_cast<std::int64_t>(endpoints_.size() / 2);
  }
  [[nodiscard]] const std::vector<NodeId>& endpoints() const { return endpoints_; }

 private:
  std::vector<NodeId> endpoints_;
};

/// The neighbours of node i, in ascending order, are neighbor[ptr[i]] .. neighbor[ptr[i+1]-1].
struct SortedNeighbors {
  std::vector<EdgeId> ptr;
  std::vector<NodeId> neighbor;

  [[nodiscard]] std::span<const NodeId> of(NodeId node) const;
};

/// Linear time: the transpose of a symmetric adjacency is itself, with sorted rows.
SortedNeighbors sort_neighbors(NodeId num_nodes, const UndirectedEdges& edges);

/// Both directions of every edge, sorted by (source, target). Takes the list, to free it early.
Graph make_graph(NodeId num_nodes, UndirectedEdges edges);

/// Throws unless that many nodes can be numbered.
NodeId checked_num_nodes(std::int64_t num_nodes);

}  // namespace pgexplainer
