// How long explaining takes on given data: fitting, explaining with the network's embeddings known
// (warm) and for a graph never seen (cold), GNNExplainer; and how the warm time grows with the
// graph.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "pgexplainer/explain/pg_explainer.h"

namespace pgexplainer::cli {

/// Times one kind of work several times; seconds, one per repetition.
std::vector<double> repeat(int repetitions, const std::function<double()>& seconds);
double median(std::vector<double> values);

/// Every node, or every graph.
std::vector<Instance> all_instances(const Dataset& dataset);

/// Seconds per instance to cut it out of the graph and score its edges; prepare() has been called.
/// Goes over all instances again and again for at least `at_least` seconds.
double warm_seconds(const ExplainedModel& model, const Explainer& explainer,
                    std::span<const Instance> instances, double at_least);

/// Seconds for data just loaded: embeddings, cut and scores of `instances`, and nothing else. Of a
/// dataset of graphs each instance is a dataset of its own, or all are one (`together`).
double cold_seconds(const std::shared_ptr<const Gnn>& gnn, const Dataset& dataset,
                    Explainer& explainer, std::span<const Instance> instances, bool together);

/// Seconds on the wall to explain instances with so many threads, selection and predictions
/// included.
double together_seconds(const ExplainedModel& model, PGExplainer& explainer,
                        std::span<const Instance> instances, int threads);
/// The same by threads with nothing in common, each with an explainer and a share of the instances
/// of its own: what the cores offer at that moment.
double apart_seconds(const ExplainedModel& model, const PGExplainer& explainer,
                     std::span<const Instance> instances, int threads);

/// Warm time for Tree-Cycles of growing size.
struct ScalingPoint {
  std::int64_t nodes = 0, edges = 0;
  double edges_per_instance = 0;
  double random_seconds = 0;      ///< per instance, for nodes at random
  double successive_seconds = 0;  ///< for one node after the other
  double repeated_seconds = 0;  ///< for few nodes again and again: what they need is in the caches
};
ScalingPoint scaling_point(std::int64_t tree_levels, std::int64_t instances, int repetitions);

}  // namespace pgexplainer::cli
