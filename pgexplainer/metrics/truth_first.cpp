#include "pgexplainer/metrics/truth_first.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "pgexplainer/core/error.h"
#include "pgexplainer/explain/explainer.h"
#include "pgexplainer/explain/keep_remove.h"
#include "pgexplainer/metrics/evaluation.h"

namespace pgexplainer {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

/// One score for each pair, in the explanation's order but for the true pairs, which come first.
std::vector<float> truth_first(const Dataset& dataset, const Explanation& explanation,
                               const EdgePairs& pairs) {
  const std::vector<std::uint8_t> is_true = true_edges(dataset, explanation);
  std::vector<float> score;
  pairs.mean<float>(explanation.score, score);
  std::vector<std::size_t> order(score.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto true_a = is_true[at(pairs.first[a])], true_b = is_true[at(pairs.first[b])];
    return true_a != true_b ? true_a > true_b : score[a] > score[b];
  });
  for (std::size_t place = 0; place < order.size(); ++place)
    score[order[place]] = -static_cast<float>(place);
  return score;
}

}  // namespace

double truth_first_gap(const ExplainedModel& model, std::span<const Explanation> explanations,
                       ThreadPool& pool) {
  const Dataset& dataset = model.dataset();
  if (dataset.edge_gt.empty()) return kUndefined;
  struct Worker {
    InstanceCutter cutter;
    InstanceGraph graph;
    std::unique_ptr<GnnRun> run;
  };
  std::vector<std::unique_ptr<Worker>> workers(at(pool.size()));
  std::vector<double> gap(explanations.size(), kUndefined);
  pool.run(static_cast<std::int64_t>(explanations.size()), [&](std::int64_t i, int thread) {
    auto& own = workers[at(thread)];
    if (!own) own.reset(new Worker{model.new_cutter(), {}, model.gnn().new_run()});
    const Explanation& explanation = explanations[at(i)];
    own->cutter.cut(explanation.instance, own->graph);
    if (own->graph.edges != explanation.edges)
      throw_bad_input("the explanation of instance {} does not score every edge; give it with all",
                      explanation.instance.id);
    const EdgePairs pairs(own->graph.reverse);
    if (pairs.count() == 0) return;
    const auto c = predict(own->graph, *own->run, {}).predicted_class();
    gap[at(i)] =
        small_gap_of(own->graph, pairs, truth_first(dataset, explanation, pairs), at(c), *own->run);
  });
  double sum = 0, count = 0;
  for (const double one : gap) {
    if (std::isnan(one)) continue;
    sum += one;
    ++count;
  }
  return count > 0 ? sum / count : kUndefined;
}

}  // namespace pgexplainer
