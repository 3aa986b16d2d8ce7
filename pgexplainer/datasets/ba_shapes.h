// BA-Shapes (the paper, section 5.1): houses attached to a Barabasi-Albert graph, plus random
// edges. A node's class is its place: base graph or one of three places in a house.
#pragma once

#include <cstdint>
#include <string>

#include "pgexplainer/core/option_fields.h"
#include "pgexplainer/datasets/dataset.h"

namespace pgexplainer {

struct BaShapesOptions {
  std::string base = "barabasi-albert";
  std::int64_t base_nodes = 300;
  std::int64_t edges_per_node = 5;
  std::int64_t num_motifs = 80;
  double random_edge_fraction = 0.01;
  std::int64_t num_features = 10;

  template <class Visitor>
  static void fields(Visitor&& field) {
    using O = BaShapesOptions;
    field("base", &O::base, Bounds{},
          "base graph: barabasi-albert, which has hubs, or ring, where all nodes have one degree");
    field("base_nodes", &O::base_nodes, Bounds{2, 2e9}, "nodes of the base graph");
    field("edges_per_node", &O::edges_per_node, Bounds{1, 1e6},
          "edges that each node of it brings");
    field("num_motifs", &O::num_motifs, Bounds{0, 4e8}, "houses of five nodes");
    field("random_edge_fraction", &O::random_edge_fraction, Bounds{0, 1e6},
          "random edges, as a fraction of all others");
    field("num_features", &O::num_features, Bounds{1, 1e6}, "columns of x, all 1");
  }
};

/// The paper's base graph is Barabasi-Albert; a ring lattice of the same size has computation
/// graphs of bounded size instead. Nodes: the base graph, then the houses. Evaluated: the first
/// node of each house but the first quarter of them (nodes 400, 405, ..., 695 of the published
/// graph).
Dataset generate_ba_shapes(const BaShapesOptions& options, std::uint64_t seed);

}  // namespace pgexplainer
