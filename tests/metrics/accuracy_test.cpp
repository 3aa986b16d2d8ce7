#include "pgexplainer/metrics/accuracy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "pgexplainer/core/error.h"

namespace pgexplainer {
namespace {

TEST(Accuracy, CountsTheChosenRows) {
  Matrix<float> logits(4, 2);
  logits << 1, 0, 0, 1, 2, 3, 5, 5;
  const std::vector<std::int64_t> label{0, 0, 1, 0};
  EXPECT_DOUBLE_EQ(accuracy(logits, label, std::vector<std::uint8_t>{1, 1, 1, 1}), 0.75);
  EXPECT_DOUBLE_EQ(accuracy(logits, label, std::vector<std::uint8_t>{0, 1, 0, 0}), 0.0);
  EXPECT_TRUE(std::isnan(accuracy(logits, label, std::vector<std::uint8_t>{0, 0, 0, 0})));
}

TEST(Accuracy, RefusesOtherLengths) {
  const Matrix<float> logits = Matrix<float>::Zero(2, 2);
  EXPECT_THROW(accuracy(logits, std::vector<std::int64_t>{0}, std::vector<std::uint8_t>{1, 1}),
               Error);
}

}  // namespace
}  // namespace pgexplainer
