// The complete binary tree, numbered level by level.
#pragma once

#include "pgexplainer/datasets/undirected_edges.h"

namespace pgexplainer {

/// The nodes of a tree with `levels` levels below its root.
constexpr std::int64_t balanced_tree_nodes(std::int64_t levels) {
  return (std::int64_t{1} << (levels + 1)) - 1;
}

/// Adds a tree on the nodes 0 .. num_nodes-1; node i hangs below node (i - 1) / 2.
inline void add_balanced_tree(UndirectedEdges& edges, NodeId num_nodes) {
  for (NodeId node = 1; node < num_nodes; ++node) edges.add((node - 1) / 2, node);
}

}  // namespace pgexplainer
