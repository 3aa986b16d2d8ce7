// Graphviz DOT.
#pragma once

#include <string>

#include "pgexplainer/report/graph_picture.h"

namespace pgexplainer {

/// An undirected graph whose nodes are n0, n1, ...; class, score, selected and ground_truth are
/// attributes, and selected edges are drawn bold.
std::string to_dot(const GraphPicture& picture);

}  // namespace pgexplainer
