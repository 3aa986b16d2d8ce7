// Every term of the paper's objective against a loop that spells the formula out, and every
// gradient against central differences in double.
#include "pgexplainer/explain/objective.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "pgexplainer/explain/paper_objective.h"
#include "tests/explain/toy_network.h"
#include "tests/support/gradient_check.h"

namespace pgexplainer {
namespace {

std::vector<double> random_values(std::size_t count, double low, double high) {
  RandomStream random(*rc::gen::inRange<std::uint64_t>(0, 1'000'000), RandomPurpose::test);
  std::vector<double> values(count);
  for (double& v : values) v = low + (high - low) * random.uniform();
  return values;
}

std::size_t random_count(std::size_t least, std::size_t most) {
  return *rc::gen::inRange<std::size_t>(least, most + 1);
}

/// The gradient that a term adds to zeros, checked against its value.
template <class Term>
double term_error(std::vector<double> value, const Term& term) {
  std::vector<double> gradient(value.size(), 0.0), unused(value.size(), 0.0);
  term(value, gradient);
  return gradient_error([&] { return term(value, unused); }, value.data(), gradient.data(),
                        value.size());
}

/// A term must add to its gradient array, not overwrite it.
template <class Term>
void expect_adds(const std::vector<double>& value, const Term& term) {
  std::vector<double> once(value.size(), 0.0), twice(value.size(), 0.0);
  term(value, once);
  term(value, twice);
  term(value, twice);
  for (std::size_t k = 0; k < value.size(); ++k) RC_ASSERT(twice[k] == once[k] + once[k]);
}

void expect_close(double ours, double expected) {
  RC_ASSERT(std::abs(ours - expected) <= 1e-11 * std::max(1.0, std::abs(expected)));
}

RC_GTEST_PROP(PredictionLoss, IsTheCrossEntropyOfTheSoftmax, ()) {
  const std::size_t classes = random_count(1, 5);
  const std::vector<double> logits = random_values(classes, -4, 4);
  std::vector<double> p = random_values(classes, 0, 1);
  if (*rc::gen::arbitrary<bool>()) {  // one-hot
    std::fill(p.begin(), p.end(), 0.0);
    p[random_count(0, classes - 1)] = 1.0;
  }
  double total = 0, expected = 0;
  for (const double z : logits) total += std::exp(z);
  for (std::size_t c = 0; c < classes; ++c)
    expected -= p[c] * std::log(std::exp(logits[c]) / total);
  const auto term = [&](const std::vector<double>& z, std::vector<double>& dz) {
    return prediction_loss<double>(p, z, 0.7, dz);
  };
  std::vector<double> unused(classes, 0.0);
  expect_close(term(logits, unused), 0.7 * expected);
  RC_ASSERT(term_error(logits, term) < 1e-6);
  expect_adds(logits, term);
}

TEST(PredictionLoss, StaysFiniteAtHugeMargins) {
  const std::vector<float> logits = {1e30F, -1e30F, 0.0F}, p = {1.0F, 0.0F, 0.0F};
  std::vector<float> d(3, 0.0F);
  EXPECT_EQ(prediction_loss<float>(p, logits, 1.0F, d), 0.0);
  EXPECT_EQ(d, (std::vector<float>{0.0F, 0.0F, 0.0F}));
}

RC_GTEST_PROP(SizePenalty, IsTheL1Norm, ()) {
  const std::vector<double> value = random_values(random_count(0, 8), -3, 3);
  double expected = 0;
  for (const double v : value) expected += std::abs(v);
  const auto term = [](const std::vector<double>& v, std::vector<double>& dv) {
    return size_penalty<double>(v, 0.3, dv);
  };
  std::vector<double> unused(value.size(), 0.0);
  expect_close(term(value, unused), 0.3 * expected);
  RC_ASSERT(term_error(value, term) < 1e-6);
  expect_adds(value, term);
}

RC_GTEST_PROP(EntropyPenalty, IsTheSumOfBernoulliEntropies, ()) {
  const std::vector<double> e = random_values(random_count(0, 8), 0, 1);
  double expected = 0;
  for (const double v : e) {
    const double t = 0.99 * v + 0.005;
    expected += -t * std::log(t) - (1 - t) * std::log(1 - t);
  }
  const auto term = [](const std::vector<double>& v, std::vector<double>& dv) {
    return entropy_penalty<double>(v, 1.3, dv);
  };
  std::vector<double> unused(e.size(), 0.0);
  expect_close(term(e, unused), 1.3 * expected);
  RC_ASSERT(term_error(e, term) < 1e-6);
  expect_adds(e, term);
}

TEST(EntropyPenalty, HasAFiniteSlopeAtZeroAndOne) {
  const std::vector<float> e = {0.0F, 1.0F};
  std::vector<float> d(2, 0.0F);
  EXPECT_TRUE(std::isfinite(entropy_penalty<float>(e, 1.0F, d)));
  EXPECT_GT(d[0], 0.0F);
  EXPECT_NEAR(d[0], -d[1], 1e-3F);
}

RC_GTEST_PROP(BudgetPenalty, IsTheExcessOverTheBudget, ()) {
  const std::vector<double> e = random_values(random_count(1, 8), 0, 1);
  const double sum = std::accumulate(e.begin(), e.end(), 0.0);
  for (const double budget : {0.5 * sum, 2.0 * sum + 0.1}) {
    const auto term = [&](const std::vector<double>& v, std::vector<double>& dv) {
      return budget_penalty<double>(v, budget, 0.4, dv);
    };
    std::vector<double> unused(e.size(), 0.0);
    expect_close(term(e, unused), 0.4 * std::max(0.0, sum - budget));
    RC_ASSERT(term_error(e, term) < 1e-6);
    expect_adds(e, term);
  }
}

TEST(BudgetPenalty, IsOffAtTheEdgeOfTheBudget) {
  const std::vector<double> e = {0.5, 0.25, 0.25};
  std::vector<double> d(3, 0.0);
  EXPECT_EQ(budget_penalty<double>(e, 1.0, 1.0, d), 0.0);
  EXPECT_EQ(d, std::vector<double>(3, 0.0));
}

/// Eq. (13) by brute force; zero pairs without a common source.
double all_pairs(const std::vector<NodeId>& source, const std::vector<double>& e,
                 std::int64_t& pairs) {
  double sum = 0;
  pairs = 0;
  for (std::size_t a = 0; a < e.size(); ++a)
    for (std::size_t b = 0; b < e.size(); ++b) {
      if (a == b || source[a] != source[b]) continue;
      sum -= (1 - e[a]) * std::log(1 - e[b]) + e[a] * std::log(e[b]);
      ++pairs;
    }
  return sum;
}

RC_GTEST_PROP(ConnectivityPenalty, IsTheSumOverAllOrderedPairs, ()) {
  const std::size_t edges = random_count(0, 10);
  const auto source =
      *rc::gen::container<std::vector<NodeId>>(edges, rc::gen::inRange<NodeId>(0, 4));
  const std::vector<double> e = random_values(edges, 0.01, 0.99);
  std::int64_t pairs = 0;
  const double expected = all_pairs(source, e, pairs);
  const auto term = [&](const std::vector<double>& v, std::vector<double>& dv) {
    return connectivity_penalty<double>(source, 4, v, 0.6, dv);
  };
  std::vector<double> unused(e.size(), 0.0);
  expect_close(term(e, unused), 0.6 * expected);
  RC_ASSERT(num_adjacent_pairs(source, 4) == pairs);
  RC_ASSERT(term_error(e, term) < 1e-6);
  expect_adds(e, term);
}

TEST(ConnectivityPenalty, StaysFiniteAtZeroAndOne) {
  const std::vector<NodeId> source = {0, 0, 0};
  const std::vector<float> e = {0.0F, 1.0F, 0.5F};
  std::vector<float> d(3, 0.0F);
  EXPECT_TRUE(std::isfinite(connectivity_penalty<float>(source, 1, e, 1.0F, d)));
  for (const float value : d) EXPECT_TRUE(std::isfinite(value));
}

TEST(Temperature, RunsGeometricallyFromStartToEnd) {
  EXPECT_DOUBLE_EQ(temperature(5.0, 2.0, 0.0), 5.0);
  EXPECT_DOUBLE_EQ(temperature(5.0, 2.0, 1.0), 2.0);
  EXPECT_DOUBLE_EQ(temperature(4.0, 1.0, 0.5), 2.0);
}

RC_GTEST_PROP(Concrete, SlopeIsTheDerivative, ()) {
  std::vector<double> omega = random_values(1, -5, 5);
  const double tau = random_values(1, 0.3, 5)[0], noise = logit(random_values(1, 0.01, 0.99)[0]);
  const auto sample = [&] {
    double e = 0;
    concrete_samples<double>(omega, tau, std::span(&noise, 1), std::span(&e, 1));
    return e;
  };
  const double slope = concrete_slope(sample(), tau);
  RC_ASSERT(gradient_error(sample, omega.data(), &slope, 1) < 1e-6);
}

TEST(Concrete, SigmoidStaysInRangeAtBothEnds) {
  EXPECT_EQ(sigmoid(-1e30F), 0.0F);
  EXPECT_EQ(sigmoid(1e30F), 1.0F);
  EXPECT_DOUBLE_EQ(sigmoid(logit(0.3)), 0.3);
}

/// The whole loss of one sample, spelt out.
double slow_paper_loss(const PaperWeights& w, const std::vector<NodeId>& source, NodeId num_nodes,
                       const std::vector<EdgeId>& reverse, const std::vector<double>& p,
                       const std::vector<double>& omega, const std::vector<double>& noise,
                       double tau, ToyNetwork& network) {
  std::vector<double> e;
  for (std::size_t k = 0; k < omega.size(); ++k)
    e.push_back(1.0 / (1.0 + std::exp(-(noise[k] + omega[k]) / tau)));
  std::vector<double> mask = e;
  if (w.symmetric)
    for (std::size_t k = 0; k < e.size(); ++k)
      if (reverse[k] != kNoEdge) mask[k] = (e[k] + e[at(reverse[k])]) / 2;
  const std::span<const double> logits = network.forward(mask);
  double total = 0, loss = 0;
  for (const double z : logits) total += std::exp(z);
  for (std::size_t c = 0; c < p.size(); ++c)
    loss -= w.prediction * p[c] * std::log(std::exp(logits[c]) / total);
  const auto edges = static_cast<double>(e.size());
  double sum = 0, norm = 0, entropy = 0;
  for (std::size_t k = 0; k < e.size(); ++k) {
    sum += e[k];
    norm += std::abs(omega[k]);
    const double t = 0.99 * e[k] + 0.005;
    entropy += -t * std::log(t) - (1 - t) * std::log(1 - t);
  }
  loss += w.size * (w.size_term == PaperWeights::Size::sum    ? sum
                    : w.size_term == PaperWeights::Size::mean ? sum / edges
                                                              : norm);
  loss += w.entropy * entropy /
          (w.entropy_term == PaperWeights::Entropy::mean ? edges : double(num_nodes) * num_nodes);
  loss += w.budget_weight * std::max(0.0, sum - w.budget);
  std::int64_t pairs = 0;
  const double connectivity = all_pairs(source, e, pairs);
  loss += w.connectivity * connectivity /
          (w.connectivity_term == PaperWeights::Connectivity::mean
               ? static_cast<double>(std::max<std::int64_t>(pairs, 1))
               : 1.0);
  return loss;
}

RC_GTEST_PROP(PaperLoss, AndItsGradientAreThoseOfTheWrittenOutFormula, ()) {
  const auto nodes = *rc::gen::inRange<NodeId>(1, 5);
  const std::size_t edges = random_count(1, 9);
  const auto end = rc::gen::inRange<NodeId>(0, nodes);
  const auto source = *rc::gen::container<std::vector<NodeId>>(edges, end);
  const auto target = *rc::gen::container<std::vector<NodeId>>(edges, end);
  const Graph graph(nodes, source, target);
  std::vector<EdgeId> reverse;
  for (EdgeId k = 0; k < graph.num_edges(); ++k) reverse.push_back(graph.reverse_edge(k));
  const EdgePairs pairs(reverse);

  PaperWeights weights;
  weights.prediction = *rc::gen::element(0.0, 1.0);
  weights.size = *rc::gen::element(0.0, 0.3);
  weights.size_term = *rc::gen::element(PaperWeights::Size::sum, PaperWeights::Size::mean,
                                        PaperWeights::Size::omega);
  weights.entropy = *rc::gen::element(0.0, 0.8);
  weights.entropy_term =
      *rc::gen::element(PaperWeights::Entropy::mean, PaperWeights::Entropy::nodes_squared);
  weights.budget_weight = *rc::gen::element(0.0, 0.5);
  weights.budget = *rc::gen::element(0.01, 100.0);
  weights.connectivity = *rc::gen::element(0.0, 0.2);
  weights.connectivity_term =
      *rc::gen::element(PaperWeights::Connectivity::mean, PaperWeights::Connectivity::sum);
  weights.symmetric = *rc::gen::arbitrary<bool>();

  std::vector<double> omega = random_values(edges, -2, 2), noise = random_values(edges, -1, 1);
  const std::vector<double> p = random_values(3, 0, 1);
  const double tau = 1.7, scale = 0.25;
  ToyNetwork network(edges, 3, *rc::gen::inRange<std::uint64_t>(0, 1'000'000));
  const auto loss = [&](std::span<double> domega) {
    return paper_loss<double>(weights, {source, nodes, &pairs, p}, omega, noise, tau, scale,
                              network, domega);
  };
  std::vector<double> domega(edges, 0.0), unused(edges, 0.0);
  expect_close(loss(domega), scale * slow_paper_loss(weights, source, nodes, reverse, p, omega,
                                                     noise, tau, network));
  RC_ASSERT(gradient_error([&] { return loss(unused); }, omega.data(), domega.data(), edges) <
            1e-6);
}

TEST(PaperLoss, OfAnInstanceWithoutEdgesIsZero) {
  ToyNetwork network(0, 2, 1);
  const EdgePairs pairs{std::span<const EdgeId>{}};
  const std::vector<double> p = {0.5, 0.5};
  EXPECT_EQ(paper_loss<double>({}, {{}, 1, &pairs, p}, {}, {}, 1.0, 1.0, network, {}), 0.0);
}

}  // namespace
}  // namespace pgexplainer
