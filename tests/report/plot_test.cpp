#include "pgexplainer/report/plot.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "pgexplainer/core/error.h"
#include "tests/support/xml_check.h"

namespace pgexplainer {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr const char* kNasty = "<b>\"A\" & 'B'";

std::vector<XmlElement> parsed(const std::string& svg) {
  auto elements = XmlCheck::parse(svg);
  EXPECT_FALSE(has_broken_number(elements)) << svg;
  return elements;
}

LineChart two_lines() {
  LineChart chart;
  chart.title = chart.x_title = chart.y_title = kNasty;
  chart.series = {{kNasty, {1, 10, 100}, {0.5, 0.75, 1.0}, {0.1, 0.0, 0.2}},
                  {"b", {1, 10, 100}, {0.1, kNan, 0.3}, {}}};
  return chart;
}

double number(const XmlElement& element, const std::string& name) {
  return std::stod(element.attributes.at(name));
}

TEST(LineChart, IsWellFormedAndEscapesText) {
  for (const bool log_x : {false, true}) {
    LineChart chart = two_lines();
    chart.log_x = log_x;
    const auto elements = parsed(line_chart(chart));
    EXPECT_TRUE(has_text(elements, "text", kNasty));
    EXPECT_EQ(count_elements(elements, "b"), 0U);
    EXPECT_TRUE(has_text(elements, "title", std::string(kNasty) + ": 0.5 ± 0.1"));
    EXPECT_TRUE(has_text(elements, "title", "b: 0.3"));
  }
}

TEST(LineChart, NanIsAGap) {
  for (const XmlElement& element : parsed(line_chart(two_lines())))
    if (element.name == "path") {
      const std::string& d = element.attributes.at("d");
      const bool gap = element.attributes.at("stroke") != "#0072b2";
      EXPECT_EQ(std::count(d.begin(), d.end(), 'M'), gap ? 2 : 1);
    }
}

TEST(LineChart, LogAxisSpacesDecadesEvenly) {
  LineChart chart = two_lines();
  chart.series.pop_back();
  chart.log_x = true;
  std::vector<double> x;
  for (const XmlElement& element : parsed(line_chart(chart)))
    if (element.name == "circle") x.push_back(number(element, "cx"));
  ASSERT_EQ(x.size(), 4U);  // the first is in the legend
  EXPECT_NEAR(x[2] - x[1], x[3] - x[2], 0.02);
}

TEST(LineChart, HigherValuesAreHigher) {
  LineChart chart = two_lines();
  chart.series.pop_back();
  std::vector<double> y;
  for (const XmlElement& element : parsed(line_chart(chart)))
    if (element.name == "circle") y.push_back(number(element, "cy"));
  ASSERT_EQ(y.size(), 4U);
  EXPECT_GT(y[1], y[2]);
  EXPECT_NEAR(y[1] - y[2], y[2] - y[3], 0.02);
}

TEST(LineChart, CategoriesAreNamed) {
  LineChart chart;
  chart.categories = {"one", "a rather long name that must be turned", "three"};
  chart.series = {{"a", {}, {1, 2, 3}, {}}};
  EXPECT_TRUE(has_text(parsed(line_chart(chart)), "text", chart.categories[1]));
}

TEST(LineChart, NothingOrOnePointIsAPlot) {
  parsed(line_chart({}));
  LineChart chart;
  chart.series = {{"a", {3}, {7}, {}}, {"b", {3}, {kNan}, {}}, {"c", {}, {}, {}}};
  for (const bool log_x : {false, true}) {
    chart.log_x = log_x;
    parsed(line_chart(chart));
  }
}

TEST(LineChart, RefusesBadInput) {
  LineChart chart = two_lines();
  chart.series[0].x.pop_back();
  EXPECT_THROW(line_chart(chart), Error);
  chart = two_lines();
  chart.series[0].error.pop_back();
  EXPECT_THROW(line_chart(chart), Error);
  chart = two_lines();
  chart.series[0].y[0] = kInf;
  EXPECT_THROW(line_chart(chart), Error);
  chart = two_lines();
  chart.log_x = true;
  chart.series[0].x[0] = 0;
  EXPECT_THROW(line_chart(chart), Error);
  chart = two_lines();
  chart.y_low = 2;
  chart.y_high = 1;
  EXPECT_THROW(line_chart(chart), Error);
}

BarChart two_bars() {
  BarChart chart;
  chart.title = kNasty;
  chart.groups = {"g", kNasty};
  chart.reference_name = "paper";
  chart.series = {{"a", {1.0, 2.0}, {0.1, 0.2}, {1.1, kNan}}, {kNasty, {kNan, 0.5}, {}, {}}};
  return chart;
}

TEST(BarChart, IsWellFormedAndEscapesText) {
  const auto elements = parsed(bar_chart(two_bars()));
  EXPECT_TRUE(has_text(elements, "text", kNasty));
  EXPECT_TRUE(has_text(elements, "title", "g, a: 1 ± 0.1, paper 1.1"));
  EXPECT_TRUE(has_text(elements, "text", "n/a"));
  parsed(bar_chart({}));
}

TEST(BarChart, BarsAreAsHighAsTheirValues) {
  BarChart chart = two_bars();
  chart.series[1].value = {-1.0, 0.5};
  std::vector<double> height;
  const auto elements = parsed(bar_chart(chart));
  for (std::size_t i = 0; i + 1 < elements.size(); ++i)
    if (elements[i].name == "rect" && elements[i + 1].name == "title")
      height.push_back(number(elements[i], "height"));
  ASSERT_EQ(height.size(), 4U);
  EXPECT_NEAR(height[1], 2 * height[0], 0.03);
  EXPECT_NEAR(height[2], height[0], 0.03);
  EXPECT_NEAR(height[3], height[0] / 2, 0.03);
}

TEST(BarChart, RefusesBadInput) {
  BarChart chart = two_bars();
  chart.groups.emplace_back("third");
  EXPECT_THROW(bar_chart(chart), Error);
  chart = two_bars();
  chart.series[0].reference.pop_back();
  EXPECT_THROW(bar_chart(chart), Error);
}

TEST(HeatMap, PrintsValuesAndMarksMissingOnes) {
  HeatMap map;
  map.title = map.x_title = map.y_title = kNasty;
  map.rows = {"r", kNasty};
  map.columns = {"1", "2", "3"};
  map.value = Matrix<double>(2, 3);
  map.value << 0.1, 0.2, kNan, 0.4, 0.5, 0.6;
  map.decimals = 3;
  const auto elements = parsed(heat_map(map));
  EXPECT_TRUE(has_text(elements, "text", "0.400"));
  EXPECT_TRUE(has_text(elements, "text", "n/a"));
  EXPECT_TRUE(has_text(elements, "title", "r, 2: 0.2"));
  EXPECT_TRUE(has_text(elements, "text", kNasty));
}

TEST(HeatMap, EmptyConstantAndMissingMapsArePlots) {
  HeatMap map;
  parsed(heat_map(map));
  map.rows = map.columns = {"a", "b"};
  map.value = Matrix<double>::Constant(2, 2, 0.5);
  parsed(heat_map(map));
  map.value = Matrix<double>::Constant(2, 2, kNan);
  parsed(heat_map(map));
}

TEST(HeatMap, RefusesBadInput) {
  HeatMap map;
  map.rows = {"a"};
  map.columns = {"a", "b"};
  map.value = Matrix<double>::Zero(2, 1);
  EXPECT_THROW(heat_map(map), Error);
  map.value = Matrix<double>::Constant(1, 2, kInf);
  EXPECT_THROW(heat_map(map), Error);
}

RC_GTEST_PROP(NiceTicks, CoverTheRangeInRoundSteps, ()) {
  const double scale = std::pow(10.0, *rc::gen::inRange(-6, 7));
  const double low = *rc::gen::inRange(-1000, 1000) * scale;
  const double high = low + *rc::gen::inRange(0, 2000) * scale;
  const auto ticks = nice_ticks(low, high, 5);
  RC_ASSERT(ticks.size() >= 2U && ticks.size() <= 8U);
  const double step = ticks[1] - ticks[0];
  RC_ASSERT(ticks.front() <= low + 1e-6 * step && ticks.back() >= high - 1e-6 * step);
  const double digits = step / std::pow(10.0, std::floor(std::log10(step) + 1e-9));
  RC_ASSERT(std::abs(digits - 1) < 1e-6 || std::abs(digits - 2) < 1e-6 ||
            std::abs(digits - 5) < 1e-6);
}

}  // namespace
}  // namespace pgexplainer
