// Where to draw the nodes of a graph: stress majorisation (Gansner, Koren, North, "Graph drawing by
// stress majorization", 2004), for large components with pivots (Ortmann, Klimenta, Brandes, "A
// sparse stress model", 2016); then nodes that are too close are pushed apart and the components
// are packed in rows.
#pragma once

#include <cstdint>
#include <span>

#include "pgexplainer/core/matrix.h"
#include "pgexplainer/core/option_fields.h"
#include "pgexplainer/graph/adjacency.h"

namespace pgexplainer {

struct LayoutOptions {
  double aspect = 1.0;
  std::int64_t num_exact = 400;
  std::int64_t num_pivots = 60;
  std::int64_t num_sweeps = 200;

  template <class Visitor>
  static void fields(Visitor&& field) {
    using O = LayoutOptions;
    field("aspect", &O::aspect, Bounds{0.01, 100}, "width of the box by its height, which is 1");
    field("num_exact", &O::num_exact, Bounds{1, 5000},
          "components up to this many nodes use the distances of all pairs");
    field("num_pivots", &O::num_pivots, Bounds{3, 5000},
          "nodes that stand for all others in larger components");
    field("num_sweeps", &O::num_sweeps, Bounds{0, 1e6}, "most passes over the nodes");
  }
};

struct GraphLayout {
  Matrix<float> position;     ///< num_nodes x 2, inside [0, aspect] x [0, 1]; y grows downwards
  float node_distance = 0.0;  ///< no two nodes are nearer than this; discs may be this wide
};

/// The same bits for the same input. Directions, self-loops and parallel edges do not matter.
/// Components lie side by side, the larger first; isolated nodes are in rows at the bottom. Throws
/// if the lists differ in length or an end is outside [0, num_nodes).
GraphLayout layout_graph(NodeId num_nodes, std::span<const NodeId> source,
                         std::span<const NodeId> target, const LayoutOptions& options = {});

/// Distance of the two nearest rows (infinity if there are fewer than two).
float smallest_distance(const Matrix<float>& position);

}  // namespace pgexplainer
