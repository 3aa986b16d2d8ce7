#include "pgexplainer/explain/pg_explainer.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <tuple>

#include "pgexplainer/core/index.h"
#include "pgexplainer/core/random.h"
#include "pgexplainer/explain/concrete.h"
#include "pgexplainer/explain/gradient_saliency.h"
#include "pgexplainer/explain/node_gradient.h"
#include "pgexplainer/explain/paper_objective.h"
#include "pgexplainer/model/link_gnn.h"
#include "pgexplainer/model/trainer.h"
#include "pgexplainer/nn/adam.h"
#include "pgexplainer/nn/softmax_cross_entropy.h"
#include "pgexplainer/parallel/in_process_communicator.h"
#include "tests/explain/small_problem.h"
#include "tests/support/expect_error.h"
#include "tests/support/random_explanation.h"

namespace pgexplainer {
namespace {

bool all_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

bool warns_of(const FitReport& report, const std::string& words) {
  for (const std::string& warning : report.warnings)
    if (warning.find(words) != std::string::npos) return true;
  return false;
}

/// No edges, no labels; constant features.
Dataset node_dataset(NodeId nodes, const std::vector<NodeId>& source,
                     const std::vector<NodeId>& target) {
  Dataset dataset;
  dataset.name = "hand-made";
  dataset.graph = Graph(nodes, source, target);
  dataset.graph_ptr = {0, nodes};
  dataset.edge_ptr = {0, dataset.graph.num_edges()};
  dataset.x = Matrix<float>::Ones(nodes, 3);
  dataset.y.assign(at(nodes), 0);
  dataset.y.back() = 1;
  return dataset;
}

class AnyObjective
    : public testing::TestWithParam<std::tuple<const char*, const char*, std::int64_t>> {
 protected:
  [[nodiscard]] static std::unique_ptr<SmallProblem> problem() {
    return std::make_unique<SmallProblem>(std::string(std::get<1>(GetParam())) == "nodes"
                                              ? small_tree_cycles(1)
                                              : small_ba_2motifs(1));
  }
  [[nodiscard]] static PGExplainerOptions options() {
    PGExplainerOptions options = quick_options(std::get<0>(GetParam()));
    options.batch_size = std::get<2>(GetParam());
    options.samples = 2;
    options.connectivity = 0.1;
    options.features = true;
    return options;
  }
};

TEST_P(AnyObjective, GivesTheSameBitsForAnyNumberOfThreads) {
  const auto p = problem();
  const std::vector<Instance> instances = instances_between(0, 11);
  PGExplainer first(options(), 5);
  const FitReport expected = fit(first, p->model, instances, 1);
  const std::vector<Explanation> explained = explain(first, p->model, instances, 1);
  for (const int threads : {2, 3}) {
    PGExplainer again(options(), 5);
    EXPECT_EQ(fit(again, p->model, instances, threads).loss, expected.loss);
    EXPECT_TRUE(same_floats(again.fitted().theta, first.fitted().theta));
    EXPECT_TRUE(same_floats(again.fitted().order, first.fitted().order));
    EXPECT_EQ(again.fitted().refine, first.fitted().refine);
    EXPECT_TRUE(same_floats(again.fitted().feature_logits, first.fitted().feature_logits));
    const std::vector<Explanation> others = explain(again, p->model, instances, threads);
    ASSERT_EQ(others.size(), explained.size());
    for (std::size_t i = 0; i < others.size(); ++i)
      expect_same_explanation(others[i], explained[i]);
  }
  EXPECT_FALSE(warns_of(expected, "same score"));
  PGExplainer other_seed(options(), 6);
  fit(other_seed, p->model, instances);
  EXPECT_NE(other_seed.fitted().theta, first.fitted().theta);
}

TEST_P(AnyObjective, GivesTheSameBitsForAnyNumberOfRanks) {
  const auto p = problem();
  const std::vector<Instance> instances = instances_between(0, 12);
  // Some instances are held out, some are trained on; widths fill no vector.
  PGExplainerOptions o = options();
  o.hidden = {7, 5};
  o.holdout = 0.3;
  o.patience = 2;
  o.restarts = 1;
  for (const bool features : {false, true}) {
    o.features = features;
    PGExplainer alone(o, 5);
    const FitReport expected = fit(alone, p->model, instances, 1);
    for (const int ranks : {1, 2, 3, 4, 9})
      for (const int threads : {1, 2})
        run_ranks(ranks, [&](Communicator& communicator) {
          ThreadPool pool(threads);
          PGExplainer together(o, 5);
          const FitReport report = together.fit(p->model, instances, {pool, communicator}, {});
          EXPECT_TRUE(same_floats(together.fitted().theta, alone.fitted().theta)) << ranks;
          EXPECT_TRUE(same_floats(together.fitted().order, alone.fitted().order)) << ranks;
          EXPECT_EQ(report.refine, expected.refine);
          EXPECT_TRUE(same_floats(together.fitted().feature_logits, alone.fitted().feature_logits));
          EXPECT_EQ(report.loss, expected.loss);
          EXPECT_EQ(report.necessity, expected.necessity);
          EXPECT_EQ(report.sharpened, expected.sharpened);
          EXPECT_EQ(to_json(*report.verdict), to_json(*expected.verdict));
          EXPECT_EQ(report.warnings, expected.warnings);
          EXPECT_EQ(report.restarts, expected.restarts);
        });
  }
}

INSTANTIATE_TEST_SUITE_P(PGExplainer, AnyObjective,
                         testing::Combine(testing::Values("ranking", "paper"),
                                          testing::Values("nodes", "graphs"),
                                          testing::Values(0, 3)),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param)) + "_" +
                                  std::get<1>(test.param) +
                                  (std::get<2>(test.param) > 0 ? "_batches" : "_whole");
                         });

/// The network of one node on the whole graph, in double; for values only.
struct SlowNetwork {
  const NativeGnn<double>& network;
  const GnnInput<double>& input;
  const InstanceGraph& instance;
  std::vector<double> all = {};
  NativeGnn<double>::Workspace workspace = {};

  std::span<const double> forward(std::span<const double> mask) {
    all.assign(at(input.graph.num_edges()), 1.0);
    for (std::size_t e = 0; e < mask.size(); ++e) all[at(instance.edges[e])] = mask[e];
    const Matrix<double>& rows = network.forward(input, all, {}, workspace);
    return {rows.data() + instance.instance.id * rows.cols(), at(rows.cols())};
  }
  void backward(std::span<const double>, std::span<double>) {}
};

// Three steps of Adam on central differences of the objective of all instances, in double. Noise is
// off (sample_bias = 0.5), so that nothing of how it is drawn is needed here.
TEST(PGExplainer, StepsFollowTheGradientOfTheWholeObjective) {
  const Dataset dataset = small_tree_cycles(1);
  const auto network = SmallProblem::random_network(dataset, {6, 6, 6}, 3);
  const SmallProblem p(dataset, make_gnn(network));
  const std::vector<Instance> instances = {{31}, {40}, {3}, {55}};  // too few to hold any out

  PGExplainerOptions options = quick_options("paper");
  options.hidden = {4};
  options.epochs = 3;
  options.lr = 0;
  options.tau_start = 4;
  options.tau_end = 1;
  options.sample_bias = 0.5;
  options.connectivity = 0.2;
  PGExplainer start(options, 5);
  fit(start, p.model, instances);
  options.lr = 0.01;
  PGExplainer moved(options, 5);
  fit(moved, p.model, instances);

  NativeGnn<double> slow(network->spec(), "double", 0);
  std::copy(network->theta().begin(), network->theta().end(), slow.theta().begin());
  const Matrix<double> x = dataset.x.cast<double>();
  GnnInput<double> input;
  input.graph = dataset.graph.adjacency();
  input.x = &x;
  NativeGnn<double>::Workspace workspace;
  const Matrix<double> logits = slow.forward(input, {}, {}, workspace);
  const Matrix<double> z = slow.encode(input, {}, {}, Embedding::all_layers, workspace);
  const Matrix<double> probability = softmax(logits);
  const EdgeScorer<double> scorer(z.cols(), 1, options.hidden);
  PaperWeights weights;
  weights.size = options.size;
  weights.entropy = options.entropy;
  weights.connectivity = options.connectivity;

  std::vector<double> theta(start.fitted().theta.begin(), start.fitted().theta.end());
  const auto loss = [&](double tau) {
    Matrix<double> weight, projections;
    scorer.transpose_first_weight(theta.data(), weight);
    scorer.project(weight, z, projections);
    EdgeScorer<double>::Workspace scratch;
    double sum = 0;
    for (const Instance& instance : instances) {
      InstanceGraph graph;
      p.model.new_cutter().cut(instance, graph);
      const EdgePairs pairs(graph.reverse);
      const auto omega =
          scorer.forward(theta.data(), weight, z, projections,
                         {graph.source, graph.target, graph.targets, graph.nodes}, scratch);
      const std::vector<double> noise(omega.size(), 0.0);
      std::vector<double> unused(omega.size(), 0.0);
      SlowNetwork run{slow, input, graph};
      const double* row = probability.data() + instance.id * probability.cols();
      sum += paper_loss<double>(
          weights,
          {graph.source, graph.num_nodes(), &pairs, std::span(row, at(probability.cols()))}, omega,
          noise, tau, 1.0, run, unused);
    }
    return sum / static_cast<double>(instances.size());
  };

  AdamState<double> adam;
  const std::vector<std::uint8_t> trainable(theta.size(), 1);
  std::vector<double> gradient(theta.size());
  std::vector<std::uint8_t> clear(theta.size(), 1);  // Adam magnifies gradients that are rounding
  for (int epoch = 0; epoch < 3; ++epoch) {
    const double tau = 4.0 * std::pow(0.25, epoch / 3.0);
    for (std::size_t i = 0; i < theta.size(); ++i) {
      const double kept = theta[i];
      theta[i] = kept + 1e-6;
      const double above = loss(tau);
      theta[i] = kept - 1e-6;
      gradient[i] = (above - loss(tau)) / 2e-6;
      theta[i] = kept;
      if (std::abs(gradient[i]) < 1e-4) clear[i] = 0;
    }
    adam_step<double>({0.01}, gradient, trainable, adam, theta);
  }
  std::size_t compared = 0;
  for (std::size_t i = 0; i < theta.size(); ++i) {
    if (!clear[i]) continue;
    ++compared;
    EXPECT_NEAR(static_cast<double>(moved.fitted().theta[i]), theta[i], 3e-4) << i;
  }
  EXPECT_GT(compared, theta.size() / 3);
}

TEST(PGExplainer, BatchOfEverythingIsNoBatch) {
  const SmallProblem p(small_tree_cycles(1));
  const auto theta = [&](std::int64_t batch_size) {
    PGExplainerOptions options = quick_options();
    options.batch_size = batch_size;
    options.holdout = 0.0;
    PGExplainer explainer(options, 1);
    fit(explainer, p.model, instances_between(31, 41));
    return explainer.fitted().theta;
  };
  EXPECT_EQ(theta(10), theta(0));
  EXPECT_EQ(theta(11), theta(0));
  EXPECT_NE(theta(3), theta(0));
}

TEST(PGExplainer, ExplainsWhatItWasNotFittedOn) {
  const SmallProblem p(small_tree_cycles(1));
  PGExplainer explainer(quick_options(), 2);
  fit(explainer, p.model, instances_between(31, 51));
  const std::vector<float> theta = explainer.fitted().theta;
  const std::vector<Explanation> before = explain(explainer, p.model, instances_between(51, 67));
  for (const Explanation& explanation : before) {
    EXPECT_FALSE(explanation.edges.empty());
    EXPECT_EQ(explanation.score.size(), explanation.edges.size());
    EXPECT_TRUE(all_finite(explanation.score));
  }

  const SmallProblem other(small_tree_cycles(9), p.gnn);
  ASSERT_FALSE(std::ranges::equal(other.dataset.graph.sources(), p.dataset.graph.sources()));
  for (const Explanation& explanation : explain(explainer, other.model, instances_between(0, 20))) {
    EXPECT_EQ(explanation.score.size(), explanation.edges.size());
    EXPECT_TRUE(all_finite(explanation.score));
  }
  EXPECT_EQ(explainer.fitted().theta, theta);
  const std::vector<Explanation> after = explain(explainer, p.model, instances_between(51, 67));
  for (std::size_t i = 0; i < before.size(); ++i) expect_same_explanation(after[i], before[i]);
}

TEST(PGExplainer, ScoresAreOmegaOrItsSigmoid) {
  const SmallProblem p(small_tree_cycles(1));
  PGExplainerOptions options = quick_options();
  options.embedding = "classifier-input";  // scores whose sigmoid rounds alike in vectors and alone
  PGExplainer omega(options, 2);
  fit(omega, p.model, instances_between(31, 41));
  options.score = "sigmoid";
  PGExplainer sigmoids(options, 2, omega.fitted());
  ThreadPool pool(1);
  omega.prepare(p.model, {}, pool);
  sigmoids.prepare(p.model, instances_between(31, 67), pool);
  InstanceGraph graph;
  p.model.new_cutter().cut({40}, graph);
  const auto run = p.gnn->new_run();
  const std::vector<float> raw = omega.score(graph, *run).edge;
  const std::vector<float> mapped = sigmoids.score(graph, *run).edge;
  ASSERT_EQ(raw.size(), at(graph.num_edges()));
  for (std::size_t e = 0; e < raw.size(); ++e) EXPECT_EQ(mapped[e], sigmoid(raw[e]));
}

// Alone, an instance's nodes are embedded from their neighbourhood or, where that is most of the
// graph, as some rows of it; a few share the embeddings of all nodes; many also share the
// projections.
TEST(PGExplainer, AnInstanceScoresTheSameAloneOrAmongMany) {
  std::vector<NodeId> source, target;
  const auto join = [&](NodeId a, NodeId b) {
    source.insert(source.end(), {a, b});
    target.insert(target.end(), {b, a});
  };
  for (NodeId i = 0; i < 400; ++i) join(i, i + 1);  // a long path,
  for (NodeId i = 0; i < 150; ++i) join(i, 401);    // one end of which hangs on a hub
  Dataset dataset = node_dataset(402, source, target);
  RandomStream random(3, RandomPurpose::test);
  for (Index i = 0; i < dataset.x.size(); ++i)
    dataset.x.data()[i] = static_cast<float>(random.normal());
  const SmallProblem p(dataset);
  for (const char* embedding : {"all-layers", "classifier-input", "last-convolution"}) {
    PGExplainerOptions options = quick_options();
    options.embedding = embedding;
    PGExplainer explainer(options, 2);
    fit(explainer, p.model, instances_between(290, 300));
    const std::vector<Instance> few = {{300}, {10}};
    ASSERT_TRUE(p.model.is_local(few[0]));
    ASSERT_FALSE(p.model.is_local(few[1]));
    const auto run = p.gnn->new_run();
    ThreadPool pool(1);
    for (const Instance& instance : few) {
      InstanceGraph graph;
      p.model.new_cutter().cut(instance, graph);
      const auto score = [&](std::span<const Instance> beside) {
        explainer.prepare(p.model, beside, pool);
        return explainer.score(graph, *run).edge;
      };
      const std::vector<float> alone = score(std::span(&instance, 1));
      EXPECT_EQ(score(few), alone);
      EXPECT_EQ(score(instances_between(270, 320)), alone);
    }
  }
}

TEST(PGExplainer, ExplainsInstancesWithoutEdges) {
  const SmallProblem p(node_dataset(4, {0, 1, 1, 2}, {1, 0, 2, 1}));
  for (const char* objective : {"ranking", "paper"}) {
    PGExplainer explainer(quick_options(objective), 1);
    fit(explainer, p.model, instances_between(0, 4));
    const std::vector<Explanation> explained = explain(explainer, p.model, instances_between(0, 4));
    EXPECT_TRUE(explained[3].score.empty());
    EXPECT_TRUE(explained[3].selected.empty());
    EXPECT_EQ(explained[3].nodes, std::vector<NodeId>{3});
    EXPECT_EQ(explained[3].prediction.probability, explained[3].prediction_kept.probability);
    EXPECT_EQ(explained[0].score.size(), 4U);
    EXPECT_TRUE(all_finite(explainer.fitted().theta));
  }
}

TEST(PGExplainer, RefusesPopulationsWithNothingToLearn) {
  const SmallProblem p(node_dataset(4, {0, 1}, {1, 0}));
  PGExplainer explainer(quick_options(), 1);
  expect_bad_input([&] { fit(explainer, p.model, instances_between(2, 4)); },
                   {"none of the 2 instances has an edge"});
  expect_bad_input([&] { fit(explainer, p.model, {}); }, {"no instances"});
  expect_bad_input([&] { fit(explainer, p.model, {{4}}); }, {"4"});
  expect_bad_input([&] { fit(explainer, p.model, {{0}, {0, 1}}); }, {"links", "nodes"});
  expect_bad_input([&] { explain(explainer, p.model, {{0}}); }, {"has not been fitted"});
}

TEST(PGExplainer, RefusesAnotherModel) {
  const SmallProblem p(small_tree_cycles(1));
  PGExplainer explainer(quick_options(), 1);
  fit(explainer, p.model, instances_between(31, 41));
  const SmallProblem wider(small_tree_cycles(1), {7, 7, 7});
  expect_bad_input([&] { explain(explainer, wider.model, {{31}}); },
                   {"width 18", "21", "another model"});
  const SmallProblem graphs(small_ba_2motifs(1));
  expect_bad_input([&] { explain(explainer, graphs.model, {{0}}); }, {"nodes", "graphs"});
  expect_bad_input([&] { fit(explainer, graphs.model, {{0}}); }, {"nodes", "graphs"});
  PGExplainer::Fitted other_features = explainer.fitted();
  other_features.feature_logits.assign(4, 0.0F);
  PGExplainer with_features(quick_options(), 1, other_features);
  expect_bad_input([&] { explain(with_features, p.model, {{31}}); },
                   {"4 features", "10", "another model"});
  PGExplainer::Fitted damaged = explainer.fitted();
  damaged.theta.pop_back();
  expect_bad_input([&] { PGExplainer(quick_options(), 1, damaged); }, {"parameters"});
}

TEST(PGExplainerOptions, UnknownWordsAndBadNumbersAreRefused) {
  expect_bad_input([] { preset("papr"); }, {"papr", "mean-size"});
  const auto refused = [](const auto& change, const std::vector<std::string>& words) {
    PGExplainerOptions options;
    change(options);
    expect_bad_input([&] { PGExplainer(options, 1); }, words);
  };
  using O = PGExplainerOptions;
  refused([](O& o) { o.objective = "rank"; }, {"objective", "rank", "ranking", "paper"});
  refused([](O& o) { o.embedding = "x"; }, {"embedding"});
  refused([](O& o) { o.score = "x"; }, {"score"});
  refused([](O& o) { o.target = "x"; }, {"target"});
  refused([](O& o) { o.schedule = "x"; }, {"schedule"});
  refused([](O& o) { o.size_term = "x"; }, {"size_term"});
  refused([](O& o) { o.entropy_term = "x"; }, {"entropy_term"});
  refused([](O& o) { o.connectivity_term = "x"; }, {"connectivity_term"});
  refused([](O& o) { o.reduction = "x"; }, {"reduction"});
  refused([](O& o) { o.epochs = 0; }, {"epochs"});
  refused([](O& o) { o.tau_start = 0; }, {"tau_start"});
  refused([](O& o) { o.lr = std::nan(""); }, {"lr"});
  refused([](O& o) { o.keep_share_min = 0.95; }, {"keep_share_min", "keep_share_max"});
  refused([](O& o) { o.remove_share_max = 0.01; }, {"remove_share_min", "remove_share_max"});
  refused([](O& o) { o.necessity = {}; }, {"necessity", "at least one"});
  refused([](O& o) { o.necessity = {0, -1}; }, {"necessity", "-1"});
  refused([](O& o) { o.hidden = {8, 0}; }, {"hidden"});
}

TEST(PGExplainerOptions, EveryPresetIsValid) {
  for (const std::string& name : preset_names()) EXPECT_NO_THROW(PGExplainer(preset(name), 1));
  EXPECT_EQ(preset("default").objective, "ranking");
  EXPECT_EQ(preset("paper").objective, "paper");
}

TEST(PGExplainer, NeedsLabelsOnlyForTheLabelTarget) {
  Dataset dataset = small_tree_cycles(1);
  const SmallProblem labelled(dataset);
  dataset.y.clear();
  const SmallProblem p(dataset, labelled.gnn);
  PGExplainerOptions options = quick_options("paper");
  PGExplainer soft(options, 1);
  EXPECT_NO_THROW(fit(soft, p.model, instances_between(31, 36)));
  options.target = "label";
  PGExplainer by_label(options, 1);
  expect_bad_input([&] { fit(by_label, p.model, instances_between(31, 36)); }, {"label", "soft"});
  EXPECT_NO_THROW(fit(by_label, labelled.model, instances_between(31, 36)));
  options.objective = "ranking";  // does not read the target
  PGExplainer ranking(options, 1);
  EXPECT_NO_THROW(fit(ranking, p.model, instances_between(31, 36)));
}

TEST(PGExplainer, ExplainsPresentAndAbsentLinks) {
  const Dataset dataset = small_tree_cycles(1);
  const SmallProblem nodes(dataset);
  const SmallProblem links(dataset, make_link_gnn(nodes.gnn));
  const std::vector<Instance> instances = {{0, 1}, {1, 3}, {31, 32}, {33, 34}, {5, 40}, {2, 60}};
  for (const char* objective : {"ranking", "paper"}) {
    PGExplainer explainer(quick_options(objective), 1);
    fit(explainer, links.model, instances, 2);
    EXPECT_EQ(explainer.fitted().num_targets, 2);
    const std::vector<Explanation> explained = explain(explainer, links.model, instances, 2);
    for (std::size_t i = 0; i < instances.size(); ++i) {
      EXPECT_EQ(explained[i].targets,
                (std::vector<NodeId>{static_cast<NodeId>(instances[i].id),
                                     static_cast<NodeId>(instances[i].second)}));
      EXPECT_FALSE(explained[i].score.empty());
      EXPECT_TRUE(all_finite(explained[i].score));
      EXPECT_EQ(explained[i].prediction.probability.size(), 2U);
    }
    expect_bad_input([&] { explain(explainer, nodes.model, {{31}}); }, {"fitted for 2"});
  }
  // A node's label says nothing of a link.
  PGExplainerOptions options = quick_options("paper");
  options.target = "label";
  PGExplainer by_label(options, 1);
  expect_bad_input([&] { fit(by_label, links.model, instances); }, {"label", "link"});
}

/// Labels are the sign of feature 2; all other features are noise.
Dataset one_informative_feature() {
  Dataset dataset;
  dataset.name = "one feature";
  constexpr NodeId kNodes = 60;
  RandomStream random(4, RandomPurpose::test);
  std::vector<NodeId> source, target;
  for (NodeId v = 0; v < kNodes; ++v) {
    source.insert(source.end(), {v, (v + 1) % kNodes});
    target.insert(target.end(), {(v + 1) % kNodes, v});
  }
  dataset.graph = Graph(kNodes, source, target);
  dataset.graph_ptr = {0, kNodes};
  dataset.edge_ptr = {0, dataset.graph.num_edges()};
  dataset.x.resize(kNodes, 5);
  for (NodeId v = 0; v < kNodes; ++v) {
    for (Index f = 0; f < 5; ++f) dataset.x(v, f) = static_cast<float>(random.normal());
    const bool positive = (v / 10) % 2 == 1;  // stretches of the ring, so that neighbours agree
    dataset.x(v, 2) = positive ? 1.0F : -1.0F;
    dataset.y.push_back(positive ? 1 : 0);
  }
  split_80_10_10(dataset, 1);
  return dataset;
}

TEST(PGExplainer, RanksTheInformativeFeatureFirst) {
  const Dataset dataset = one_informative_feature();
  ArchitectureOptions architecture;
  architecture.arch = "gcn";
  architecture.hidden = {16};
  const auto network =
      std::make_shared<NativeGnn<float>>(make_architecture(architecture, dataset), "test", 1);
  TrainOptions training;
  training.epochs = 150;
  training.lr = 0.02;
  training.select = "last";
  Trainer trainer(dataset, network, training, 1, 1);
  while (!trainer.finished()) trainer.run_epoch();
  trainer.finish();
  ASSERT_GT(trainer.state().history.back().train_accuracy, 0.9);

  const SmallProblem p(dataset, make_gnn(network));
  for (const std::uint64_t seed : {1U, 2U}) {
    PGExplainerOptions options = quick_options();
    options.features = true;
    PGExplainer explainer(options, seed);
    fit(explainer, p.model, instances_between(0, 60), 2);
    const std::vector<Explanation> explained = explain(explainer, p.model, {{7}});
    const std::vector<float>& score = explained.front().feature_score;
    ASSERT_EQ(score.size(), 5U);
    EXPECT_EQ(std::max_element(score.begin(), score.end()) - score.begin(), 2);
  }
  PGExplainer without(quick_options(), 1);
  fit(without, p.model, instances_between(0, 10));
  EXPECT_TRUE(explain(without, p.model, {{7}}).front().feature_score.empty());
}

/// The gap over sizes up to 70 %, sum over the instances.
double small_gap(Explainer& method, const ExplainedModel& model,
                 const std::vector<Instance>& instances) {
  ThreadPool pool(1);
  const std::vector<Explanation> explained = explain(model, method, instances, {}, pool);
  return judge(model, explained, pool).own.small_gap;
}

// With nothing held out all are trained on and judged, so that the choice can be repeated here.
TEST(PGExplainer, TakesTheFirstNecessityNearlyAsFaithfulAsGradientsOrTheBest) {
  const std::vector<double> weights = {0.0, 0.3, 3.0};
  int first_enough = 0, best_of_all = 0;
  for (std::uint64_t network = 0; network < 12; ++network) {
    const SmallProblem p(small_tree_cycles(1), {6, 6, 6}, network);
    const std::vector<Instance> instances = instances_between(31, 41);
    PGExplainerOptions options = quick_options();
    options.order_epochs = 0;  // the order of the explanation network itself
    options.refine = 0;
    options.holdout = 0;
    options.epochs = 20;
    options.lr = 0.05;
    NodeGradient gradient({});
    GradientSaliency grad({});
    const double wanted =
        std::max(small_gap(gradient, p.model, instances), small_gap(grad, p.model, instances)) -
        0.02;
    double expected = 0, most = -2;
    bool enough = false;
    for (const double weight : weights) {
      options.necessity = {weight};
      PGExplainer alone(options, 1);
      fit(alone, p.model, instances);
      const double gap = small_gap(alone, p.model, instances);
      if (enough || gap <= most) continue;
      most = gap;
      expected = weight;
      enough = gap >= wanted;
    }
    (enough ? first_enough : best_of_all) += 1;
    options.necessity = weights;
    PGExplainer chosen(options, 1);
    EXPECT_EQ(fit(chosen, p.model, instances).necessity, expected) << network;
  }
  EXPECT_GT(first_enough, 0);
  EXPECT_GT(best_of_all, 0);
}

TEST(PGExplainer, GoesOnWithWholeEdgesUntilGraphsAreAsFaithfulAsGradients) {
  int enough_before = 0, enough_after = 0;
  for (std::uint64_t network = 0; network < 16; ++network) {
    const SmallProblem p(small_ba_2motifs(1), {6, 6, 6}, network);
    const std::vector<Instance> instances = instances_between(0, 12);
    PGExplainerOptions options = quick_options();
    options.order_epochs = 0;  // the order of the explanation network itself
    options.refine = 0;
    options.holdout = 0;
    options.embedding = "last-layer";  // of all layers masks alone are faithful enough here
    options.lr = 0.02;
    options.necessity = {0};
    NodeGradient gradient({});
    GradientSaliency grad({});
    const double wanted =
        std::max(small_gap(gradient, p.model, instances), small_gap(grad, p.model, instances)) -
        0.02;
    options.sharpen = 0;
    PGExplainer soft(options, 1);
    EXPECT_EQ(fit(soft, p.model, instances).sharpened, 0);
    const double before = small_gap(soft, p.model, instances);
    options.sharpen = 10;
    PGExplainer sharp(options, 1);
    const FitReport report = fit(sharp, p.model, instances);
    const double after = small_gap(sharp, p.model, instances);
    EXPECT_GE(after, before) << network;
    if (before >= wanted) {
      EXPECT_EQ(report.sharpened, 0) << network;
      EXPECT_TRUE(same_floats(sharp.fitted().theta, soft.fitted().theta));
      ++enough_before;
    } else {
      EXPECT_EQ(report.sharpened > 0, after > before) << network;
      if (after >= wanted) ++enough_after;
    }
  }
  EXPECT_GT(enough_before, 0);
  EXPECT_GT(enough_after, 0);
}

// What is asked in company and with whole edges concerns graphs alone.
TEST(PGExplainer, FitsNodesWithoutCompanyAndWithMasks) {
  const SmallProblem p(small_tree_cycles(1));
  PGExplainerOptions options = quick_options();
  PGExplainer usual(options, 1);
  EXPECT_EQ(fit(usual, p.model, instances_between(31, 51)).sharpened, 0);
  options.company = false;
  options.sharpen = 0;
  PGExplainer plain(options, 1);
  fit(plain, p.model, instances_between(31, 51));
  EXPECT_TRUE(same_floats(usual.fitted().theta, plain.fitted().theta));
}

// On a ring of equal nodes all embeddings are equal, so no score can differ.
TEST(PGExplainer, WarnsThatAllScoresAreEqualAfterAllRestarts) {
  std::vector<NodeId> source, target;
  for (NodeId v = 0; v < 8; ++v) {
    source.insert(source.end(), {v, (v + 1) % 8});
    target.insert(target.end(), {(v + 1) % 8, v});
  }
  const SmallProblem p(node_dataset(8, source, target));
  PGExplainerOptions options = quick_options();
  options.restarts = 2;
  PGExplainer explainer(options, 1);
  const FitReport report = fit(explainer, p.model, instances_between(0, 8));
  EXPECT_TRUE(warns_of(report, "same score"));
  EXPECT_EQ(report.restarts, 2);
}

TEST(PGExplainer, WarnsOfSaturatedMasks) {
  const SmallProblem p(small_tree_cycles(1));
  PGExplainerOptions options = quick_options();
  options.init_bias = 500;
  PGExplainer explainer(options, 1);
  EXPECT_TRUE(warns_of(fit(explainer, p.model, instances_between(31, 51)), "exactly 0 or 1"));
  options.init_bias = 0;
  PGExplainer usual(options, 1);
  EXPECT_FALSE(warns_of(fit(usual, p.model, instances_between(31, 51)), "exactly 0 or 1"));
}

// Without learning every other start ranks the wrong way round; restarts find one that does not.
TEST(PGExplainer, BeginsAnewWhenTheRankingIsUpsideDown) {
  const SmallProblem p(small_tree_cycles(1));
  PGExplainerOptions options = quick_options();
  options.lr = 0;
  options.epochs = 1;
  options.necessity = {0};
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    options.restarts = 0;
    PGExplainer once(options, seed);
    const FitReport first = fit(once, p.model, instances_between(31, 51));
    if (first.verdict->score() >= 0) continue;
    ++wrong;
    EXPECT_FALSE(first.verdict->reliable);
    options.restarts = 30;
    PGExplainer again(options, seed);
    const FitReport report = fit(again, p.model, instances_between(31, 51));
    EXPECT_GE(report.verdict->score(), 0);
    EXPECT_GT(report.restarts, 0);
    EXPECT_LT(report.restarts, 30);
  }
  EXPECT_GT(wrong, 0);
  EXPECT_LT(wrong, 8);
}

TEST(PGExplainer, JudgesHeldOutInstancesUnlessToldNotTo) {
  const SmallProblem p(small_tree_cycles(1));
  PGExplainerOptions options = quick_options();
  PGExplainer judged(options, 1);
  const FitReport report = fit(judged, p.model, instances_between(31, 51));
  ASSERT_TRUE(report.verdict);
  EXPECT_EQ(report.verdict->instances, 4);  // a fifth
  EXPECT_TRUE(report.held_out);
  PGExplainer of_few(options, 1);
  const FitReport few = fit(of_few, p.model, instances_between(31, 36));
  EXPECT_EQ(few.verdict->instances, 5);
  EXPECT_FALSE(few.held_out);
  options.verdict = false;
  PGExplainer silent(options, 1);
  EXPECT_FALSE(fit(silent, p.model, instances_between(31, 51)).verdict);
  EXPECT_TRUE(same_floats(silent.fitted().theta, judged.fitted().theta));
}

TEST(PGExplainer, StopsWhenAskedAndSaysSo) {
  const SmallProblem p(small_tree_cycles(1));
  PGExplainerOptions options = quick_options();
  options.restarts = 2;
  PGExplainer explainer(options, 1);
  ThreadPool pool(1);
  const FitReport report =
      explainer.fit(p.model, instances_between(31, 41), pool,
                    [](std::int64_t done, std::int64_t, std::string_view) { return done < 2; });
  EXPECT_EQ(report.loss.size(), 2U);
  EXPECT_TRUE(warns_of(report, "stopped"));
  EXPECT_NO_THROW(explain(explainer, p.model, {{31}}));
}

TEST(PGExplainer, AllRanksStopWhenOneIsAsked) {
  const SmallProblem p(small_tree_cycles(1));
  run_ranks(3, [&](Communicator& communicator) {
    PGExplainer explainer(quick_options(), 1);
    ThreadPool pool(1);
    const bool asked = communicator.rank() == 1;
    const FitReport report = explainer.fit(
        p.model, instances_between(31, 41), {pool, communicator},
        [&](std::int64_t done, std::int64_t, std::string_view) { return !asked || done < 2; });
    EXPECT_EQ(report.loss.size(), 2U);
    EXPECT_TRUE(warns_of(report, "stopped"));
  });
}

TEST(PGExplainer, RefusesAPopulationOnlyIfNoRankHasAnEdge) {
  const SmallProblem p(node_dataset(4, {0, 1}, {1, 0}));
  const auto fit_together = [&](const std::vector<Instance>& instances) {
    run_ranks(2, [&](Communicator& communicator) {
      PGExplainer explainer(quick_options(), 1);
      ThreadPool pool(1);
      static_cast<void>(explainer.fit(p.model, instances, {pool, communicator}, {}));
    });
  };
  expect_bad_input([&] { fit_together(instances_between(2, 4)); },
                   {"none of the 2 instances has an edge"});
  EXPECT_NO_THROW(fit_together(instances_between(0, 4)));
}

TEST(PGExplainer, PatienceStopsAFitThatDoesNotImprove) {
  const SmallProblem p(small_tree_cycles(1));
  PGExplainerOptions options = quick_options();
  options.lr = 0;
  options.epochs = 40;
  options.patience = 3;
  PGExplainer explainer(options, 1);
  EXPECT_EQ(fit(explainer, p.model, instances_between(31, 41)).loss.size(), 4U);
}

TEST(PGExplainer, SumsOrAveragesSamplesAndInstances) {
  const SmallProblem p(small_tree_cycles(1));
  const auto first_loss = [&](bool sample_mean, const char* reduction) {
    PGExplainerOptions options = quick_options("paper");
    options.lr = 0;
    options.epochs = 1;
    options.samples = 4;
    options.sample_mean = sample_mean;
    options.reduction = reduction;
    PGExplainer explainer(options, 1);
    return fit(explainer, p.model, instances_between(31, 41)).loss.at(0);
  };
  const double mean = first_loss(true, "mean");
  EXPECT_NEAR(first_loss(false, "mean"), 4 * mean, 1e-4 * mean);
  EXPECT_NEAR(first_loss(true, "sum"), mean, 1e-4 * mean);  // reported per instance all the same
}

}  // namespace
}  // namespace pgexplainer
