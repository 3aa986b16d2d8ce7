// The few SVG elements that the pictures and plots share, and their common look.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace pgexplainer {

/// Colour-blind safe (Okabe, Ito, "Color universal design", 2008); repeats, paler, after eight.
std::string category_color(std::size_t index);
/// Black or white, whichever is easier to read on the colour "#rrggbb".
std::string_view ink_on(std::string_view color);

inline constexpr std::string_view kInk = "#1f2328";
inline constexpr std::string_view kSoftInk = "#57606a";
inline constexpr std::string_view kGridColor = "#e4e7eb";

enum class Anchor { start, middle, end };

struct TextStyle {
  double size = 13;
  Anchor anchor = Anchor::start;
  std::string_view color = kInk;
  bool bold = false;
  double rotate = 0;  ///< degrees around the anchor
};

/// Collects elements and wraps them in an <svg> with a white background. No element has an id, so
/// many pictures can share one page.
class SvgCanvas {
 public:
  /// Raw markup; the caller escapes.
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(body_), format, std::forward<Args>(args)...);
    body_ += '\n';
  }
  void line(double x1, double y1, double x2, double y2, std::string_view color, double width);
  /// y is the middle of the letters.
  void text(double x, double y, std::string_view text, const TextStyle& style = {});
  /// `name` is read aloud in place of the picture.
  [[nodiscard]] std::string finish(double width, double height, std::string_view name) const;

 private:
  std::string body_;
};

/// Roughly, in the fonts of SvgCanvas::text.
double text_width(std::string_view text, double size);

}  // namespace pgexplainer
