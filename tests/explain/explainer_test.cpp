#include "pgexplainer/explain/explainer.h"

#include <gtest/gtest.h>

#include <atomic>

#include "pgexplainer/core/index.h"
#include "pgexplainer/explain/methods.h"
#include "pgexplainer/io/explanation_json.h"
#include "pgexplainer/parallel/in_process_communicator.h"
#include "tests/explain/small_problem.h"
#include "tests/support/expect_error.h"

namespace pgexplainer {
namespace {

std::vector<Instance> all_nodes(const Dataset& dataset) {
  std::vector<Instance> instances;
  for (NodeId node = 0; node < dataset.graph.num_nodes(); ++node) instances.push_back({node});
  return instances;
}

std::string encode(std::size_t, Explanation&& explanation) {
  return explanation_json(explanation, "x");
}

// Whatever the network: which instances are explained beside it must not change an explanation.
TEST(ExplainedModel, EmbedsANeighbourhoodWithTheBitsOfTheWholeGraph) {
  Dataset dataset = small_tree_cycles(1);
  RandomStream random(3, RandomPurpose::test);
  for (Index i = 0; i < dataset.x.size(); ++i)
    dataset.x.data()[i] = static_cast<float>(random.normal());
  for (const char* arch : {"paper", "gcn", "graph", "sage", "gin"})
    for (const char* norm : {"none", "batch", "layer", "l2"}) {
      ArchitectureOptions options;
      options.arch = arch;
      if (options.arch != "paper") options.norm = norm;
      options.hidden = {7, 7, 7};
      const std::shared_ptr<const Gnn> gnn = make_gnn(
          std::make_shared<NativeGnn<float>>(make_architecture(options, dataset), "test", 3));
      const ExplainedModel model(gnn, dataset);
      const auto run = gnn->new_run();
      const Matrix<float> whole = model.embed(Embedding::classifier_input);
      InstanceGraph graph;
      for (NodeId node = 0; node < dataset.graph.num_nodes(); node += 7) {
        model.new_cutter().cut({node}, graph);
        const Matrix<float>& z = model.embed_around({node}, Embedding::classifier_input, *run);
        ASSERT_EQ(z.rows(), graph.num_nodes());
        for (Index i = 0; i < z.rows(); ++i)
          EXPECT_EQ(Matrix<float>(z.row(i)), Matrix<float>(whole.row(graph.nodes[at(i)])))
              << arch << " " << norm << " " << node;
      }
    }
}

// Call after call, on pools of other sizes: the same bytes as all at once.
TEST(PreparedExplainer, GivesEveryTimeWhatExplainGivesOnce) {
  const SmallProblem p(small_tree_cycles(1));
  const std::vector<Instance> instances = all_nodes(p.dataset);
  ThreadPool one(1), two(2);
  PGExplainerOptions options;
  options.epochs = 2;
  options.restarts = 0;
  PGExplainer explainer(options, 1);
  explainer.fit(p.model, instances, one, {});
  std::vector<std::string> expected;
  for (const Explanation& each : explain(p.model, explainer, instances, {}, one))
    expected.push_back(explanation_json(each, "x"));
  PreparedExplainer prepared(p.model, explainer, instances, one);
  const auto compare = [&](std::span<const Instance> some, std::size_t first, ThreadPool& pool) {
    prepared.explain(some, {}, pool, [&](std::size_t i, Explanation&& explanation) {
      EXPECT_EQ(explanation_json(explanation, "x"), expected[first + i]);
    });
  };
  compare(std::span(instances).subspan(3, 1), 3, one);
  compare(instances, 0, two);
  compare(std::span(instances).subspan(5, 2), 5, one);
  EXPECT_EQ(explanation_json(prepared.explain(instances[4]), "x"), expected[4]);
}

// The slow reference: one explanation after the other.
TEST(ExplainStream, GivesTheSameBytesForAnyNumberOfThreadsAndRanks) {
  const SmallProblem p(small_tree_cycles(1));
  const std::vector<Instance> instances = all_nodes(p.dataset);
  ThreadPool one(1);
  std::string expected;
  ExplainTotals counted;
  const auto reference = make_explainer("grad", 0);
  for (Explanation& each : explain(p.model, *reference, instances, {}, one)) {
    counted.kept_class +=
        each.prediction.predicted_class() == each.prediction_kept.predicted_class() ? 1 : 0;
    expected += explanation_json(each, "x");
  }
  for (const int ranks : {1, 2, 3, 4})
    for (const int threads : {1, 2}) {
      std::string bytes;
      ExplainTotals totals;
      run_ranks(ranks, [&](Communicator& communicator) {
        ThreadPool pool(threads);
        const auto explainer = make_explainer("grad", 0);
        explain(p.model, *explainer, instances, {}, Workers(pool, communicator), encode,
                [&](std::string_view some, const ExplainTotals& now) {
                  EXPECT_TRUE(communicator.is_root());
                  bytes += some;
                  totals = now;
                });
      });
      EXPECT_EQ(bytes, expected) << ranks << " ranks";
      EXPECT_EQ(totals.instances, static_cast<std::int64_t>(instances.size()));
      EXPECT_EQ(totals.kept_class, counted.kept_class);
      EXPECT_EQ(totals.sampled, 0);
    }
}

// Whoever fails, in explaining, taking or by Ctrl-C: all ranks hear of it, and none waits.
TEST(ExplainStream, EveryRankThrowsWhatOneThrows) {
  const SmallProblem p(small_tree_cycles(1));
  const std::vector<Instance> instances = all_nodes(p.dataset);
  const auto run = [&](const std::string& where, std::size_t position) {
    std::atomic<int> thrown = 0;
    run_ranks(3, [&](Communicator& communicator) {
      ThreadPool pool(1);
      const auto explainer = make_explainer("random", 0);
      try {
        explain(
            p.model, *explainer, instances, {}, Workers(pool, communicator),
            [&](std::size_t i, Explanation&& explanation) {
              if (where == "encode" && i == position) throw_bad_input("trouble at {}", i);
              return encode(i, std::move(explanation));
            },
            [&](std::string_view, const ExplainTotals&) {
              if (where == "take") throw_bad_input("trouble of the disk");
            },
            [&](std::int64_t, std::int64_t, std::string_view) {
              return where != "progress" || communicator.rank() != 2;
            });
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find(where == "progress" ? "interrupted" : "trouble"),
                  std::string::npos);
        ++thrown;
      }
    });
    EXPECT_EQ(thrown, 3) << where << " " << position;
  };
  run("encode", 0);
  run("encode", 37);
  run("encode", instances.size() - 1);
  run("take", 0);
  run("progress", 0);
}

TEST(ExplainStream, CountsSampledInstances) {
  const Dataset dataset = small_tree_cycles(1);
  CutOptions cut;
  cut.max_edges = 12;
  cut.num_neighbors = {1, 1, 1};
  const SmallProblem p(dataset);
  const ExplainedModel model(p.gnn, p.dataset, cut);
  const std::vector<Instance> instances = all_nodes(dataset);
  ThreadPool one(1), two(2);
  const auto bytes = [&](ThreadPool& pool, ExplainTotals& totals) {
    std::string all;
    const auto explainer = make_explainer("grad", 0);
    explain(model, *explainer, instances, {}, Workers(pool), encode,
            [&](std::string_view some, const ExplainTotals& now) {
              all += some;
              totals = now;
            });
    return all;
  };
  ExplainTotals of_one, of_two;
  EXPECT_EQ(bytes(one, of_one), bytes(two, of_two));
  EXPECT_GT(of_one.sampled, 0);
  EXPECT_LT(of_one.sampled, of_one.instances);
  EXPECT_EQ(of_one.sampled, of_two.sampled);
}

TEST(Explanation, KeepsTheSelectedEdgesAndTheirEnds) {
  const SmallProblem p(small_tree_cycles(1));
  ThreadPool pool(1);
  const auto explainer = make_explainer("random", 0);
  ExplainOptions options;
  options.selection.top_k = 3;
  for (Explanation& each : explain(p.model, *explainer, all_nodes(p.dataset), options, pool)) {
    Explanation kept = each;
    keep_selected(kept);
    std::vector<EdgeId> selected;
    for (std::size_t e = 0; e < each.edges.size(); ++e)
      if (each.selected[e]) selected.push_back(each.edges[e]);
    EXPECT_EQ(kept.edges, selected);
    EXPECT_EQ(kept.selected, std::vector<std::uint8_t>(selected.size(), 1));
    EXPECT_EQ(std::count(kept.nodes.begin(), kept.nodes.end(), each.targets[0]), 1);
    for (std::size_t e = 0; e < kept.edges.size(); ++e) {
      EXPECT_EQ(p.dataset.graph.source(kept.edges[e]), kept.source[e]);
      EXPECT_EQ(p.dataset.graph.target(kept.edges[e]), kept.target[e]);
      EXPECT_EQ(kept.edges[at(kept.reverse[e])], p.dataset.graph.reverse_edge(kept.edges[e]));
      EXPECT_EQ(std::count(kept.nodes.begin(), kept.nodes.end(), kept.source[e]), 1);
      const auto before = std::find(each.edges.begin(), each.edges.end(), kept.edges[e]);
      EXPECT_EQ(kept.score[e], each.score[at(before - each.edges.begin())]);
    }
    for (const NodeId node : kept.nodes)
      EXPECT_TRUE(node == each.targets[0] ||
                  std::count(kept.source.begin(), kept.source.end(), node) > 0);
  }
}

}  // namespace
}  // namespace pgexplainer
