#include "apps/cli/explain_bench.h"

#include <algorithm>
#include <future>
#include <numeric>

#include "apps/cli/stopwatch.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/core/random.h"
#include "pgexplainer/datasets/tree_cycles.h"
#include "pgexplainer/model/architecture.h"

namespace pgexplainer::cli {
namespace {

/// Some graphs of a dataset, without what only training and judging need.
Dataset some_graphs(const Dataset& all, std::span<const Instance> instances) {
  Dataset some;
  some.name = all.name;
  some.task = Task::graph;
  some.graph_ptr = {0};
  some.edge_ptr = {0};
  std::vector<NodeId> source, target;
  std::vector<EdgeId> edges;
  for (const Instance& instance : instances) {
    const auto g = at(instance.id);
    const NodeId shift = some.graph_ptr.back() - all.graph_ptr[g];
    for (EdgeId e = all.edge_ptr[g]; e < all.edge_ptr[g + 1]; ++e) {
      source.push_back(all.graph.source(e) + shift);
      target.push_back(all.graph.target(e) + shift);
      edges.push_back(e);
    }
    some.graph_ptr.push_back(all.graph_ptr[g + 1] + shift);
    some.edge_ptr.push_back(static_cast<EdgeId>(source.size()));
    some.y.push_back(all.y.empty() ? 0 : all.y[g]);
  }
  some.graph = Graph(some.graph_ptr.back(), std::move(source), std::move(target));
  some.x.resize(some.graph.num_nodes(), all.x.cols());
  for (std::size_t i = 0; i < instances.size(); ++i)
    some.x.middleRows(some.graph_ptr[i], some.graph_ptr[i + 1] - some.graph_ptr[i]) =
        all.x.middleRows(all.graph_ptr[at(instances[i].id)],
                         some.graph_ptr[i + 1] - some.graph_ptr[i]);
  const auto num_edges = static_cast<Index>(edges.size());
  if (all.edge_attr.cols() > 0) some.edge_attr.resize(num_edges, all.edge_attr.cols());
  for (Index e = 0; e < num_edges; ++e) {
    if (!all.edge_weight.empty()) some.edge_weight.push_back(all.edge_weight[at(edges[at(e)])]);
    if (all.edge_attr.cols() > 0) some.edge_attr.row(e) = all.edge_attr.row(edges[at(e)]);
  }
  return some;
}

/// One pass over the instances.
void explain_all(const ExplainedModel& model, const Explainer& explainer,
                 std::span<const Instance> instances, InstanceCutter& cutter, GnnRun& run,
                 InstanceGraph& graph) {
  const bool structure_alone = explainer.reads_structure_alone();
  for (const Instance& instance : instances) {
    if (structure_alone)
      cutter.cut_structure(instance, graph);
    else
      cutter.cut(instance, graph);
    if (explainer.score(graph, run).edge.size() != graph.edges.size())
      throw_failed("{} left edges of {} without a score", explainer.method(), model.dataset().name);
  }
}

/// As `pgexplainer explain` does it, without writing.
void stream(const ExplainedModel& model, Explainer& explainer, std::span<const Instance> instances,
            ThreadPool& pool) {
  explain(
      model, explainer, instances, {}, Workers(pool),
      [](std::size_t, Explanation&&) { return std::string(); },
      [](std::string_view, const ExplainTotals&) {});
}

}  // namespace

std::vector<Instance> all_instances(const Dataset& dataset) {
  std::vector<Instance> all(static_cast<std::size_t>(dataset.num_instances()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i].id = static_cast<std::int64_t>(i);
  return all;
}

std::vector<double> repeat(int repetitions, const std::function<double()>& seconds) {
  std::vector<double> all(at(repetitions));
  std::generate(all.begin(), all.end(), seconds);
  return all;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double warm_seconds(const ExplainedModel& model, const Explainer& explainer,
                    std::span<const Instance> instances, double at_least) {
  InstanceCutter cutter = model.new_cutter();
  const auto run = model.gnn().new_run();
  InstanceGraph graph;
  explain_all(model, explainer, instances.first(1), cutter, *run, graph);  // reserves memory
  const Stopwatch watch;
  for (std::int64_t passes = 1;; ++passes) {
    explain_all(model, explainer, instances, cutter, *run, graph);
    if (const double seconds = watch.seconds(); seconds >= at_least)
      return seconds / static_cast<double>(passes * static_cast<std::int64_t>(instances.size()));
  }
}

double cold_seconds(const std::shared_ptr<const Gnn>& gnn, const Dataset& dataset,
                    Explainer& explainer, std::span<const Instance> instances, bool together) {
  struct New {  // data just loaded
    const Dataset* dataset;
    std::vector<Instance> instances;
  };
  std::vector<Dataset> graphs;
  std::vector<New> all;
  const std::size_t at_once = together ? instances.size() : 1;
  graphs.reserve(instances.size());
  for (std::size_t i = 0; i < instances.size(); i += at_once) {
    const auto some = instances.subspan(i, at_once);
    if (dataset.task == Task::graph) {
      graphs.push_back(some_graphs(dataset, some));
      all.push_back({&graphs.back(), all_instances(graphs.back())});
    } else {
      all.push_back({&dataset, {some.begin(), some.end()}});
    }
  }
  const auto run = gnn->new_run();  // its memory serves graph after graph, as does the instance's
  InstanceGraph graph;
  ThreadPool one_thread(1);
  const Stopwatch watch;  // one for all: reading the clock takes as long as a part of a small graph
  for (const New& fresh : all) {
    const ExplainedModel model(gnn, *fresh.dataset);
    explainer.prepare(model, fresh.instances, one_thread);
    InstanceCutter cutter = model.new_cutter();
    explain_all(model, explainer, fresh.instances, cutter, *run, graph);
  }
  return watch.seconds() / static_cast<double>(instances.size());
}

double together_seconds(const ExplainedModel& model, PGExplainer& explainer,
                        std::span<const Instance> instances, int threads) {
  ThreadPool pool(threads);
  const Stopwatch watch(false);
  stream(model, explainer, instances, pool);
  return watch.seconds();
}

double apart_seconds(const ExplainedModel& model, const PGExplainer& explainer,
                     std::span<const Instance> instances, int threads) {
  const auto share = [&](int thread) {
    const std::size_t begin = instances.size() * at(thread) / at(threads);
    return instances.subspan(begin, instances.size() * at(thread + 1) / at(threads) - begin);
  };
  std::vector<PGExplainer> explainers(at(threads), explainer);
  const Stopwatch watch(false);
  std::vector<std::future<void>> running(at(threads));
  for (int thread = 0; thread < threads; ++thread)
    running[at(thread)] = std::async(std::launch::async, [&, thread] {
      ThreadPool alone(1);
      stream(model, explainers[at(thread)], share(thread), alone);
    });
  for (std::future<void>& each : running) each.get();
  return watch.seconds();
}

ScalingPoint scaling_point(std::int64_t tree_levels, std::int64_t instances, int repetitions) {
  TreeCyclesOptions sizes;
  const double published = static_cast<double>(sizes.num_motifs) / 511;  // cycles per tree node
  sizes.tree_levels = tree_levels;
  const auto tree_nodes = static_cast<double>((std::int64_t{2} << tree_levels) - 1);
  sizes.num_motifs = static_cast<std::int64_t>(tree_nodes * published);
  const Dataset dataset = generate_tree_cycles(sizes, 1);
  ArchitectureOptions architecture;
  architecture.arch = "sum";
  architecture.norm = "l2";
  const std::shared_ptr<const Gnn> gnn = make_gnn(
      std::make_shared<NativeGnn<float>>(make_architecture(architecture, dataset), "bench", 1));
  const ExplainedModel model(gnn, dataset);
  // What the weights are does not change the time.
  PGExplainer::Fitted fitted;
  fitted.embedding_width = architecture.hidden.back();
  fitted.num_targets = 1;
  PGExplainerOptions options;
  options.embedding = "last-convolution";
  const EdgeScorer<float> scorer(fitted.embedding_width, 1, options.hidden);
  fitted.theta = initial_values<float>(scorer.layout(), 1);
  PGExplainer explainer(options, 1, std::move(fitted));
  const auto nodes = static_cast<std::uint64_t>(dataset.graph.num_nodes());
  ThreadPool pool;
  explainer.prepare(model, all_instances(dataset), pool);
  const auto num_tree_nodes = static_cast<std::int64_t>(tree_nodes);
  RandomStream random(1, RandomPurpose::test);
  std::vector<Instance> scattered, successive;
  for (std::int64_t i = 0; i < instances; ++i) {
    scattered.push_back({static_cast<std::int64_t>(random.below(nodes))});
    const auto cycle_nodes = static_cast<std::int64_t>(nodes) - num_tree_nodes;
    successive.push_back({num_tree_nodes + i % cycle_nodes});
  }
  ScalingPoint point;
  point.nodes = dataset.graph.num_nodes();
  point.edges = dataset.graph.num_edges();
  InstanceCutter cutter = model.new_cutter();
  InstanceGraph graph;
  for (const Instance& instance : scattered) {
    cutter.cut(instance, graph);
    point.edges_per_instance +=
        static_cast<double>(graph.num_edges()) / static_cast<double>(instances);
  }
  const auto seconds = [&](std::span<const Instance> explained, double at_least) {
    // The fastest: the graphs come one after the other, and others may use the machine.
    return std::ranges::min(
        repeat(repetitions, [&] { return warm_seconds(model, explainer, explained, at_least); }));
  };
  constexpr std::size_t kFew = 32;
  point.random_seconds = seconds(scattered, 0);
  point.successive_seconds = seconds(successive, 0);
  point.repeated_seconds = seconds(std::span(scattered).first(kFew), 0.01);
  return point;
}

}  // namespace pgexplainer::cli
