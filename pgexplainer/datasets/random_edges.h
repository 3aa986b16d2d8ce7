// Noise: edges between pairs of nodes that are not joined yet, all such pairs equally likely.
#pragma once

#include <span>

#include "pgexplainer/core/random.h"
#include "pgexplainer/datasets/undirected_edges.h"

namespace pgexplainer {

/// The nodes begin .. end-1.
struct NodeRange {
  NodeId begin;
  NodeId end;

  [[nodiscard]] std::int64_t size() const { return end - begin; }
  [[nodiscard]] bool contains(NodeId node) const { return node >= begin && node < end; }
  bool operator==(const NodeRange&) const = default;
};

/// `count` edges with one end in `from`, the other in `to`; the ranges are equal or disjoint.
struct RandomEdges {
  NodeRange from;
  NodeRange to;
  std::int64_t count;
};

/// Draws by rejection: linear time as long as the graph is sparse. No pair of nodes may belong to
/// two requests. Throws if fewer pairs are free than requested.
void add_random_edges(UndirectedEdges& edges, NodeId num_nodes,
                      std::span<const RandomEdges> requests, RandomStream random);

/// A share of a number of edges (or nodes), rounded down.
std::int64_t share_of(double fraction, std::int64_t count);

}  // namespace pgexplainer
