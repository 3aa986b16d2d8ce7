#include "pgexplainer/report/dot.h"

#include <cmath>
#include <string_view>

#include "pgexplainer/core/index.h"
#include "pgexplainer/report/svg.h"
#include "pgexplainer/report/text.h"

namespace pgexplainer {
namespace {

// A backslash starts an escape such as \N, so it is doubled; a line break becomes one of DOT's own.
std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for_code_points(text, [&](char32_t code, std::string_view bytes) {
    if (code == U'"' || code == U'\\')
      (result += '\\') += bytes;
    else if (code == U'\n')
      result += "\\n";
    else if (code == U'\uFFFD' || code < 0x20)
      result += "\xEF\xBF\xBD";
    else
      result += bytes;
  });
  return result += '"';
}

}  // namespace

std::string to_dot(const GraphPicture& picture) {
  check_picture(picture);
  std::string dot = "graph explanation {\n";
  const auto out = std::back_inserter(dot);
  if (!picture.title.empty())
    fmt::format_to(out, "  label={};\n  labelloc=t;\n", in_quotes(picture.title));
  dot += "  node [shape=circle, style=filled];\n";
  for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
    const PictureNode& node = picture.nodes[i];
    const std::string id = fmt::format("{}", shown_id(picture, static_cast<NodeId>(i)));
    const std::string color = category_color(at(node.class_index));
    fmt::format_to(out,
                   "  n{} [id={}, label={}, class={}, fillcolor=\"{}\", fontcolor=\"{}\"{}];\n", i,
                   in_quotes(id), in_quotes(node.label.empty() ? id : node.label),
                   in_quotes(fmt::format("{}", node.class_index)), color, ink_on(color),
                   node.is_target ? ", target=true, peripheries=2" : "");
  }
  for (const PictureEdge& edge : picture.edges) {
    fmt::format_to(out, "  n{} -- n{} [selected={}, ground_truth={}", edge.source, edge.target,
                   edge.selected, edge.ground_truth);
    if (std::isfinite(edge.score))
      fmt::format_to(out, ", score={}", in_quotes(fmt::format("{}", edge.score)));
    dot += edge.selected ? ", color=black, penwidth=3];\n" : ", color=gray75];\n";
  }
  return dot += "}\n";
}

}  // namespace pgexplainer
