#include "pgexplainer/explain/ranking_objective.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/explain/toy_network.h"
#include "tests/support/gradient_check.h"

namespace pgexplainer {
namespace {

std::vector<double> normal_values(std::size_t count, double scale) {
  RandomStream random(*rc::gen::inRange<std::uint64_t>(0, 1'000'000), RandomPurpose::test);
  std::vector<double> values(count);
  for (double& v : values) v = scale * random.normal();
  return values;
}

RC_GTEST_PROP(SolveShift, MakesTheMeanMaskTheWantedShare, ()) {
  const std::vector<double> value =
      normal_values(*rc::gen::inRange<std::size_t>(1, 20), *rc::gen::element(0.1, 3.0, 40.0));
  const double tau = *rc::gen::element(0.1, 1.0, 5.0);
  const double share = *rc::gen::element(0.02, 0.3, 0.5, 0.9);
  const double shift = solve_shift<double>(value, tau, share);
  double mean = 0;
  for (const double v : value)
    mean += 1.0 / (1.0 + std::exp(-(v + shift) / tau)) / static_cast<double>(value.size());
  RC_ASSERT(std::abs(mean - share) < 1e-7);
}

TEST(SolveShift, OfEqualValuesIsExact) {
  const std::vector<float> value(5, 2.0F);
  EXPECT_NEAR(solve_shift<float>(value, 3.0, 0.25), 3.0 * logit(0.25) - 2.0, 1e-12);
}

TEST(ShiftedMask, StaysInRangeForHugeScores) {
  const std::vector<float> noisy = {1e20F, -1e20F, 0.0F, 3.0F};
  std::vector<float> m;
  shifted_mask<float>(noisy, 1.0, 0.5, m);
  for (const float value : m) {
    EXPECT_GE(value, 0.0F);
    EXPECT_LE(value, 1.0F);
  }
  EXPECT_GT(m[0], m[1]);
}

double keep(std::span<const double> logits, std::size_t c) {
  double total = 0;
  for (const double z : logits) total += std::exp(z);
  return std::exp(logits[c]) / total;
}

RC_GTEST_PROP(KeepLoss, IsMinusTheProbability, ()) {
  const auto classes = *rc::gen::inRange<std::size_t>(1, 6);
  const auto c = *rc::gen::inRange<std::size_t>(0, classes);
  std::vector<double> logits = normal_values(classes, 2), d(classes, 0.0), unused(classes);
  RC_ASSERT(std::abs(keep_loss<double>(logits, c, 0.3, d) + 0.3 * keep(logits, c)) < 1e-12);
  const auto loss = [&] { return keep_loss<double>(logits, c, 0.3, unused); };
  RC_ASSERT(gradient_error(loss, logits.data(), d.data(), classes) < 1e-6);
}

RC_GTEST_PROP(KeepLogLoss, IsMinusTheLogarithmOfTheProbability, ()) {
  const auto classes = *rc::gen::inRange<std::size_t>(1, 6);
  const auto c = *rc::gen::inRange<std::size_t>(0, classes);
  std::vector<double> logits = normal_values(classes, 2), d(classes, 0.0), unused(classes);
  RC_ASSERT(std::abs(keep_log_loss<double>(logits, c, 0.3, d) + 0.3 * std::log(keep(logits, c))) <
            1e-12);
  const auto loss = [&] { return keep_log_loss<double>(logits, c, 0.3, unused); };
  RC_ASSERT(gradient_error(loss, logits.data(), d.data(), classes) < 1e-6);
}

RC_GTEST_PROP(RemoveLoss, IsMinusTheLogarithmOfTheOtherClasses, ()) {
  const auto classes = *rc::gen::inRange<std::size_t>(2, 6);
  const auto c = *rc::gen::inRange<std::size_t>(0, classes);
  std::vector<double> logits = normal_values(classes, 2), d(classes, 0.0), unused(classes);
  RC_ASSERT(std::abs(remove_loss<double>(logits, c, 0.3, d) +
                     0.3 * std::log(1.0 - keep(logits, c))) < 1e-9);
  const auto loss = [&] { return remove_loss<double>(logits, c, 0.3, unused); };
  RC_ASSERT(gradient_error(loss, logits.data(), d.data(), classes) < 1e-6);
}

TEST(RemoveLoss, StaysFiniteWhereTheProbabilityRoundsToOne) {
  const std::vector<float> logits = {80.0F, -100.0F, -120.0F};
  std::vector<float> d(3, 0.0F);
  EXPECT_NEAR(remove_loss<float>(logits, 0, 1.0F, d), 180.0, 1e-3);
  EXPECT_FLOAT_EQ(d[0], 1.0F);
  EXPECT_FLOAT_EQ(d[1], -1.0F);
  std::fill(d.begin(), d.end(), 0.0F);
  EXPECT_NEAR(remove_loss<float>(logits, 1, 1.0F, d), 0.0, 1e-6);  // already lost
  for (const float value : d) EXPECT_NEAR(value, 0.0F, 1e-6F);
}

TEST(RemoveLoss, OfOneClassIsZero) {
  const std::vector<double> logits = {3.0};
  std::vector<double> d(1, 0.0);
  EXPECT_EQ(remove_loss<double>(logits, 0, 1.0, d), 0.0);
  EXPECT_EQ(d[0], 0.0);
}

/// Some edges have a reverse, some are self-loops, some stand alone.
std::vector<EdgeId> some_reverses(std::size_t edges) {
  std::vector<EdgeId> reverse(edges, kNoEdge);
  for (std::size_t e = 0; e < edges; ++e) {
    if (reverse[e] != kNoEdge) continue;
    const int kind = *rc::gen::inRange(0, 3);
    if (kind == 0) reverse[e] = static_cast<EdgeId>(e);
    if (kind == 1 && e + 1 < edges) {
      reverse[e] = static_cast<EdgeId>(e + 1);
      reverse[e + 1] = static_cast<EdgeId>(e);
    }
  }
  return reverse;
}

// Every evaluation solves the shift anew, so the gradient must go through it: with a detached
// shift this fails.
RC_GTEST_PROP(RankingLoss, AndItsGradientGoThroughTheShift, ()) {
  const auto edges = *rc::gen::inRange<std::size_t>(1, 10);
  const std::vector<EdgeId> reverse = some_reverses(edges);
  const EdgePairs pairs(reverse);
  const auto count = static_cast<std::size_t>(pairs.count());
  std::vector<double> omega = normal_values(edges, 1), noise = normal_values(count, 1);
  const RankingTerms terms{*rc::gen::element(0.7, 2.0), *rc::gen::element(0.1, 0.4, 0.8),
                           *rc::gen::element(0.2, 0.4, 0.9), *rc::gen::element(0.0, 0.3, 1.0),
                           *rc::gen::arbitrary<bool>()};
  const auto c = *rc::gen::inRange<std::size_t>(0, 3);
  ToyNetwork network(edges, 3, *rc::gen::inRange<std::uint64_t>(0, 1'000'000));
  ToyNetwork beside(edges, 3, *rc::gen::inRange<std::uint64_t>(0, 1'000'000));

  // The header's formula, spelt out, with a shift of its own.
  const auto slow = [&] {
    std::vector<double> of_pair(count);
    for (std::size_t k = 0; k < count; ++k) {
      of_pair[k] = (omega[at(pairs.first[k])] + omega[at(pairs.second[k])]) / 2 + noise[k];
    }
    const auto mask_of = [&](double share) {
      const auto mean = [&](double shift) {
        double sum = 0;
        for (const double v : of_pair) sum += 1.0 / (1.0 + std::exp(-(v + shift) / terms.tau));
        return sum / static_cast<double>(count);
      };
      double low = -100, high = 100;
      for (int step = 0; step < 100; ++step)
        (mean((low + high) / 2) < share ? low : high) = (low + high) / 2;
      std::vector<double> mask(edges);
      for (std::size_t k = 0; k < count; ++k)
        for (const EdgeId e : {pairs.first[k], pairs.second[k]})
          mask[at(e)] = 1.0 / (1.0 + std::exp(-(of_pair[k] + low) / terms.tau));
      return mask;
    };
    std::vector<double> rest = mask_of(terms.remove_share);
    for (double& value : rest) value = 1.0 - value;
    const double kept = keep(beside.forward(mask_of(terms.keep_share)), c);
    return -(terms.in_company ? std::log(kept) : kept) -
           terms.remove_weight * std::log(1.0 - keep(network.forward(rest), c));
  };
  std::vector<double> domega(edges, 0.0);
  const double loss =
      ranking_loss<double>(pairs, omega, noise, terms, c, 0.5, network, beside, domega);
  RC_ASSERT(std::abs(loss - 0.5 * slow()) < 1e-7);
  RC_ASSERT(gradient_error([&] { return 0.5 * slow(); }, omega.data(), domega.data(), edges) <
            1e-6);
}

// A constant added to every score changes nothing: the shift takes it back.
RC_GTEST_PROP(RankingLoss, GradientsAddUpToZero, ()) {
  const auto edges = *rc::gen::inRange<std::size_t>(2, 10);
  const std::vector<EdgeId> reverse = some_reverses(edges);
  const EdgePairs pairs(reverse);
  const std::vector<double> omega = normal_values(edges, 1);
  const std::vector<double> noise = normal_values(at(pairs.count()), 1);
  ToyNetwork network(edges, 2, *rc::gen::inRange<std::uint64_t>(0, 1'000'000));
  std::vector<double> domega(edges, 0.0);
  ranking_loss<double>(pairs, omega, noise, {1.0, 0.3, 0.2, 0.7}, 0, 1.0, network, domega);
  double sum = 0;
  for (const double d : domega) sum += d;
  RC_ASSERT(std::abs(sum) < 1e-9);
}

TEST(RemoveWeight, RisesWithThePredictionThatNeedsNoEdge) {
  EXPECT_EQ(remove_weight(0.0, 0.1, 0.0), 0.0);
  EXPECT_EQ(remove_weight(0.0, 0.1, 1.0), 0.1);
  EXPECT_DOUBLE_EQ(remove_weight(0.05, 0.1, 0.5), 0.075);
  EXPECT_EQ(remove_weight(0.3, 0.1, 1.0), 0.3);  // already above the floor
}

TEST(RankingLoss, OfAnInstanceWithoutEdgesIsZero) {
  ToyNetwork network(0, 2, 1);
  const EdgePairs pairs{std::span<const EdgeId>{}};
  EXPECT_EQ(ranking_loss<double>(pairs, {}, {}, {}, 0, 1.0, network, {}), 0.0);
}

}  // namespace
}  // namespace pgexplainer
