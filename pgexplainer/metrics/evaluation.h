// A set of explanations judged by every metric at once: what `evaluate` prints and `reproduce`
// tabulates. Conventions are in docs/metrics.md.
#pragma once

#include <span>
#include <vector>

#include "pgexplainer/explain/explainer.h"
#include "pgexplainer/metrics/fidelity.h"
#include "pgexplainer/metrics/robust_fidelity.h"
#include "pgexplainer/metrics/sparsity_curve.h"

namespace pgexplainer {

/// Against the ground truth; NaN where it is unknown or has one class only.
struct GroundTruthAgreement {
  double pooled_auc = 0;        ///< one ROC over the edges of all instances: the paper's figure
  double per_instance_auc = 0;  ///< mean over the instances where it is defined
  std::int64_t num_undefined = 0;
  /// The pooled one without motifs that do not hang together with the explained node: predictions
  /// need not rest on the motifs of others in reach. Of graphs all count.
  double own_motif_auc = 0;
  double accuracy = 0, precision = 0, recall = 0;  ///< of the selected edges
  std::int64_t edges = 0, positives = 0;           ///< pooled; each direction counts
};
/// Per edge of the explanation: 1 if either direction is in a motif. The dataset has ground truth.
std::vector<std::uint8_t> true_edges(const Dataset& dataset, const Explanation& explanation);
/// True edges are positive; an edge scores the mean of both directions.
GroundTruthAgreement compare_with_ground_truth(const Dataset& dataset,
                                               std::span<const Explanation> explanations);

/// Without ground truth: what the selected edges do to the prediction.
struct Faithfulness {
  Fidelity label{}, probability{};
  RobustFidelity robust{};
  double unfaithfulness = 0;
  double characterization = 0;  ///< of the fidelities by probability
  std::vector<SparsityPoint> curve;
  double connectedness = 0;  ///< mean share of the selected edges in their largest component
};
Faithfulness measure_faithfulness(const ExplainedModel& model,
                                  std::span<const Explanation> explanations, std::uint64_t seed,
                                  ThreadPool& pool);

}  // namespace pgexplainer
