// GraphML (http://graphml.graphdrawing.org), for Gephi, yEd, Cytoscape, networkx.
#pragma once

#include <string>

#include "pgexplainer/report/graph_picture.h"

namespace pgexplainer {

/// Nodes carry id, label, class and target; edges carry score (left out if unknown), selected and
/// ground_truth.
std::string to_graphml(const GraphPicture& picture);

}  // namespace pgexplainer
