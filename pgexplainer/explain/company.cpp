#include "pgexplainer/explain/company.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "pgexplainer/core/index.h"
#include "pgexplainer/explain/explainer.h"

namespace pgexplainer {
namespace {

// Of a maximum or a mean two copies are as good as one; a sum would double, and tell of the size of
// the company rather than of its class.
bool keeps_predictions_beside_themselves(const ExplainedModel& model,
                                         std::span<const InstanceGraph> graphs) {
  constexpr std::size_t kAsked = 16;
  constexpr float kSame = 1e-3F;
  const std::unique_ptr<GnnRun> run = model.gnn().new_run();
  InstanceGraph both;
  for (const InstanceGraph& graph : graphs.first(std::min(kAsked, graphs.size()))) {
    const std::vector<float> alone = predict(graph, *run, {}).probability;
    const std::vector<float> twice = predict(unite(graph, graph, both), *run, {}).probability;
    for (std::size_t c = 0; c < alone.size(); ++c)
      if (!(std::abs(alone[c] - twice[c]) <= kSame)) return false;
  }
  return true;
}

}  // namespace

Company gather_company(const ExplainedModel& model, ThreadPool& pool) {
  constexpr std::int64_t kMostGraphs = 512;
  constexpr EdgeId kMostEdges = 1 << 22;  // of all of them
  const Dataset& dataset = model.dataset();
  const std::int64_t count = std::min(kMostGraphs, dataset.num_graphs());
  std::vector<std::int64_t> chosen;
  EdgeId edges = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t graph = i * dataset.num_graphs() / count;
    const EdgeId own = dataset.edge_ptr[at(graph) + 1] - dataset.edge_ptr[at(graph)];
    if (own > model.max_edges() || edges + own > kMostEdges) continue;
    edges += own;
    chosen.push_back(graph);
  }
  Company company;
  company.graphs.resize(chosen.size());
  std::vector<std::size_t> predicted(chosen.size());
  struct Worker {
    InstanceCutter cutter;
    std::unique_ptr<GnnRun> run;
  };
  std::vector<std::unique_ptr<Worker>> workers(at(pool.size()));
  pool.run(static_cast<std::int64_t>(chosen.size()), [&](std::int64_t i, int thread) {
    auto& own = workers[at(thread)];
    if (!own) own.reset(new Worker{model.new_cutter(), model.gnn().new_run()});
    own->cutter.cut({chosen[at(i)]}, company.graphs[at(i)]);
    predicted[at(i)] = at(predict(company.graphs[at(i)], *own->run, {}).predicted_class());
  });
  if (!keeps_predictions_beside_themselves(model, company.graphs)) return {};
  company.of_other_class.resize(at(model.gnn().num_classes()));
  for (std::size_t c = 0; c < company.of_other_class.size(); ++c)
    for (std::size_t i = 0; i < predicted.size(); ++i)
      if (predicted[i] != c) company.of_other_class[c].push_back(i);
  return company;
}

}  // namespace pgexplainer
