// BA-2motifs (the paper, section 5.1): many small Barabasi-Albert graphs, each with a house (class
// 0) or a five-node cycle (class 1) attached.
#pragma once

#include <cstdint>

#include "pgexplainer/core/option_fields.h"
#include "pgexplainer/datasets/dataset.h"

namespace pgexplainer {

struct Ba2motifsOptions {
  std::int64_t num_graphs = 1000;  // the text of the paper says 800, its table 1,000
  std::int64_t base_nodes = 20;
  std::int64_t edges_per_node = 1;
  double random_edge_fraction = 0.196;
  std::int64_t num_features = 10;
  double feature = 0.1;

  template <class Visitor>
  static void fields(Visitor&& field) {
    using O = Ba2motifsOptions;
    field("num_graphs", &O::num_graphs, Bounds{2, 4e8}, "graphs; the first half has houses");
    field("base_nodes", &O::base_nodes, Bounds{2, 2e9},
          "nodes of the Barabasi-Albert part of a graph");
    field("edges_per_node", &O::edges_per_node, Bounds{1, 1e6},
          "edges that each new node of it brings");
    field("random_edge_fraction", &O::random_edge_fraction, Bounds{0, 1},
          "fraction of the graphs that get one random edge");
    field("num_features", &O::num_features, Bounds{1, 1e6}, "columns of x");
    field("feature", &O::feature, Bounds{-1e6, 1e6}, "value of every feature");
  }
};

/// Nodes of a graph: the base, then the motif, linked by a random node of each; a random edge is
/// never inside the motif. Evaluated: the first fifth of the graphs of each class.
Dataset generate_ba_2motifs(const Ba2motifsOptions& options, std::uint64_t seed);

}  // namespace pgexplainer
