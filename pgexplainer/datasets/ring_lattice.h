// The ring lattice that small-world graphs start from (Watts and Strogatz, Nature 393, 1998): nodes
// in a ring, each joined to its nearest ones. Every node has the same degree.
#pragma once

#include "pgexplainer/core/error.h"
#include "pgexplainer/datasets/undirected_edges.h"

namespace pgexplainer {

/// Adds a lattice on the nodes 0 .. num_nodes-1; each joins the m after it and the m before it.
/// Throws unless 1 <= m and 2 m < num_nodes.
inline void add_ring_lattice(UndirectedEdges& edges, NodeId num_nodes, std::int64_t m) {
  if (m < 1 || 2 * m >= num_nodes)
    throw_bad_input("a ring of {} nodes cannot join every node to {} on either side", num_nodes, m);
  for (std::int64_t node = 0; node < num_nodes; ++node)
    for (std::int64_t step = 1; step <= m; ++step)
      edges.add(static_cast<NodeId>(node), static_cast<NodeId>((node + step) % num_nodes));
}

}  // namespace pgexplainer
