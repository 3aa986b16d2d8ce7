#include "pgexplainer/explain/sampled_objective.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/explain/toy_network.h"

namespace pgexplainer {
namespace {

/// The toy network as the objective calls it.
class FloatToyNetwork {
 public:
  FloatToyNetwork(std::size_t edges, std::size_t classes, std::uint64_t seed)
      : network_(edges, classes, seed) {}

  std::span<const float> forward(std::span<const float> mask) {
    const std::vector<double> wide(mask.begin(), mask.end());
    const std::span<const double> logits = network_.forward(wide);
    logits_.assign(logits.begin(), logits.end());
    return logits_;
  }
  double probability_of(const std::vector<double>& mask, std::size_t c) {
    const std::span<const double> logits = network_.forward(mask);
    double total = 0;
    for (const double z : logits) total += std::exp(z - logits[c]);
    return 1.0 / total;
  }

 private:
  ToyNetwork network_;
  std::vector<float> logits_;
};

struct Case {
  std::vector<EdgeId> reverse = {1, 0, 2, kNoEdge, 5, 4};  // pairs of two, one, one and two edges
  EdgePairs pairs{reverse};
  std::vector<float> omega = {0.4F, -0.2F, 1.1F, -0.7F, 0.3F, 0.1F};
  RankingTerms terms{0.8, 0.35, 0.6};
  std::size_t c = 1;

  /// The header's loss, every subset of the pairs in turn, with a shift of its own.
  double expected_loss(FloatToyNetwork& network) const {
    const std::size_t count = at(pairs.count());
    std::vector<double> value(count);
    for (std::size_t k = 0; k < count; ++k)
      value[k] = 0.5 * (static_cast<double>(omega[at(pairs.first[k])]) +
                        static_cast<double>(omega[at(pairs.second[k])]));
    double loss = 0;
    for (const bool keep : {true, false}) {
      const double share = keep ? terms.keep_share : terms.remove_share;
      const auto chance = [&](std::size_t k, double shift) {
        return 1.0 / (1.0 + std::exp(-(value[k] + shift) / terms.tau));
      };
      double low = -50, high = 50;
      for (int step = 0; step < 100; ++step) {
        double mean = 0;
        for (std::size_t k = 0; k < count; ++k)
          mean += chance(k, (low + high) / 2) / static_cast<double>(count);
        (mean < share ? low : high) = (low + high) / 2;
      }
      for (std::size_t subset = 0; subset < (std::size_t{1} << count); ++subset) {
        double p = 1;
        std::vector<double> mask(omega.size());
        for (std::size_t k = 0; k < count; ++k) {
          const bool in = (subset >> k & 1) != 0;
          p *= in ? chance(k, low) : 1.0 - chance(k, low);
          mask[at(pairs.first[k])] = mask[at(pairs.second[k])] = in == keep ? 1.0 : 0.0;
        }
        loss += (keep ? -p : p) * network.probability_of(mask, c);
      }
    }
    return loss;
  }
};

TEST(SampledRankingLoss, IsOnAverageTheExpectedLossAndItsGradient) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    Case one;
    FloatToyNetwork network(one.omega.size(), 3, seed);
    constexpr int kDraws = 200'000;
    std::vector<float> uniform(2 * at(one.pairs.count()));
    std::vector<double> mean(one.omega.size(), 0.0);
    double loss = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      RandomStream random(seed, RandomPurpose::test, static_cast<std::uint32_t>(draw));
      random.uniforms(uniform);
      std::vector<float> domega(one.omega.size(), 0.0F);
      loss += sampled_ranking_loss<float>(one.pairs, one.omega, uniform, one.terms, one.c, 2.0F,
                                          network, domega);
      for (std::size_t e = 0; e < mean.size(); ++e) mean[e] += static_cast<double>(domega[e]);
    }
    EXPECT_NEAR(loss / kDraws, 2.0 * one.expected_loss(network), 5e-3);
    double largest = 0;
    for (std::size_t e = 0; e < one.omega.size(); ++e) {
      constexpr float kStep = 1e-2F;
      Case up = one, down = one;
      up.omega[e] += kStep;
      down.omega[e] -= kStep;
      const double exact = 2.0 * (up.expected_loss(network) - down.expected_loss(network)) /
                           (2.0 * static_cast<double>(kStep));
      EXPECT_NEAR(mean[e] / kDraws, exact, 3e-3) << e;
      largest = std::max(largest, std::abs(exact));
    }
    EXPECT_GT(largest, 0.03);  // far above the tolerance
  }
}

// A constant added to every score changes nothing: the shift takes it back.
RC_GTEST_PROP(SampledRankingLoss, GradientsAddUpToZero, ()) {
  Case one;
  FloatToyNetwork network(one.omega.size(), 3, *rc::gen::inRange<std::uint64_t>(0, 1'000'000));
  RandomStream random(*rc::gen::inRange<std::uint64_t>(0, 1'000'000), RandomPurpose::test);
  std::vector<float> uniform(2 * at(one.pairs.count())), domega(one.omega.size(), 0.0F);
  random.uniforms(uniform);
  sampled_ranking_loss<float>(one.pairs, one.omega, uniform, one.terms, one.c, 1.0F, network,
                              domega);
  double sum = 0;
  for (const float d : domega) sum += static_cast<double>(d);
  RC_ASSERT(std::abs(sum) < 1e-5);
}

TEST(SampledRankingLoss, StaysFiniteWhereEveryEdgeIsDecided) {
  Case one;
  for (float& w : one.omega) w *= 1e6F;
  FloatToyNetwork network(one.omega.size(), 3, 1);
  const std::vector<float> uniform(2 * at(one.pairs.count()), 0.3F);
  std::vector<float> domega(one.omega.size(), 0.0F);
  EXPECT_TRUE(std::isfinite(sampled_ranking_loss<float>(one.pairs, one.omega, uniform, one.terms,
                                                        one.c, 1.0F, network, domega)));
  for (const float d : domega) EXPECT_TRUE(std::isfinite(d));
}

TEST(SampledRankingLoss, OfAnInstanceWithoutEdgesIsZero) {
  FloatToyNetwork network(0, 2, 1);
  const EdgePairs pairs{std::span<const EdgeId>{}};
  EXPECT_EQ(sampled_ranking_loss<float>(pairs, {}, {}, {}, 0, 1.0F, network, {}), 0.0);
}

}  // namespace
}  // namespace pgexplainer
