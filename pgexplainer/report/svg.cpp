#include "pgexplainer/report/svg.h"

#include <array>
#include <charconv>

#include "pgexplainer/report/text.h"

namespace pgexplainer {
namespace {

using Rgb = std::array<int, 3>;

Rgb parse_color(std::string_view color) {
  Rgb rgb{};
  for (std::size_t i = 0; i < 3; ++i)
    std::from_chars(color.data() + 1 + 2 * i, color.data() + 3 + 2 * i, rgb[i], 16);
  return rgb;
}

}  // namespace

std::string category_color(std::size_t index) {
  // Black is left to edges; grey takes its place.
  constexpr std::array<std::string_view, 8> kColors{"#56b4e9", "#e69f00", "#009e73", "#f0e442",
                                                    "#0072b2", "#d55e00", "#cc79a7", "#a6a6a6"};
  Rgb rgb = parse_color(kColors[index % kColors.size()]);
  if ((index / kColors.size()) % 2 == 1)
    for (int& part : rgb) part = (part + 255) / 2;
  return fmt::format("#{:02x}{:02x}{:02x}", rgb[0], rgb[1], rgb[2]);
}

std::string_view ink_on(std::string_view color) {
  const Rgb rgb = parse_color(color);
  return 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2] > 125 ? "#000000" : "#ffffff";
}

void SvgCanvas::line(double x1, double y1, double x2, double y2, std::string_view color,
                     double width) {
  add(R"(<line x1="{:.2f}" y1="{:.2f}" x2="{:.2f}" y2="{:.2f}" stroke="{}" stroke-width="{:.2f}"/>)",
      x1, y1, x2, y2, color, width);
}

void SvgCanvas::text(double x, double y, std::string_view text, const TextStyle& style) {
  constexpr std::array<std::string_view, 3> kAnchors{"start", "middle", "end"};
  const std::string turn =
      style.rotate == 0
          ? ""
          : fmt::format(" transform=\"rotate({:.1f} {:.2f} {:.2f})\"", style.rotate, x, y);
  // 0.35 em below the middle is the base line; dominant-baseline is not drawn alike
  // everywhere.
  add(R"(<text x="{:.2f}" y="{:.2f}" font-size="{:.1f}" text-anchor="{}" fill="{}"{}{}>{}</text>)",
      x, y + 0.35 * style.size, style.size, kAnchors[static_cast<std::size_t>(style.anchor)],
      style.color, style.bold ? R"( font-weight="600")" : "", turn, escape_xml(text));
}

std::string SvgCanvas::finish(double width, double height, std::string_view name) const {
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" height="{1:.0f}" role="img" aria-label="{2}" font-family="Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif">
<rect width="{0:.0f}" height="{1:.0f}" fill="#ffffff"/>
{3}</svg>
)",
      width, height, escape_xml(name), body_);
}

double text_width(std::string_view text, double size) {
  return 0.56 * size * static_cast<double>(terminal_width(text));
}

}  // namespace pgexplainer
