// Barabasi-Albert graphs (Science 286, 1999): every new node joins m older ones, chosen in
// proportion to their degree.
#pragma once

#include "pgexplainer/core/random.h"
#include "pgexplainer/datasets/undirected_edges.h"

namespace pgexplainer {

/// Adds a graph on the nodes first_node .. first_node+num_nodes-1 with (num_nodes - m) * m edges:
/// node m joins all of 0 .. m-1, each later node m distinct older ones. Linear time. Throws unless
/// 1 <= m < num_nodes.
void add_barabasi_albert(UndirectedEdges& edges, NodeId first_node, NodeId num_nodes,
                         std::int64_t m, RandomStream random);

}  // namespace pgexplainer
