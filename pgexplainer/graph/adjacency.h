// What a message-passing layer reads of a graph: for every node, who sends to it.
//
// Nodes [0, k) and their incoming edges are always a prefix of the arrays. A ComputationGraph
// numbers its nodes by their distance from the target, so "only the rows that can still reach the
// target" is a prefix, too.
#pragma once

#include <cstdint>
#include <span>

namespace pgexplainer {

using NodeId = std::int32_t;
using EdgeId = std::int64_t;
inline constexpr NodeId kNoNode = -1;
inline constexpr EdgeId kNoEdge = -1;

struct Adjacency {
  std::span<const EdgeId>
      in_ptr;  ///< num_nodes + 1; the slots of node i are in_ptr[i] .. in_ptr[i+1]-1
  std::span<const NodeId> in_source;  ///< the sender of each slot
  std::span<const EdgeId> in_edge;    ///< the edge id of each slot; empty = the slot itself

  [[nodiscard]] NodeId num_nodes() const { return static_cast<NodeId>(in_ptr.size()) - 1; }
  [[nodiscard]] EdgeId num_edges() const { return static_cast<EdgeId>(in_source.size()); }
  [[nodiscard]] EdgeId edge_of(EdgeId slot) const {
    return in_edge.empty() ? slot : in_edge[static_cast<std::size_t>(slot)];
  }
};

}  // namespace pgexplainer
