// BA-Community (the paper, section 5.1): two BA-Shapes graphs joined by random edges. A node's
// class is its place and its community; its features are Gaussian, around a mean of its community.
#pragma once

#include "pgexplainer/datasets/ba_shapes.h"

namespace pgexplainer {

struct BaCommunityOptions {
  std::int64_t base_nodes = 300;
  std::int64_t edges_per_node = 5;
  std::int64_t num_motifs = 80;
  double random_edge_fraction = 0.01;
  double joining_edges_per_node = 0.25;
  std::int64_t num_features = 10;
  std::int64_t informative_features = 2;
  double mean = 1;
  double variance = 0.5;

  template <class Visitor>
  static void fields(Visitor&& field) {
    using O = BaCommunityOptions;
    field("base_nodes", &O::base_nodes, Bounds{2, 1e9},
          "nodes of the Barabasi-Albert graph of each community");
    field("edges_per_node", &O::edges_per_node, Bounds{1, 1e6},
          "edges that each new node of it brings");
    field("num_motifs", &O::num_motifs, Bounds{0, 2e8}, "houses of five nodes in each community");
    field("random_edge_fraction", &O::random_edge_fraction, Bounds{0, 1e6},
          "random edges inside a community, as a fraction of its others");
    field("joining_edges_per_node", &O::joining_edges_per_node, Bounds{0, 1e6},
          "random edges between the communities, per node of both");
    field("num_features", &O::num_features, Bounds{1, 1e6}, "columns of x");
    field("informative_features", &O::informative_features, Bounds{0, 1e6},
          "first columns of x, whose mean tells the community; the others are standard normal");
    field("mean", &O::mean, Bounds{-1e6, 1e6},
          "mean of the informative features in community 1; community 0 has its negative");
    field("variance", &O::variance, Bounds{0, 1e6}, "variance of the informative features");
  }
};

/// Nodes: community 0 (base graph, houses), then community 1; labels 0-3 and 4-7. Evaluated: as in
/// BA-Shapes, in community 0 alone, as published.
Dataset generate_ba_community(const BaCommunityOptions& options, std::uint64_t seed);

}  // namespace pgexplainer
