// A graph with an explanation on it: which nodes and edges, how important, which are selected,
// which are the ground truth. Drawn here as SVG; report/dot.h and report/graphml.h write it for
// other tools.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "pgexplainer/graph/adjacency.h"
#include "pgexplainer/report/graph_layout.h"

namespace pgexplainer {

struct PictureNode {
  std::int64_t id = -1;    ///< as the user knows it; -1 = its position in the list
  std::string label = {};  ///< drawn on the node, an atom letter for example
  int class_index = 0;     ///< chooses the colour
  bool is_target = false;  ///< what the explanation is about
};

/// Undirected; the ends are positions in the list of nodes.
struct PictureEdge {
  NodeId source = 0, target = 0;
  float score = std::numeric_limits<float>::quiet_NaN();  ///< 0 to 1; NaN = unknown
  bool selected = false;                                  ///< part of the explanation
  bool ground_truth = false;                              ///< part of the motif
};

struct LegendEntry {
  enum class Mark { node_class, target_node, selected_edge, other_edge, ground_truth_edge };
  Mark mark = Mark::node_class;
  std::string text = {};
  int class_index = 0;
};

struct GraphPicture {
  std::vector<PictureNode> nodes;
  std::vector<PictureEdge> edges;
  std::string title;
  std::string caption;
  std::vector<LegendEntry> legend;
  /// Unset: layout_graph. Several pictures of one graph should share theirs.
  std::optional<GraphLayout> layout;
};

/// Throws if an edge ends outside the nodes, a class is negative, or the layout is of another
/// graph.
std::string to_svg(const GraphPicture& picture);

/// The layout that to_svg uses if the picture has none.
GraphLayout layout_picture(const GraphPicture& picture);

/// As to_svg does first; for other writers.
void check_picture(const GraphPicture& picture);

/// The id that the user knows.
std::int64_t shown_id(const GraphPicture& picture, NodeId node);

}  // namespace pgexplainer
