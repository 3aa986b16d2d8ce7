// Is an explanation one piece? Directions are ignored: two selected edges belong together if they
// share a node, directly or through other selected edges.
//
//   largest share = selected edges in the largest component / selected edges
#pragma once

#include <cstdint>
#include <span>

#include "pgexplainer/graph/adjacency.h"

namespace pgexplainer {

struct Connectedness {
  double largest_share;         ///< in (0, 1], 1 = connected; NaN if nothing is selected
  std::int64_t num_components;  ///< nodes without a selected edge are no component
};

/// selected[e] != 0 marks the edges of the explanation, by edge id; parallel edges and both
/// directions of an edge count one each. Throws if selected does not cover the graph.
Connectedness connectedness(const Adjacency& graph, std::span<const std::uint8_t> selected);

}  // namespace pgexplainer
