#include "pgexplainer/explain/company.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "pgexplainer/explain/explainer.h"
#include "pgexplainer/parallel/in_process_communicator.h"
#include "tests/explain/small_problem.h"

namespace pgexplainer {
namespace {

std::size_t class_of(const InstanceGraph& graph, const Gnn& gnn) {
  const auto run = gnn.new_run();
  return at(predict(graph, *run, {}).predicted_class());
}

std::array<std::size_t, 2> count_classes(const SmallProblem& p) {
  std::array<std::size_t, 2> count{};
  InstanceCutter cutter = p.model.new_cutter();
  InstanceGraph graph;
  for (std::int64_t g = 0; g < p.dataset.num_graphs(); ++g) {
    cutter.cut({g}, graph);
    ++count[class_of(graph, *p.gnn)];
  }
  return count;
}

/// The first random network that gives both classes.
std::unique_ptr<SmallProblem> problem_of_both_classes() {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    auto p = std::make_unique<SmallProblem>(small_ba_2motifs(1), std::vector<std::int64_t>{6, 6, 6},
                                            seed);
    const auto count = count_classes(*p);
    if (std::min(count[0], count[1]) >= 3) return p;
  }
  return nullptr;
}

TEST(Company, IsOfAnotherClassAndReachesAllSuchGraphs) {
  const auto problem = problem_of_both_classes();
  ASSERT_TRUE(problem);
  const SmallProblem& p = *problem;
  ThreadPool pool(2);
  const Company company = gather_company(p.model, pool);
  ASSERT_EQ(company.graphs.size(), 12U);
  const std::array<std::size_t, 2> count = count_classes(p);
  for (const std::size_t c : {0U, 1U}) {
    std::set<std::int64_t> met;
    for (double u = 0; u < 1; u += 0.01) {
      const InstanceGraph* other = company.other_than(c, u);
      ASSERT_NE(other, nullptr);
      EXPECT_NE(class_of(*other, *p.gnn), c);
      met.insert(other->instance.id);
    }
    EXPECT_EQ(met.size(), count[1 - c]);
  }
}

TEST(Company, OfANetworkThatKnowsOneClassIsNone) {
  const Dataset dataset = small_ba_2motifs(1);
  const auto network =
      std::make_shared<NativeGnn<float>>(make_architecture({}, dataset), "test", 3);
  for (const Parameter& p : network->layout().parameters())
    if (p.name == "lin.bias") network->theta()[p.offset] = 1e3F;
  const SmallProblem p(dataset, make_gnn(network));
  ThreadPool pool(1);
  const Company company = gather_company(p.model, pool);
  EXPECT_EQ(company.other_than(0, 0.5), nullptr);
  PGExplainerOptions options = quick_options();
  PGExplainer explainer(options, 1);
  EXPECT_TRUE(std::isfinite(fit(explainer, p.model, instances_between(0, 12)).loss.back()));
}

// Beside its own copy the sum of a graph doubles.
TEST(Company, OfANetworkThatSumsOverAGraphIsNone) {
  const Dataset dataset = small_ba_2motifs(1);
  for (const std::string kind : {"max", "mean", "add"}) {
    ArchitectureOptions options;
    options.pool = {kind};
    const SmallProblem p(dataset, make_gnn(std::make_shared<NativeGnn<float>>(
                                      make_architecture(options, dataset), "test", 3)));
    ThreadPool pool(1);
    EXPECT_EQ(gather_company(p.model, pool).graphs.empty(), kind == "add") << kind;
  }
}

// A graph that is refused as an instance is no reason to refuse the others.
TEST(Company, LeavesOutWhatIsTooLarge) {
  const auto p = problem_of_both_classes();
  ASSERT_TRUE(p);
  const Dataset& dataset = p->dataset;
  EdgeId largest = 0;
  for (std::size_t g = 0; g < 12; ++g)
    largest = std::max(largest, dataset.edge_ptr[g + 1] - dataset.edge_ptr[g]);
  CutOptions cut;
  cut.max_edges = largest - 1;
  const ExplainedModel model(p->gnn, dataset, cut);
  ThreadPool pool(1);
  const Company company = gather_company(model, pool);
  EXPECT_LT(company.graphs.size(), 12U);
  for (const auto& others : company.of_other_class) {
    EXPECT_FALSE(others.empty());
    for (const std::size_t i : others) EXPECT_LT(company.graphs[i].num_edges(), largest);
  }
}

TEST(Company, ChangesTheFitToTheSameBitsForAnyNumberOfThreadsAndRanks) {
  const auto p = problem_of_both_classes();
  ASSERT_TRUE(p);
  const std::vector<Instance> instances = instances_between(0, 12);
  PGExplainerOptions options = quick_options();
  options.sharpen = 20;
  PGExplainer alone(options, 5);
  fit(alone, p->model, instances, 1);
  for (const int ranks : {1, 2, 3, 4})
    for (const int threads : {1, 2})
      run_ranks(ranks, [&](Communicator& communicator) {
        ThreadPool pool(threads);
        PGExplainer together(options, 5);
        together.fit(p->model, instances, {pool, communicator}, {});
        EXPECT_EQ(together.fitted().theta, alone.fitted().theta) << ranks;
      });
  options.company = false;
  PGExplainer lone(options, 5);
  fit(lone, p->model, instances, 1);
  EXPECT_NE(lone.fitted().theta, alone.fitted().theta);
}

// The gradient to the mask of a graph, its company left whole, against finite differences.
TEST(InCompany, MasksTheGraphAloneAndGivesItsGradient) {
  const auto p = problem_of_both_classes();
  ASSERT_TRUE(p);
  InstanceCutter cutter = p->model.new_cutter();
  InstanceGraph graph, company, both;
  const auto run = p->gnn->new_run();
  double largest = 0;
  for (std::int64_t g = 0; g < 11; ++g) {
    cutter.cut({g}, graph);
    cutter.cut({g + 1}, company);
    InCompany beside(graph, company, *run, both);
    std::vector<float> mask(graph.edges.size(), 0.6F), dmask(mask.size(), 0.0F);
    const auto difference = [&] {
      const auto logits = beside.forward(mask);
      return static_cast<double>(logits[1]) - static_cast<double>(logits[0]);
    };
    difference();
    const std::vector<float> dlogits = {-1.0F, 1.0F};
    beside.backward(dlogits, dmask);
    for (std::size_t e = 0; e < mask.size(); ++e) {
      constexpr float kStep = 2e-3F;
      mask[e] = 0.6F + kStep;
      const double up = difference();
      mask[e] = 0.6F - kStep;
      const double slope = (up - difference()) / (2.0 * static_cast<double>(kStep));
      mask[e] = 0.6F;
      EXPECT_NEAR(static_cast<double>(dmask[e]), slope, 5e-3 * (1.0 + std::abs(slope))) << e;
      largest = std::max(largest, std::abs(slope));
    }
  }
  EXPECT_GT(largest, 0.1);  // far above the tolerance
}

}  // namespace
}  // namespace pgexplainer
