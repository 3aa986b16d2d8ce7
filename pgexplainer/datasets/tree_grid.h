// Tree-Grid (the paper, section 5.1): square grids attached to a balanced binary tree by a corner,
// plus random edges. A node's class tells whether it is in a grid.
#pragma once

#include <cstdint>

#include "pgexplainer/core/option_fields.h"
#include "pgexplainer/datasets/dataset.h"

namespace pgexplainer {

struct TreeGridOptions {
  std::int64_t tree_levels = 8;
  std::int64_t num_motifs = 80;
  std::int64_t grid_side = 3;
  double random_edge_fraction = 0.01;
  std::int64_t num_features = 10;

  template <class Visitor>
  static void fields(Visitor&& field) {
    using O = TreeGridOptions;
    field("tree_levels", &O::tree_levels, Bounds{0, 29}, "levels of the tree below its root");
    field("num_motifs", &O::num_motifs, Bounds{0, 1e9}, "grids");
    field("grid_side", &O::grid_side, Bounds{2, 1e3}, "nodes along a side of a grid");
    field("random_edge_fraction", &O::random_edge_fraction, Bounds{0, 1e6},
          "random edges, as a fraction of all others");
    field("num_features", &O::num_features, Bounds{1, 1e6}, "columns of x, all 1");
  }
};

/// Nodes: the tree level by level, then the grids row by row. Evaluated: all nodes of the first two
/// fifths of the grids, and one more (nodes 511 to 799 of the published graph).
Dataset generate_tree_grid(const TreeGridOptions& options, std::uint64_t seed);

}  // namespace pgexplainer
