// Line charts, bar charts and heat maps as SVG, all with the same look. NaN means "no value": a gap
// in a line, a missing bar, a hatched cell that says n/a.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pgexplainer/core/matrix.h"

namespace pgexplainer {

struct LineSeries {
  std::string name;
  std::vector<double> x;      ///< as long as y; with categories 0, 1, ... and may be empty
  std::vector<double> y;      ///< means
  std::vector<double> error;  ///< standard deviations, drawn as y +- error; may be empty
};

struct LineChart {
  std::string title, x_title, y_title;
  std::vector<LineSeries> series;
  std::vector<std::string> categories;  ///< names of x = 0, 1, ...; empty = x is a number
  bool log_x = false;                   ///< numbers only, all x > 0
  std::optional<double> y_low, y_high;  ///< unset: from the data
};

struct BarSeries {
  std::string name;
  std::vector<double> value;      ///< one per group
  std::vector<double> error;      ///< standard deviations; may be empty
  std::vector<double> reference;  ///< drawn as a dash, a published value for example; may be empty
};

struct BarChart {
  std::string title, y_title;
  std::vector<std::string> groups;
  std::vector<BarSeries> series;
  std::string reference_name;  ///< what a dash means, for the legend
  std::optional<double> y_low, y_high;
};

struct HeatMap {
  std::string title, x_title, y_title;
  std::vector<std::string> rows, columns;
  Matrix<double> value;             ///< rows x columns
  std::optional<double> low, high;  ///< ends of the colour scale; unset: from the data
  int decimals = 2;                 ///< of the numbers in the cells
};

/// Throw, naming the series, if lengths differ or a number is infinite.
std::string line_chart(const LineChart& chart);
std::string bar_chart(const BarChart& chart);
std::string heat_map(const HeatMap& map);

/// Round numbers (1, 2 or 5 times a power of ten apart), about `count`, from at most `low` to at
/// least `high`.
std::vector<double> nice_ticks(double low, double high, int count);

}  // namespace pgexplainer
