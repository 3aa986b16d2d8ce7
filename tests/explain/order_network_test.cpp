#include "pgexplainer/explain/order_network.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "pgexplainer/explain/keep_remove.h"
#include "pgexplainer/explain/order_fit.h"
#include "pgexplainer/model/link_gnn.h"
#include "tests/explain/small_problem.h"
#include "tests/support/expect_error.h"

namespace pgexplainer {
namespace {

PGExplainerOptions with_order(std::int64_t order_epochs) {
  PGExplainerOptions options = quick_options();
  options.order_epochs = order_epochs;
  options.refine = 0;
  return options;
}

/// Scores as the explainer gives them, directions apart.
std::vector<std::vector<float>> scores_of(PGExplainer& explainer, const SmallProblem& p,
                                          const std::vector<Instance>& instances) {
  ThreadPool pool(1);
  ExplainOptions options;
  options.merge_directions = false;
  std::vector<std::vector<float>> scores;
  for (Explanation& one : explain(p.model, explainer, instances, options, pool))
    scores.push_back(std::move(one.score));
  return scores;
}

double mean_gap(const SmallProblem& p, const std::vector<Instance>& instances,
                const std::vector<std::vector<float>>& scores) {
  const auto run = p.gnn->new_run();
  double sum = 0;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    InstanceGraph graph;
    p.model.new_cutter().cut(instances[i], graph);
    const EdgePairs pairs(graph.reverse);
    std::vector<float> of_pair;
    pairs.mean<float>(scores[i], of_pair);
    const auto c = at(predict(graph, *run, {}).predicted_class());
    sum += keep_and_remove(graph, pairs, of_pair, c, *run).small_gap();
  }
  return sum / static_cast<double>(instances.size());
}

TEST(OrderNetwork, MakesExplanationsMoreFaithful) {
  const SmallProblem nodes(small_tree_cycles(1)), graphs(small_ba_2motifs(1));
  for (const SmallProblem* p : {&nodes, &graphs}) {
    const std::vector<Instance> instances = instances_between(0, 12);
    PGExplainer plain(with_order(0), 2), ordered(with_order(200), 2);
    fit(plain, p->model, instances);
    fit(ordered, p->model, instances);
    EXPECT_TRUE(plain.fitted().order.empty());
    EXPECT_EQ(ordered.fitted().theta, plain.fitted().theta);
    EXPECT_GT(mean_gap(*p, instances, scores_of(ordered, *p, instances)),
              mean_gap(*p, instances, scores_of(plain, *p, instances)))
        << p->dataset.name;
  }
}

TEST(OrderNetwork, HandsOutTheScoresOfTheExplanationNetwork) {
  const SmallProblem p(small_tree_cycles(1));
  const std::vector<Instance> instances = instances_between(0, 12);
  PGExplainer plain(with_order(0), 2), ordered(with_order(50), 2);
  fit(plain, p.model, instances);
  fit(ordered, p.model, instances);
  const auto before = scores_of(plain, p, instances), after = scores_of(ordered, p, instances);
  for (std::size_t i = 0; i < instances.size(); ++i) {
    InstanceGraph graph;
    p.model.new_cutter().cut(instances[i], graph);
    const EdgePairs pairs(graph.reverse);
    std::vector<float> from, to;
    pairs.mean<float>(before[i], from);
    pairs.mean<float>(after[i], to);
    for (std::size_t e = 0; e < after[i].size(); ++e)
      EXPECT_EQ(after[i][e], after[i][at(graph.reverse[e])]);
    std::sort(from.begin(), from.end());
    std::sort(to.begin(), to.end());
    for (std::size_t k = 0; k < from.size(); ++k)  // equal scores become neighbours
      EXPECT_NEAR(to[k], from[k], 1e-5 * (1 + std::abs(from[k])));
  }
}

TEST(OrderNetwork, SeesHowFarAnEdgeIsFromTheTarget) {
  const SmallProblem p(small_tree_cycles(1));
  InstanceGraph graph;
  p.model.new_cutter().cut({40}, graph);
  const EdgePairs pairs(graph.reverse);
  const Index levels = OrderNetwork::levels_of(*p.gnn);
  ASSERT_EQ(levels, 4);
  const OrderNetwork network(3, 1, levels, 5);
  // The same embedding everywhere: only hops tell edges apart.
  const Matrix<float> z = Matrix<float>::Ones(p.dataset.graph.num_nodes(), 3);
  Matrix<float> projections;
  network.scorer().project(network.weight(), z, projections);
  OrderNetwork::Workspace workspace;
  std::vector<float> delta;
  network.forward(graph, pairs, z, projections, graph.nodes, workspace, delta);
  EXPECT_GT(*std::max_element(delta.begin(), delta.end()),
            *std::min_element(delta.begin(), delta.end()));
  // Rows of the instance itself give the same.
  std::vector<float> local;
  const Matrix<float> own_z = Matrix<float>::Ones(graph.num_nodes(), 3);
  network.scorer().project(network.weight(), own_z, projections);
  network.forward(graph, pairs, own_z, projections, {}, workspace, local);
  EXPECT_EQ(local, delta);
}

TEST(OrderNetwork, IsLeftOutWhereThereIsTooLittleToLearnFrom) {
  const SmallProblem p(small_tree_cycles(1));
  PGExplainerOptions options = with_order(50);
  options.refine = -1;
  PGExplainer few(options, 2);
  const FitReport report = fit(few, p.model, instances_between(30, 34));
  EXPECT_TRUE(few.fitted().order.empty());
  EXPECT_EQ(report.refine, 0);
  PGExplainer paper(quick_options("paper"), 2);
  fit(paper, p.model, instances_between(0, 12));
  EXPECT_TRUE(paper.fitted().order.empty());
  EXPECT_EQ(paper.refine_steps(), 0);
}

TEST(OrderNetwork, ChoosesStepsForAnExplainerWithoutOne) {
  const SmallProblem p(small_tree_cycles(1));
  PGExplainerOptions options = with_order(0);
  options.refine = -1;
  PGExplainer explainer(options, 2);
  const FitReport report = fit(explainer, p.model, instances_between(0, 20));
  EXPECT_TRUE(explainer.fitted().order.empty());
  EXPECT_EQ(report.refine, explainer.refine_steps());
  explainer.set_refine(3);
  EXPECT_EQ(explainer.refine_steps(), 3);
  explainer.set_refine(-1);
  EXPECT_EQ(explainer.refine_steps(), report.refine);
}

TEST(OrderNetwork, ServesLinks) {
  const Dataset dataset = small_tree_cycles(1);
  const SmallProblem nodes(small_tree_cycles(1));
  const ExplainedModel model(make_link_gnn(nodes.gnn), nodes.dataset);
  std::vector<Instance> links;
  for (std::int64_t id = 0; id < 10; ++id) links.push_back({id, id + 12});
  PGExplainer explainer(with_order(20), 1);
  fit(explainer, model, links);
  EXPECT_FALSE(explainer.fitted().order.empty());
  for (const Explanation& one : explain(explainer, model, links))
    EXPECT_EQ(one.score.size(), one.edges.size());
}

TEST(OrderNetwork, IsRefusedForAModelOfAnotherDepth) {
  const SmallProblem deep(small_tree_cycles(1)), shallow(small_tree_cycles(1), {9, 9});
  PGExplainer explainer(with_order(5), 1);
  fit(explainer, deep.model, instances_between(0, 12));
  expect_bad_input([&] { explain(explainer, shallow.model, instances_between(0, 2)); },
                   {"3 hops", "2", "another model"});
}

TEST(OrderNetwork, LessonsAreEvenlyChosenAndBounded) {
  std::vector<std::size_t> train(1000);
  for (std::size_t i = 0; i < train.size(); ++i) train[i] = 2 * i;
  const std::vector<std::size_t> some = choose_lessons(train);
  EXPECT_EQ(some.size(), 128U);
  EXPECT_EQ(some.front(), 0U);
  EXPECT_GT(some.back(), 1900U);
  EXPECT_EQ(choose_lessons(std::span(train).first(5)).size(), 5U);
  EXPECT_TRUE(choose_lessons({}).empty());
}

}  // namespace
}  // namespace pgexplainer
