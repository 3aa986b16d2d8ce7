#include "pgexplainer/report/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/report/svg.h"
#include "pgexplainer/report/text.h"

namespace pgexplainer {
namespace {

constexpr double kWidth = 540, kPlotHeight = 270, kRight = 24, kTickSize = 12, kTitleSize = 17;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check_numbers(std::string_view name, std::string_view what, std::span<const double> values,
                   std::size_t expected, bool may_be_empty) {
  if (values.size() != expected && !(may_be_empty && values.empty()))
    throw_bad_input("series '{}' has {} {}, expected {}", name, values.size(), what, expected);
  for (const double value : values)
    if (std::isinf(value))
      throw_bad_input("series '{}': one of its {} is infinite, expected a number or NaN", name,
                      what);
}

double error_of(const std::vector<double>& error, std::size_t i) {
  return error.empty() || std::isnan(error[i]) ? 0.0 : std::abs(error[i]);
}

struct Range {
  double low = kInfinity, high = -kInfinity;
  void include(double value) {
    if (std::isnan(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  [[nodiscard]] bool empty() const { return low > high; }
};

// The range given by the caller, or the data's; never empty.
Range settled(Range data, std::optional<double> low, std::optional<double> high) {
  if (data.empty()) data = {0, 1};
  if (low) data.low = *low;
  if (high) data.high = *high;
  if (!(data.low < data.high) && low && high)
    throw_bad_input("the axis goes from {} to {}, expected the first to be lower", *low, *high);
  if (!(data.low < data.high)) {
    const double room = std::max(std::abs(data.low) * 0.1, 1e-3);
    if (!low || high) data.low = data.high - room;
    if (!high) data.high = std::max(data.high, data.low) + room;
  }
  return data;
}

std::string number(double value, double step) {
  if (value == 0) return "0";
  const double size = std::max(std::abs(value), std::abs(step));
  if (size >= 1e6 || size < 1e-4) return fmt::format("{:.3g}", value);
  const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 6);
  return fmt::format("{:.{}f}", value, decimals);
}

// From data to paper.
struct Scale {
  double low, high, from, to;
  bool log = false;
  double operator()(double value) const {
    const double share = log ? (std::log(value) - std::log(low)) / (std::log(high) - std::log(low))
                             : (value - low) / (high - low);
    return from + share * (to - from);
  }
};

double draw_title(const std::string& title, SvgCanvas& canvas) {
  if (title.empty()) return 16;
  canvas.text(20, 24, title, {.size = kTitleSize, .bold = true});
  return 48;
}

using Shape = std::size_t;

void draw_marker(Shape shape, double x, double y, std::string_view color, SvgCanvas& canvas,
                 std::string_view tooltip = {}) {
  const std::string title =
      tooltip.empty() ? "" : fmt::format("<title>{}</title>", escape_xml(tooltip));
  constexpr std::array<std::array<std::array<double, 2>, 4>, 3> kCorners{{
      {{{-4.4, -4.4}, {4.4, -4.4}, {4.4, 4.4}, {-4.4, 4.4}}},  // square
      {{{0, -6.2}, {6.2, 0}, {0, 6.2}, {-6.2, 0}}},            // diamond
      {{{0, -5.6}, {0, -5.6}, {5.6, 4.4}, {-5.6, 4.4}}},       // triangle
  }};
  if (shape % 4 == 0) {
    canvas.add(R"(<circle cx="{:.2f}" cy="{:.2f}" r="5" fill="{}" stroke="#ffffff">{}</circle>)", x,
               y, color, title);
    return;
  }
  std::string points;
  for (const auto& corner : kCorners[shape % 4 - 1])
    points += fmt::format("{:.2f},{:.2f} ", x + corner[0], y + corner[1]);
  canvas.add(R"(<polygon points="{}" fill="{}" stroke="#ffffff">{}</polygon>)", points, color,
             title);
}

void draw_whisker(double x, double top, double bottom, std::string_view color, SvgCanvas& canvas) {
  canvas.line(x, top, x, bottom, color, 1.4);
  canvas.line(x - 4, top, x + 4, top, color, 1.4);
  canvas.line(x - 4, bottom, x + 4, bottom, color, 1.4);
}

// Colours of lines and bars must show on white; the yellow of the palette does not.
std::string series_color(std::size_t index) {
  constexpr std::array<std::size_t, 7> kOrder{4, 5, 2, 1, 6, 0, 7};
  return category_color(kOrder[index % kOrder.size()] + 8 * (index / kOrder.size() % 2));
}

// The names of the series in rows; mark(index, x, y) draws what stands before a name. Returns the y
// below.
template <class Mark>
double draw_legend(const std::vector<std::string>& names, double y, SvgCanvas& canvas,
                   Mark&& mark) {
  constexpr double kSize = 13, kRow = 20, kMark = 30, kLeft = 20;
  double x = kLeft;
  bool any = false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) continue;
    const double width = kMark + text_width(names[i], kSize) + 16;
    if (any && x + width > kWidth - 4) {
      x = kLeft;
      y += kRow;
    }
    mark(i, x, y);
    canvas.text(x + kMark, y, names[i], {.size = kSize});
    x += width;
    any = true;
  }
  return any ? y + 22 : y;
}

struct Frame {
  double left, right, top, bottom;
};

// Grid, numbers and title of the y axis. The left border follows the widest number.
Frame draw_y_axis(Range range, const std::string& title, double top, Scale& scale,
                  SvgCanvas& canvas) {
  std::vector<double> ticks = nice_ticks(range.low, range.high, 5);
  const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : 1.0;
  // Ticks outside a range that the caller fixed are not drawn.
  std::erase_if(ticks, [&](double tick) {
    return tick < range.low - 1e-9 * step || tick > range.high + 1e-9 * step;
  });
  double widest = 0;
  for (const double tick : ticks)
    widest = std::max(widest, text_width(number(tick, step), kTickSize));
  const Frame frame{20 + widest + (title.empty() ? 0.0 : 22.0) + 6, kWidth - kRight, top,
                    top + kPlotHeight};
  scale = {range.low, range.high, frame.bottom, frame.top};
  for (const double tick : ticks) {
    canvas.line(frame.left, scale(tick), frame.right, scale(tick), kGridColor, 1);
    canvas.text(frame.left - 8, scale(tick), number(tick, step),
                {.size = kTickSize, .anchor = Anchor::end, .color = kSoftInk});
  }
  if (!title.empty())
    canvas.text(22, (frame.top + frame.bottom) / 2, title,
                {.size = 13, .anchor = Anchor::middle, .rotate = -90});
  return frame;
}

// Names below the axis, turned if they would touch; returns the y below them.
double draw_names(const std::vector<std::string>& names, const std::vector<double>& x, double slot,
                  double y, SvgCanvas& canvas) {
  double widest = 0;
  for (const std::string& name : names) widest = std::max(widest, text_width(name, kTickSize));
  const bool turn = widest > slot - 6;
  for (std::size_t i = 0; i < names.size(); ++i)
    canvas.text(x[i], y + 14, names[i],
                {.size = kTickSize,
                 .anchor = turn ? Anchor::end : Anchor::middle,
                 .color = kSoftInk,
                 .rotate = turn ? -35.0 : 0.0});
  return y + (turn ? 22 + 0.58 * widest : 26);
}

// The ends of the axis are ticks, unless the caller fixed them.
Range widened_to_ticks(Range range, std::optional<double> low, std::optional<double> high) {
  const std::vector<double> ticks = nice_ticks(range.low, range.high, 5);
  if (!low) range.low = ticks.front();
  if (!high) range.high = ticks.back();
  return range;
}

std::vector<double> log_ticks(double low, double high) {
  std::vector<double> ticks;
  for (const double step : {1.0, 2.0, 5.0})
    for (int power = static_cast<int>(std::floor(std::log10(low)));
         power <= static_cast<int>(std::ceil(std::log10(high))); ++power)
      if ((step == 1 || high / low < 100) && step * std::pow(10, power) >= low * (1 - 1e-9) &&
          step * std::pow(10, power) <= high * (1 + 1e-9))
        ticks.push_back(step * std::pow(10, power));
  std::sort(ticks.begin(), ticks.end());
  return ticks;
}

void check(const LineChart& chart) {
  for (const LineSeries& series : chart.series) {
    const std::size_t n = series.y.size();
    check_numbers(series.name, "x values", series.x, n, !chart.categories.empty());
    check_numbers(series.name, "y values", series.y, n, false);
    check_numbers(series.name, "errors", series.error, n, true);
    for (const double x : series.x)
      if (std::isnan(x) || (chart.log_x && chart.categories.empty() && !(x > 0)))
        throw_bad_input("series '{}' has x = {}, expected a {}number", series.name, x,
                        chart.log_x ? "positive " : "");
    if (!chart.categories.empty() && series.x.empty() && n > chart.categories.size())
      throw_bad_input("series '{}' has {} values for {} categories", series.name, n,
                      chart.categories.size());
  }
}

// Viridis (van der Walt, Smith, 2015), from pale to dark: equal steps look equal, in print, too.
std::string heat_color(double share) {
  constexpr std::array<std::array<double, 3>, 6> kStops{
      {{253, 231, 37}, {122, 209, 81}, {34, 168, 132}, {42, 120, 142}, {65, 68, 135}, {68, 1, 84}}};
  const double position = std::clamp(share, 0.0, 1.0) * (kStops.size() - 1);
  const auto lower = std::min(static_cast<std::size_t>(position), kStops.size() - 2);
  const double part = position - static_cast<double>(lower);
  std::array<int, 3> rgb{};
  for (std::size_t i = 0; i < 3; ++i)
    rgb[i] =
        static_cast<int>(std::lround(kStops[lower][i] * (1 - part) + kStops[lower + 1][i] * part));
  return fmt::format("#{:02x}{:02x}{:02x}", rgb[0], rgb[1], rgb[2]);
}

void draw_missing_cell(double x, double y, double width, double height, SvgCanvas& canvas) {
  canvas.add(R"(<rect x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" fill="#f3f4f6"/>)", x, y,
             width, height);
  // Diagonals cut off at the cell; a pattern would need an id.
  for (double offset = 8; offset < width + height; offset += 8) {
    const double x1 = std::min(offset, width), y1 = offset - x1;
    const double y2 = std::min(offset, height), x2 = offset - y2;
    canvas.line(x + x1, y + y1, x + x2, y + y2, "#d5d9de", 1);
  }
  const double label = text_width("n/a", kTickSize) + 6;
  canvas.add(R"(<rect x="{:.2f}" y="{:.2f}" width="{:.2f}" height="16" fill="#f3f4f6"/>)",
             x + width / 2 - label / 2, y + height / 2 - 8, label);
  canvas.text(x + width / 2, y + height / 2, "n/a",
              {.size = kTickSize, .anchor = Anchor::middle, .color = kSoftInk});
}

}  // namespace

std::vector<double> nice_ticks(double low, double high, int count) {
  if (!std::isfinite(low) || !std::isfinite(high) || low > high || count < 1)
    throw_bad_input("ticks from {} to {}, expected finite numbers in order", low, high);
  if (low == high) {
    const double room = std::max(std::abs(low) * 0.1, 1e-3);
    low -= room;
    high += room;
  }
  const double rough = (high - low) / count;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0})
    if (factor * power >= rough * (1 - 1e-9)) step = factor * power;
  const double first = std::floor(low / step + 1e-9), last = std::ceil(high / step - 1e-9);
  std::vector<double> ticks;
  for (double k = first; k <= last; ++k) ticks.push_back(k * step);
  return ticks;
}

std::string line_chart(const LineChart& chart) {
  check(chart);
  const bool named = !chart.categories.empty();
  const auto x_of = [&](const LineSeries& series, std::size_t i) {
    return series.x.empty() ? static_cast<double>(i) : series.x[i];
  };
  Range x_range, y_range;
  for (const LineSeries& series : chart.series)
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      x_range.include(x_of(series, i));
      y_range.include(series.y[i] - error_of(series.error, i));
      y_range.include(series.y[i] + error_of(series.error, i));
    }
  y_range =
      widened_to_ticks(settled(y_range, chart.y_low, chart.y_high), chart.y_low, chart.y_high);

  SvgCanvas canvas;
  double y = draw_title(chart.title, canvas);
  std::vector<std::string> names;
  for (const LineSeries& series : chart.series) names.push_back(series.name);
  y = draw_legend(names, y, canvas, [&](std::size_t i, double x, double mark_y) {
    canvas.line(x, mark_y, x + 24, mark_y, series_color(i), 2.2);
    draw_marker(i, x + 12, mark_y, series_color(i), canvas);
  });
  Scale y_scale{};
  const Frame frame = draw_y_axis(y_range, chart.y_title, y + 4, y_scale, canvas);

  // The x axis: categories share it evenly, numbers keep a small border.
  Scale x_scale{};
  std::vector<std::string> tick_names = chart.categories;
  std::vector<double> tick_x;
  double slot = 0;
  if (named) {
    const auto n = static_cast<double>(chart.categories.size());
    x_scale = {-0.5, n - 0.5, frame.left, frame.right};
    for (std::size_t i = 0; i < chart.categories.size(); ++i)
      tick_x.push_back(x_scale(static_cast<double>(i)));
    slot = (frame.right - frame.left) / n;
  } else {
    if (x_range.empty()) x_range = chart.log_x ? Range{1, 10} : Range{0, 1};
    if (x_range.low == x_range.high)
      x_range = chart.log_x ? Range{x_range.low / 2, x_range.high * 2}
                            : Range{x_range.low - 1, x_range.high + 1};
    x_scale = {x_range.low, x_range.high, frame.left + 16, frame.right - 16, chart.log_x};
    std::vector<double> ticks = chart.log_x ? log_ticks(x_range.low, x_range.high)
                                            : nice_ticks(x_range.low, x_range.high, 7);
    const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : 1.0;
    std::erase_if(ticks, [&](double tick) {
      return x_scale(tick) < frame.left - 1e-6 || x_scale(tick) > frame.right + 1e-6;
    });
    for (const double tick : ticks) {
      tick_x.push_back(x_scale(tick));
      tick_names.push_back(chart.log_x ? fmt::format("{:g}", tick) : number(tick, step));
      canvas.line(x_scale(tick), frame.bottom, x_scale(tick), frame.bottom + 4, kSoftInk, 1);
    }
    slot =
        (frame.right - frame.left) / static_cast<double>(std::max<std::size_t>(tick_x.size(), 1));
  }
  canvas.line(frame.left, frame.bottom, frame.right, frame.bottom, kSoftInk, 1);

  // Markers at the same x are moved a little apart, so that every whisker can be seen.
  const auto shift = [&](std::size_t s) {
    return named ? 7 * (static_cast<double>(s) - static_cast<double>(chart.series.size() - 1) / 2)
                 : 0.0;
  };
  const auto inside = [&](double value) {
    return std::clamp(y_scale(value), frame.top, frame.bottom);
  };
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const LineSeries& series = chart.series[s];
    const std::string color = series_color(s);
    std::string path;
    bool pen_down = false;
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      if (std::isnan(series.y[i])) {
        pen_down = false;
        continue;
      }
      path += fmt::format("{}{:.2f} {:.2f}", pen_down ? 'L' : 'M',
                          x_scale(x_of(series, i)) + shift(s), inside(series.y[i]));
      pen_down = true;
    }
    if (!path.empty())
      canvas.add(
          R"(<path d="{}" fill="none" stroke="{}" stroke-width="2.2" stroke-linejoin="round"/>)",
          path, color);
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      if (std::isnan(series.y[i])) continue;
      const double x = x_scale(x_of(series, i)) + shift(s), error = error_of(series.error, i);
      if (error > 0)
        draw_whisker(x, inside(series.y[i] + error), inside(series.y[i] - error), color, canvas);
      draw_marker(s, x, inside(series.y[i]), color, canvas,
                  error > 0 ? fmt::format("{}: {:.4g} ± {:.2g}", series.name, series.y[i], error)
                            : fmt::format("{}: {:.4g}", series.name, series.y[i]));
    }
  }
  y = draw_names(tick_names, tick_x, slot, frame.bottom, canvas);
  if (!chart.x_title.empty()) {
    canvas.text((frame.left + frame.right) / 2, y + 10, chart.x_title,
                {.size = 13, .anchor = Anchor::middle});
    y += 24;
  }
  return canvas.finish(kWidth, y + 8, chart.title.empty() ? "line chart" : chart.title);
}

std::string bar_chart(const BarChart& chart) {
  const std::size_t num_groups = chart.groups.size();
  Range range;
  range.include(0);
  for (const BarSeries& series : chart.series) {
    check_numbers(series.name, "values", series.value, num_groups, false);
    check_numbers(series.name, "errors", series.error, num_groups, true);
    check_numbers(series.name, "reference values", series.reference, num_groups, true);
    for (std::size_t g = 0; g < num_groups; ++g) {
      range.include(series.value[g] - error_of(series.error, g));
      range.include(series.value[g] + error_of(series.error, g));
      if (!series.reference.empty()) range.include(series.reference[g]);
    }
  }
  range = widened_to_ticks(settled(range, chart.y_low, chart.y_high), chart.y_low, chart.y_high);

  SvgCanvas canvas;
  double y = draw_title(chart.title, canvas);
  std::vector<std::string> names;
  for (const BarSeries& series : chart.series) names.push_back(series.name);
  names.push_back(chart.reference_name);
  y = draw_legend(names, y, canvas, [&](std::size_t i, double x, double mark_y) {
    if (i == chart.series.size())
      canvas.line(x + 2, mark_y, x + 24, mark_y, kInk, 2.6);
    else
      canvas.add(R"(<rect x="{:.2f}" y="{:.2f}" width="16" height="12" rx="1.5" fill="{}"/>)",
                 x + 8, mark_y - 6, series_color(i));
  });
  Scale scale{};
  const Frame frame = draw_y_axis(range, chart.y_title, y + 4, scale, canvas);
  const auto inside = [&](double value) {
    return std::clamp(scale(value), frame.top, frame.bottom);
  };
  const double slot =
      (frame.right - frame.left) / static_cast<double>(std::max<std::size_t>(num_groups, 1));
  const double bar = std::min(
      0.78 * slot / static_cast<double>(std::max<std::size_t>(chart.series.size(), 1)), 46.0);
  std::vector<double> centre;
  for (std::size_t g = 0; g < num_groups; ++g)
    centre.push_back(frame.left + slot * (static_cast<double>(g) + 0.5));
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const BarSeries& series = chart.series[s];
    for (std::size_t g = 0; g < num_groups; ++g) {
      const double x =
          centre[g] + bar * (static_cast<double>(s) - static_cast<double>(chart.series.size()) / 2);
      const double value = series.value[g];
      const bool has_reference = !series.reference.empty() && !std::isnan(series.reference[g]);
      const double error = error_of(series.error, g);
      if (std::isnan(value)) {
        canvas.text(x + bar / 2, inside(0) - 6, "n/a",
                    {.size = 11, .color = kSoftInk, .rotate = -90});
      } else {
        std::string tooltip = fmt::format("{}, {}: {:.4g}", chart.groups[g], series.name, value);
        if (error > 0) tooltip += fmt::format(" ± {:.2g}", error);
        if (has_reference)
          tooltip += fmt::format(", {} {:.4g}",
                                 chart.reference_name.empty() ? "reference" : chart.reference_name,
                                 series.reference[g]);
        canvas.add(
            R"(<rect x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" fill="{}"><title>{}</title></rect>)",
            x + 1, std::min(inside(value), inside(0)), std::max(bar - 2, 1.0),
            std::abs(inside(value) - inside(0)), series_color(s), escape_xml(tooltip));
      }
      if (has_reference) {
        // A white border keeps the dash visible inside its bar.
        const double dash = inside(series.reference[g]);
        canvas.line(x, dash, x + bar, dash, "#ffffff", 4.6);
        canvas.line(x, dash, x + bar, dash, kInk, 2.4);
      }
      if (error > 0 && !std::isnan(value))
        draw_whisker(x + bar / 2, inside(value + error), inside(value - error), kInk, canvas);
    }
  }
  canvas.line(frame.left, inside(0), frame.right, inside(0), kSoftInk, 1);
  y = draw_names(chart.groups, centre, slot, frame.bottom, canvas);
  return canvas.finish(kWidth, y + 8, chart.title.empty() ? "bar chart" : chart.title);
}

std::string heat_map(const HeatMap& map) {
  const auto num_rows = static_cast<Index>(map.rows.size());
  const auto num_columns = static_cast<Index>(map.columns.size());
  if (map.value.rows() != num_rows || map.value.cols() != num_columns)
    throw_bad_input("the heat map has {} x {} values for {} rows and {} columns", map.value.rows(),
                    map.value.cols(), num_rows, num_columns);
  if (map.decimals < 0 || map.decimals > 9)
    throw_bad_input("the heat map prints {} decimals, expected 0 to 9", map.decimals);
  Range range;
  for (Index i = 0; i < map.value.size(); ++i) {
    if (std::isinf(map.value.data()[i]))
      throw_bad_input("the heat map has an infinite value, expected numbers or NaN");
    range.include(map.value.data()[i]);
  }
  range = settled(range, map.low, map.high);

  SvgCanvas canvas;
  const double top = draw_title(map.title, canvas) + (map.title.empty() ? 0 : -4);
  double label = 0;
  for (const std::string& row : map.rows) label = std::max(label, text_width(row, 13));
  constexpr double kBarWidth = 14, kCellGap = 2;
  const double left = 20 + (map.y_title.empty() ? 0 : 22) + label + 10;
  const double bar_labels = text_width(fmt::format("{:.{}f}", range.high, map.decimals), kTickSize);
  const double right = kWidth - 20 - bar_labels - 8 - kBarWidth - 18;
  const double width = (right - left) / static_cast<double>(std::max<Index>(num_columns, 1));
  const double height = std::clamp(width * 0.6, 24.0, 46.0);
  const double bottom = top + height * static_cast<double>(num_rows);
  for (Index r = 0; r < num_rows; ++r) {
    const double y = top + height * static_cast<double>(r);
    canvas.text(left - 10, y + height / 2, map.rows[at(r)], {.size = 13, .anchor = Anchor::end});
    for (Index c = 0; c < num_columns; ++c) {
      const double x = left + width * static_cast<double>(c);
      const double cell_width = std::max(width - kCellGap, 1.0), cell_height = height - kCellGap;
      const double value = map.value(r, c);
      if (std::isnan(value)) {
        draw_missing_cell(x, y, cell_width, cell_height, canvas);
        continue;
      }
      const std::string color = heat_color((value - range.low) / (range.high - range.low));
      const std::string text = fmt::format("{:.{}f}", value, map.decimals);
      canvas.add(
          R"(<rect x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" fill="{}"><title>{}</title></rect>)",
          x, y, cell_width, cell_height, color,
          escape_xml(fmt::format("{}, {}: {:.6g}", map.rows[at(r)], map.columns[at(c)], value)));
      const double size = std::min(13.0, 13.0 * (cell_width - 4) / text_width(text, 13));
      if (size >= 6)
        canvas.text(x + cell_width / 2, y + cell_height / 2, text,
                    {.size = size, .anchor = Anchor::middle, .color = ink_on(color)});
    }
  }
  // The colour bar, high at the top, in steps too small to be seen.
  constexpr int kSteps = 64;
  const double bar_height = std::max(bottom - top - kCellGap, 80.0);
  for (int step = 0; step < kSteps; ++step)
    canvas.add(R"(<rect x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" fill="{}"/>)",
               right + 18, top + bar_height * step / kSteps, kBarWidth, bar_height / kSteps + 0.5,
               heat_color(1 - (step + 0.5) / kSteps));
  for (const double share : {0.0, 0.5, 1.0})
    canvas.text(right + 18 + kBarWidth + 6, top + 6 + (bar_height - 12) * (1 - share),
                fmt::format("{:.{}f}", range.low + share * (range.high - range.low), map.decimals),
                {.size = kTickSize, .color = kSoftInk});

  std::vector<double> centre;
  for (Index c = 0; c < num_columns; ++c)
    centre.push_back(left + width * (static_cast<double>(c) + 0.5) - kCellGap / 2);
  double y = std::max(draw_names(map.columns, centre, width, bottom, canvas), top + bar_height);
  if (!map.x_title.empty()) {
    canvas.text((left + right) / 2, y + 10, map.x_title, {.size = 13, .anchor = Anchor::middle});
    y += 24;
  }
  if (!map.y_title.empty())
    canvas.text(22, (top + bottom) / 2, map.y_title,
                {.size = 13, .anchor = Anchor::middle, .rotate = -90});
  return canvas.finish(kWidth, y + 8, map.title.empty() ? "heat map" : map.title);
}

}  // namespace pgexplainer
