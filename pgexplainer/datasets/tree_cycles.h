// Tree-Cycles (the paper, section 5.1): cycles attached to a balanced binary tree, plus random
// edges. A node's class tells whether it is in a cycle.
#pragma once

#include <cstdint>

#include "pgexplainer/core/option_fields.h"
#include "pgexplainer/datasets/dataset.h"

namespace pgexplainer {

struct TreeCyclesOptions {
  std::int64_t tree_levels = 8;
  std::int64_t num_motifs = 60;  // the text of the paper says 80; its published file has 60
  std::int64_t cycle_length = 6;
  double second_link_fraction = 8.0 / 15;
  double random_edge_fraction = 0.01;
  std::int64_t num_features = 10;

  template <class Visitor>
  static void fields(Visitor&& field) {
    using O = TreeCyclesOptions;
    field("tree_levels", &O::tree_levels, Bounds{0, 29}, "levels of the tree below its root");
    field("num_motifs", &O::num_motifs, Bounds{0, 1e9}, "cycles");
    field("cycle_length", &O::cycle_length, Bounds{3, 1e6}, "nodes of a cycle");
    field("second_link_fraction", &O::second_link_fraction, Bounds{0, 1},
          "fraction of the cycles that have a second edge to the tree");
    field("random_edge_fraction", &O::random_edge_fraction, Bounds{0, 1e6},
          "random edges, as a fraction of all others");
    field("num_features", &O::num_features, Bounds{1, 1e6}, "columns of x, all 1");
  }
};

/// Nodes: the tree level by level, then the cycles. Evaluated: the first node of every cycle.
Dataset generate_tree_cycles(const TreeCyclesOptions& options, std::uint64_t seed);

}  // namespace pgexplainer
