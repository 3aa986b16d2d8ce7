#include "pgexplainer/metrics/evaluation.h"

#include <cmath>
#include <limits>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/metrics/auc.h"
#include "pgexplainer/metrics/connectedness.h"

namespace pgexplainer {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

double share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : kUndefined;
}

/// Probabilities as logits: their logarithms, floored.
void set_row(Matrix<float>& logits, Index row, const Prediction& prediction) {
  for (std::size_t c = 0; c < prediction.probability.size(); ++c)
    logits(row, static_cast<Index>(c)) = std::log(std::max(prediction.probability[c], 1e-30F));
}

/// A run that shows only the explained row of logits: metrics take the mean over the rows they see.
class OneRowRun final : public GnnRun {
 public:
  OneRowRun(GnnRun& run, Index row) : run_(run), row_(row) {}

  const Matrix<float>& forward(const GnnInput<float>& input,
                               std::span<const float> edge_mask) override {
    logits_ = run_.forward(input, edge_mask).row(row_);
    return logits_;
  }
  void backward(const Matrix<float>&, std::span<float>, Matrix<float>*) override {
    throw_failed("metrics do not differentiate");
  }
  const Matrix<float>& embed(const GnnInput<float>& input, Embedding kind) override {
    return run_.embed(input, kind);
  }

 private:
  GnnRun& run_;
  Index row_;
  Matrix<float> logits_;
};

}  // namespace

std::vector<std::uint8_t> true_edges(const Dataset& dataset, const Explanation& explanation) {
  const auto in_motif = [&](EdgeId e) {
    return dataset.edge_gt[at(explanation.edges[at(e)])] != 0;
  };
  std::vector<std::uint8_t> result;
  for (std::size_t e = 0; e < explanation.edges.size(); ++e) {
    const EdgeId back = explanation.reverse[e];
    const bool either = in_motif(static_cast<EdgeId>(e)) || (back != kNoEdge && in_motif(back));
    result.push_back(either ? 1 : 0);
  }
  return result;
}

GroundTruthAgreement compare_with_ground_truth(const Dataset& dataset,
                                               std::span<const Explanation> explanations) {
  GroundTruthAgreement result{kUndefined, kUndefined, 0, kUndefined, kUndefined,
                              kUndefined, kUndefined, 0, 0};
  if (dataset.edge_gt.empty()) return result;
  std::vector<std::uint8_t> label, own_label;
  std::vector<float> score, own_score;
  std::vector<std::int64_t> instance_ptr{0};
  std::int64_t right = 0, hit = 0, taken = 0;
  for (const Explanation& explanation : explanations) {
    Explanation merged;
    merged.reverse = explanation.reverse;
    merged.score = explanation.score;
    merge_directions(merged);
    const std::vector<std::uint8_t> positive = true_edges(dataset, explanation);
    for (std::size_t e = 0; e < positive.size(); ++e) {
      const bool selected = !explanation.selected.empty() && explanation.selected[e] != 0;
      label.push_back(positive[e]);
      score.push_back(merged.score[e]);
      result.positives += positive[e];
      taken += selected ? 1 : 0;
      hit += selected && positive[e] != 0 ? 1 : 0;
      right += selected == (positive[e] != 0) ? 1 : 0;
    }
    const std::vector<std::uint8_t> own =
        explanation.targets.empty() ? positive : connected_part(explanation, positive);
    for (std::size_t e = 0; e < own.size(); ++e) {
      if (positive[e] != own[e]) continue;
      own_label.push_back(own[e]);
      own_score.push_back(merged.score[e]);
    }
    instance_ptr.push_back(static_cast<std::int64_t>(label.size()));
  }
  result.edges = static_cast<std::int64_t>(label.size());
  result.pooled_auc = roc_auc(label, score);
  result.own_motif_auc = roc_auc(own_label, own_score);
  const MeanAuc mean = mean_auc_per_instance(label, score, instance_ptr);
  result.per_instance_auc = mean.mean;
  result.num_undefined = mean.num_left_out;
  result.accuracy = share(right, result.edges);
  result.precision = share(hit, taken);
  result.recall = share(hit, result.positives);
  return result;
}

Faithfulness measure_faithfulness(const ExplainedModel& model,
                                  std::span<const Explanation> explanations, std::uint64_t seed,
                                  ThreadPool& pool) {
  const auto count = static_cast<Index>(explanations.size());
  Predictions<float> logits;
  const Index classes = model.gnn().num_classes();
  logits.full.resize(count, classes);
  logits.masked.resize(count, classes);
  logits.complement.resize(count, classes);
  struct PerInstance {
    RobustFidelity robust;
    std::vector<SparsityPoint> curve;
    double connected = kUndefined;
  };
  struct Worker {
    InstanceCutter cutter;
    InstanceGraph graph;
    std::unique_ptr<GnnRun> run;
  };
  std::vector<PerInstance> each(explanations.size());
  std::vector<std::unique_ptr<Worker>> workers(at(pool.size()));
  const std::vector<double> levels = default_sparsity_levels();
  pool.run(count, [&](std::int64_t i, int w) {
    auto& worker = workers[at(w)];
    if (!worker) worker.reset(new Worker{model.new_cutter(), {}, model.gnn().new_run()});
    const Explanation& explanation = explanations[at(i)];
    set_row(logits.full, i, explanation.prediction);
    set_row(logits.masked, i, explanation.prediction_kept);
    set_row(logits.complement, i, explanation.prediction_removed);
    worker->cutter.cut(explanation.instance, worker->graph);
    const InstanceGraph& graph = worker->graph;
    if (graph.edges != explanation.edges)
      throw_bad_input(
          "the explanation of instance {} has other edges than the data; was it made "
          "for another model or dataset?",
          explanation.instance.id);
    const GnnInput<float> input = graph.input();
    OneRowRun run(*worker->run, graph.logit_row);
    PerInstance& own = each[at(i)];
    own.robust = robust_fidelity(run, input, explanation.selected, graph.reverse, seed,
                                 static_cast<std::uint32_t>(explanation.instance.id));
    own.curve = fidelity_by_sparsity(run, input, explanation.score, graph.reverse, levels);
    own.connected = connectedness(input.graph, explanation.selected).largest_share;
  });

  Faithfulness result;
  result.label = fidelity_by_label(logits);
  result.probability = fidelity_by_probability(logits);
  result.unfaithfulness = unfaithfulness(logits.full, logits.masked);
  result.characterization =
      characterization_score(result.probability.plus, result.probability.minus);
  MeanSparsityCurve curve;
  double connected = 0;
  std::int64_t connected_count = 0;
  const double n = static_cast<double>(explanations.size());
  for (const PerInstance& own : each) {
    curve.add(own.curve);
    result.robust.label.plus += own.robust.label.plus / n;
    result.robust.label.minus += own.robust.label.minus / n;
    result.robust.probability.plus += own.robust.probability.plus / n;
    result.robust.probability.minus += own.robust.probability.minus / n;
    if (std::isnan(own.connected)) continue;
    connected += own.connected;
    ++connected_count;
  }
  result.curve = curve.mean();
  result.connectedness =
      connected_count > 0 ? connected / static_cast<double>(connected_count) : kUndefined;
  return result;
}

}  // namespace pgexplainer
