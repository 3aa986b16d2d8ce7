#include "pgexplainer/report/graph_picture.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/report/svg.h"
#include "pgexplainer/report/text.h"

namespace pgexplainer {
namespace {

constexpr double kWidth = 520, kAspect = 1.25, kMargin = 24, kMinHeight = 130;
constexpr double kManyNodes = 300;
constexpr std::string_view kHaloColor = "#ffc9a3";
constexpr std::string_view kTargetColor = "#d1006c";
constexpr std::string_view kSelectedColor = "#000000";

// How large everything is, from the room the layout leaves. In a crowd the discs shrink further, so
// that the edges stay visible.
struct Sizes {
  double radius, letter, selected, other, halo;
};

Sizes sizes_for(double node_distance, const GraphPicture& picture) {
  const double n = std::max(static_cast<double>(picture.nodes.size()), 1.0);
  const auto m = static_cast<double>(picture.edges.size());
  const double share = n > kManyNodes ? 0.36 : 0.44 - 0.12 * std::clamp((m / n - 1) / 3, 0.0, 1.0);
  const double radius = std::clamp(share * node_distance, 1.2, n > kManyNodes ? 4.5 : 13.0);
  return {radius, 1.25 * radius, std::clamp(0.36 * radius, n > kManyNodes ? 1.2 : 1.8, 3.8),
          std::clamp(0.14 * radius, 0.5, 1.6) * (m > 500 ? 0.8 : 1.0),
          std::clamp(1.15 * radius, n > kManyNodes ? 3.0 : 5.0, 14.0)};
}

struct Place {
  double x, y;
};

std::string edge_path(const PictureEdge& edge, const std::vector<Place>& place, double radius) {
  const Place a = place[at(edge.source)], b = place[at(edge.target)];
  if (edge.source != edge.target)
    return fmt::format("M{:.2f} {:.2f}L{:.2f} {:.2f}", a.x, a.y, b.x, b.y);
  // A loop above the node.
  const double w = 1.3 * radius + 3, h = 2.6 * radius + 6;
  return fmt::format("M{:.2f} {:.2f}C{:.2f} {:.2f} {:.2f} {:.2f} {:.2f} {:.2f}", a.x, a.y, a.x - w,
                     a.y - h, a.x + w, a.y - h, a.x, a.y);
}

std::string edge_tooltip(const GraphPicture& picture, const PictureEdge& edge) {
  std::string text =
      fmt::format("edge {} – {}", shown_id(picture, edge.source), shown_id(picture, edge.target));
  if (std::isfinite(edge.score)) text += fmt::format(", score {:.4g}", edge.score);
  if (edge.selected) text += ", selected";
  if (edge.ground_truth) text += ", ground truth";
  return text;
}

void draw_edges(const GraphPicture& picture, const std::vector<Place>& place, const Sizes& sizes,
                SvgCanvas& canvas) {
  std::vector<std::size_t> order(picture.edges.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto score = [&](std::size_t e) {
    const float value = picture.edges[e].score;
    return std::isfinite(value) ? std::clamp(value, 0.0F, 1.0F) : 0.0F;
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const bool first = picture.edges[a].selected, second = picture.edges[b].selected;
    return first != second ? second : score(a) < score(b);
  });
  canvas.add(R"(<g fill="none" stroke="{}" stroke-width="{:.2f}" stroke-linecap="round">)",
             kHaloColor, sizes.halo);
  for (const PictureEdge& edge : picture.edges)
    if (edge.ground_truth) canvas.add(R"(<path d="{}"/>)", edge_path(edge, place, sizes.radius));
  canvas.add("</g>");
  canvas.add(R"(<g fill="none" stroke-linecap="round">)");
  for (const std::size_t e : order) {
    const PictureEdge& edge = picture.edges[e];
    // Grey from pale to middle, so that the runners-up are seen but never taken for selected.
    const int grey = static_cast<int>(214 - 70 * score(e));
    const std::string color =
        edge.selected ? std::string(kSelectedColor) : fmt::format("#{0:02x}{0:02x}{0:02x}", grey);
    const double width = edge.selected ? sizes.selected : sizes.other * (0.9 + 0.6 * score(e));
    canvas.add(R"(<path d="{}" stroke="{}" stroke-width="{:.2f}"><title>{}</title></path>)",
               edge_path(edge, place, sizes.radius), color, width,
               escape_xml(edge_tooltip(picture, edge)));
  }
  canvas.add("</g>");
}

void draw_target(double x, double y, double radius, SvgCanvas& canvas) {
  canvas.add(
      R"(<circle cx="{:.2f}" cy="{:.2f}" r="{:.2f}" fill="#ffffff" stroke="{}" stroke-width="{:.2f}"/>)",
      x, y, radius, kTargetColor, std::clamp(0.2 * radius, 1.6, 3.0));
}

void draw_nodes(const GraphPicture& picture, const std::vector<Place>& place, const Sizes& sizes,
                SvgCanvas& canvas) {
  const bool letters = double(picture.nodes.size()) <= kManyNodes && sizes.letter >= 4;
  const auto draw = [&](std::size_t i) {
    const PictureNode& node = picture.nodes[i];
    const Place p = place[i];
    const std::string color = category_color(at(node.class_index));
    const double radius = node.is_target ? std::max(1.15 * sizes.radius, 4.0) : sizes.radius;
    canvas.add("<g>");
    if (node.is_target) draw_target(p.x, p.y, std::max(1.6 * sizes.radius, 7.0), canvas);
    canvas.add(
        R"(<circle cx="{:.2f}" cy="{:.2f}" r="{:.2f}" fill="{}" stroke="#ffffff" stroke-width="{:.2f}"/>)",
        p.x, p.y, radius, color, std::clamp(0.1 * sizes.radius, 0.3, 1.0));
    if (letters && !node.label.empty()) {
      // Long labels shrink to fit the disc.
      const double size =
          std::min(sizes.letter, 1.8 * radius / std::max(text_width(node.label, 1), 0.1));
      canvas.text(p.x, p.y, node.label,
                  {.size = size, .anchor = Anchor::middle, .color = ink_on(color), .bold = true});
    }
    const std::string name = node.label.empty() ? "" : fmt::format(" ({})", node.label);
    canvas.add(
        "<title>{}</title></g>",
        escape_xml(fmt::format("node {}{}, class {}{}", shown_id(picture, static_cast<NodeId>(i)),
                               name, node.class_index, node.is_target ? ", target" : "")));
  };
  for (std::size_t i = 0; i < picture.nodes.size(); ++i)
    if (!picture.nodes[i].is_target) draw(i);
  for (std::size_t i = 0; i < picture.nodes.size(); ++i)
    if (picture.nodes[i].is_target) draw(i);
}

void draw_legend_mark(const LegendEntry& entry, double x, double y, SvgCanvas& canvas) {
  using Mark = LegendEntry::Mark;
  switch (entry.mark) {
    case Mark::node_class:
      canvas.add(R"(<circle cx="{:.2f}" cy="{:.2f}" r="6" fill="{}"/>)", x + 11, y,
                 category_color(at(entry.class_index)));
      break;
    case Mark::target_node:
      draw_target(x + 11, y, 7, canvas);
      break;
    case Mark::selected_edge:
      canvas.line(x, y, x + 22, y, kSelectedColor, 3);
      break;
    case Mark::other_edge:
      canvas.line(x, y, x + 22, y, "#b8b8b8", 1.2);
      break;
    case Mark::ground_truth_edge:
      canvas.line(x, y, x + 22, y, kHaloColor, 9);
      break;
  }
}

// Entries from left to right, in as many rows as they need; returns the y below them.
double draw_legend(const std::vector<LegendEntry>& legend, double y, SvgCanvas& canvas) {
  if (legend.empty()) return y;
  constexpr double kSize = 13, kRow = 22, kMark = 28;
  double x = kMargin;
  y += kRow / 2;
  for (const LegendEntry& entry : legend) {
    const double width = kMark + text_width(entry.text, kSize) + 18;
    if (x > kMargin && x + width > kWidth - kMargin + 18) {
      x = kMargin;
      y += kRow;
    }
    draw_legend_mark(entry, x, y, canvas);
    canvas.text(x + kMark, y, entry.text, {.size = kSize, .color = kSoftInk});
    x += width;
  }
  return y + kRow / 2;
}

// Cuts at spaces so that no line is wider than the picture.
std::vector<std::string> wrapped(std::string_view text, double size) {
  std::vector<std::string> lines{""};
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string word(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    std::string& line = lines.back();
    const std::string longer = line.empty() ? word : fmt::format("{} {}", line, word);
    if (!line.empty() && text_width(longer, size) > kWidth - 2 * kMargin)
      lines.push_back(word);
    else
      line = longer;
  }
  return lines;
}

}  // namespace

void check_picture(const GraphPicture& picture) {
  const auto num_nodes = static_cast<NodeId>(picture.nodes.size());
  for (std::size_t e = 0; e < picture.edges.size(); ++e)
    for (const NodeId end : {picture.edges[e].source, picture.edges[e].target})
      if (end < 0 || end >= num_nodes)
        throw_bad_input("edge {} of the picture ends at node {}, expected 0 to {}", e, end,
                        num_nodes - 1);
  for (std::size_t i = 0; i < picture.nodes.size(); ++i)
    if (picture.nodes[i].class_index < 0)
      throw_bad_input("node {} of the picture has class {}, expected 0 or more", i,
                      picture.nodes[i].class_index);
  for (const LegendEntry& entry : picture.legend)
    if (entry.class_index < 0)
      throw_bad_input("legend entry '{}' has class {}, expected 0 or more", entry.text,
                      entry.class_index);
  if (!picture.layout) return;
  const Matrix<float>& position = picture.layout->position;
  if (position.rows() != num_nodes || (num_nodes > 0 && position.cols() != 2))
    throw_bad_input("the layout of the picture is {} x {}, expected {} x 2", position.rows(),
                    position.cols(), num_nodes);
  for (Index i = 0; i < position.size(); ++i)
    if (!std::isfinite(position.data()[i]))
      throw_bad_input("the layout of the picture has a position that is not a finite number");
}

std::int64_t shown_id(const GraphPicture& picture, NodeId node) {
  const std::int64_t id = picture.nodes[at(node)].id;
  return id < 0 ? node : id;
}

GraphLayout layout_picture(const GraphPicture& picture) {
  std::vector<NodeId> source, target;
  for (const PictureEdge& edge : picture.edges) {
    source.push_back(edge.source);
    target.push_back(edge.target);
  }
  LayoutOptions options;
  options.aspect = kAspect;
  return layout_graph(static_cast<NodeId>(picture.nodes.size()), source, target, options);
}

std::string to_svg(const GraphPicture& picture) {
  check_picture(picture);
  const GraphLayout layout = picture.layout ? *picture.layout : layout_picture(picture);
  const Index n = layout.position.rows();

  // Small graphs keep small edges; the paper is cut to what the graph needs.
  constexpr double kMostNodeDistance = 42;
  double left = 0, right = 0, top = 0, bottom = 0;
  if (n > 0) {
    left = layout.position.col(0).minCoeff();
    right = layout.position.col(0).maxCoeff();
    top = layout.position.col(1).minCoeff();
    bottom = layout.position.col(1).maxCoeff();
  }
  const double room = kWidth - 2 * kMargin;
  double scale = std::min(room / std::max(right - left, 1e-6),
                          room / kAspect * 1.15 / std::max(bottom - top, 1e-6));
  if (layout.node_distance > 0) scale = std::min(scale, kMostNodeDistance / layout.node_distance);
  const bool loops =
      std::any_of(picture.edges.begin(), picture.edges.end(),
                  [](const PictureEdge& edge) { return edge.source == edge.target; });
  const double height = std::max(kMinHeight, (bottom - top) * scale + 2 * kMargin);

  SvgCanvas canvas;
  double y = 0;
  if (!picture.title.empty()) {
    y = 14;
    for (const std::string& line : wrapped(picture.title, 17)) {
      canvas.text(kMargin, y + 10, line, {.size = 17, .bold = true});
      y += 22;
    }
  }
  if (loops) y += 18;  // they stand above their nodes
  std::vector<Place> place;
  for (Index i = 0; i < n; ++i)
    place.push_back({kWidth / 2 + (layout.position(i, 0) - (left + right) / 2) * scale,
                     y + height / 2 + (layout.position(i, 1) - (top + bottom) / 2) * scale});
  const Sizes sizes = sizes_for(scale * layout.node_distance, picture);
  draw_edges(picture, place, sizes, canvas);
  draw_nodes(picture, place, sizes, canvas);
  y = draw_legend(picture.legend, y + height, canvas);
  if (!picture.caption.empty()) {
    y += 6;
    for (const std::string& line : wrapped(picture.caption, 13)) {
      canvas.text(kMargin, y + 8, line, {.size = 13, .color = kSoftInk});
      y += 18;
    }
  }
  if (!picture.caption.empty() || !picture.legend.empty()) y += 12;
  return canvas.finish(kWidth, y, picture.title.empty() ? "graph" : picture.title);
}

}  // namespace pgexplainer
