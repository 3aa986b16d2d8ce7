#include "pgexplainer/report/graphml.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "pgexplainer/report/text.h"

namespace pgexplainer {

std::string to_graphml(const GraphPicture& picture) {
  check_picture(picture);
  // The schema wants: desc, then every key, then the graph.
  std::string xml = R"(<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
)";
  const auto out = std::back_inserter(xml);
  if (!picture.title.empty()) fmt::format_to(out, "<desc>{}</desc>\n", escape_xml(picture.title));
  xml += R"(<key id="node_id" for="node" attr.name="node_id" attr.type="long"/>
<key id="label" for="node" attr.name="label" attr.type="string"/>
<key id="class" for="node" attr.name="class" attr.type="int"/>
<key id="target" for="node" attr.name="target" attr.type="boolean"/>
<key id="score" for="edge" attr.name="score" attr.type="float"/>
<key id="selected" for="edge" attr.name="selected" attr.type="boolean"/>
<key id="ground_truth" for="edge" attr.name="ground_truth" attr.type="boolean"/>
<graph id="explanation" edgedefault="undirected">
)";
  for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
    const PictureNode& node = picture.nodes[i];
    fmt::format_to(out,
                   R"(<node id="n{}"><data key="node_id">{}</data><data key="label">{}</data>)"
                   R"(<data key="class">{}</data><data key="target">{}</data></node>)"
                   "\n",
                   i, shown_id(picture, static_cast<NodeId>(i)), escape_xml(node.label),
                   node.class_index, node.is_target);
  }
  for (std::size_t e = 0; e < picture.edges.size(); ++e) {
    const PictureEdge& edge = picture.edges[e];
    fmt::format_to(out, R"(<edge id="e{}" source="n{}" target="n{}">)", e, edge.source,
                   edge.target);
    if (std::isfinite(edge.score))
      fmt::format_to(out, R"(<data key="score">{}</data>)", edge.score);
    fmt::format_to(out,
                   R"(<data key="selected">{}</data><data key="ground_truth">{}</data></edge>)"
                   "\n",
                   edge.selected, edge.ground_truth);
  }
  return xml += "</graph>\n</graphml>\n";
}

}  // namespace pgexplainer
