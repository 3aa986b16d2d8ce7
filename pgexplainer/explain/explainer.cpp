#include "pgexplainer/explain/explainer.h"

#include <algorithm>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/nn/softmax_cross_entropy.h"

namespace pgexplainer {
namespace {

/// One thread's memory.
struct Worker {
  InstanceCutter cutter;
  InstanceGraph graph;
  std::unique_ptr<GnnRun> run;

  explicit Worker(const ExplainedModel& model)
      : cutter(model.new_cutter()), run(model.gnn().new_run()) {}
};

Explanation explain_one(const Explainer& explainer, const Instance& instance,
                        const ExplainOptions& options, Worker& worker) {
  const InstanceGraph& graph = worker.graph;
  worker.cutter.cut(instance, worker.graph);
  Explanation explanation;
  explanation.instance = instance;
  explanation.sampled = graph.sampled;
  explanation.nodes = graph.nodes;
  explanation.edges = graph.edges;
  explanation.reverse = graph.reverse;
  for (const NodeId local : graph.targets) explanation.targets.push_back(graph.nodes[at(local)]);
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    explanation.source.push_back(graph.nodes[at(graph.source[e])]);
    explanation.target.push_back(graph.nodes[at(graph.target[e])]);
  }
  Scores scores = explainer.score(graph, *worker.run);
  explanation.score = std::move(scores.edge);
  explanation.feature_score = std::move(scores.feature);
  if (options.merge_directions) merge_directions(explanation);
  explanation.selected = select_edges(explanation, options.selection);
  std::vector<float> mask(explanation.selected.begin(), explanation.selected.end());
  explanation.prediction = predict(graph, *worker.run, {});
  explanation.prediction_kept = predict(graph, *worker.run, mask);
  for (float& m : mask) m = 1.0F - m;
  explanation.prediction_removed = predict(graph, *worker.run, mask);
  return explanation;
}

}  // namespace

Prediction predict(const InstanceGraph& instance, GnnRun& run, std::span<const float> mask) {
  const Matrix<float> row = run.forward(instance.input(), mask).row(instance.logit_row);
  const Matrix<float> p = softmax(row);
  return {{p.data(), p.data() + p.size()}};
}

void explain(const ExplainedModel& model, Explainer& explainer, std::span<const Instance> instances,
             const ExplainOptions& options, ThreadPool& pool,
             const std::function<void(Explanation&&)>& take, const Progress& progress) {
  if (const Support support = explainer.supports(model); !support)
    throw_bad_input("{} cannot explain this model: {}", explainer.method(), support.reason);
  explainer.prepare(model);
  std::vector<std::unique_ptr<Worker>> workers(at(pool.size()));
  constexpr std::size_t kBlock = 256;  // explanations in memory at a time
  std::vector<Explanation> block;
  for (std::size_t begin = 0; begin < instances.size(); begin += kBlock) {
    const auto part = instances.subspan(begin, std::min(kBlock, instances.size() - begin));
    block.assign(part.size(), {});
    pool.run(static_cast<std::int64_t>(part.size()), [&](std::int64_t i, int worker) {
      auto& own = workers[at(worker)];
      if (!own) own = std::make_unique<Worker>(model);
      block[at(i)] = explain_one(explainer, part[at(i)], options, *own);
    });
    for (Explanation& explanation : block) take(std::move(explanation));
    if (!report_progress(progress, static_cast<std::int64_t>(begin + part.size()),
                         static_cast<std::int64_t>(instances.size()), explainer.method()))
      throw_failed("interrupted after {} of {} instances", begin + part.size(), instances.size());
  }
}

std::vector<Explanation> explain(const ExplainedModel& model, Explainer& explainer,
                                 std::span<const Instance> instances, const ExplainOptions& options,
                                 ThreadPool& pool, const Progress& progress) {
  std::vector<Explanation> all;
  all.reserve(instances.size());
  explain(
      model, explainer, instances, options, pool,
      [&](Explanation&& explanation) { all.push_back(std::move(explanation)); }, progress);
  return all;
}

}  // namespace pgexplainer
