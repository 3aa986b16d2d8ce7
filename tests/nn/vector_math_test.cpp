#include "pgexplainer/nn/vector_math.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace pgexplainer {
namespace {

template <class F>
std::vector<float> applied(const std::vector<float>& x, F&& f) {
  std::vector<float> y(x.size());
  for_each_lanes<float>(x.size(), [&](std::size_t i, auto n) {
    store_lanes<float>(f(load_lanes<float>(x.data() + i, n)), y.data() + i, n);
  });
  return y;
}

/// The largest relative error against f in double, in units of float's precision.
template <class Fast, class Exact>
double worst_error(const std::vector<float>& x, Fast&& fast, Exact&& exact) {
  const std::vector<float> y = applied(x, fast);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = exact(static_cast<double>(x[i]));
    const double scale = std::max(std::abs(expected), 1e-30);
    worst = std::max(worst, std::abs(static_cast<double>(y[i]) - expected) / scale);
  }
  return worst / static_cast<double>(std::numeric_limits<float>::epsilon());
}

TEST(VectorMath, ExpIsWithinTwoUnits) {
  std::vector<float> x;
  for (double v = -86.9; v < 87.9; v += 0.0031) x.push_back(static_cast<float>(v));
  EXPECT_LT(worst_error(
                x, [](auto v) { return exp_of(v); }, [](double v) { return std::exp(v); }),
            2.0);
}

TEST(VectorMath, LogIsWithinTwoUnits) {
  std::vector<float> x;
  for (double v = 1e-37; v < 1e37; v *= 1.0013) x.push_back(static_cast<float>(v));
  for (double v = 0.9; v < 1.1; v += 1.3e-5) x.push_back(static_cast<float>(v));
  EXPECT_LT(worst_error(
                x, [](auto v) { return log_of(v); }, [](double v) { return std::log(v); }),
            2.0);
}

TEST(VectorMath, LogisticIsWithinThreeUnitsAndSaturates) {
  std::vector<float> x;
  for (double v = -86.0; v < 88.0; v += 0.0031) x.push_back(static_cast<float>(v));
  EXPECT_LT(worst_error(
                x, [](auto v) { return logistic_of(v); },
                [](double v) { return 1.0 / (1.0 + std::exp(-v)); }),
            3.0);
  const auto ends = applied({-1e30F, 1e30F}, [](auto v) { return logistic_of(v); });
  EXPECT_GE(ends[0], 0.0F);
  EXPECT_LT(ends[0], 1e-37F);
  EXPECT_EQ(ends[1], 1.0F);
}

TEST(VectorMath, ANanStaysOne) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(applied({1.0F, nan}, [](auto v) { return logistic_of(v); })[1]));
}

TEST(VectorMath, ResultsDoNotDependOnThePlace) {
  std::vector<float> x;
  for (int i = 0; i < 29; ++i) x.push_back(0.37F * static_cast<float>(i) - 4.0F);
  const auto whole = applied(x, [](auto v) { return logistic_of(v); });
  for (std::size_t first = 0; first < x.size(); ++first) {
    const std::vector<float> part(x.begin() + static_cast<std::ptrdiff_t>(first), x.end());
    const auto y = applied(part, [](auto v) { return logistic_of(v); });
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], whole[first + i]);
  }
}

TEST(VectorMath, SumsOnlyTheLanesThatAreThere) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  double sum = 0;
  for_each_lanes<float>(x.size(), [&](std::size_t i, auto n) {
    sum += sum_lanes<float>(load_lanes<float>(x.data() + i, n), n);
  });
  EXPECT_EQ(sum, 66.0);
}

}  // namespace
}  // namespace pgexplainer
