// What the truth costs: the gap (explain/keep_remove.h) of orders after the true edges have moved
// to their front. Where it is smaller than the gap of the orders as they were, AUC and faithfulness
// disagree on them: the model goes by other edges than the motif alone.
#pragma once

#include <span>

#include "pgexplainer/explain/explained_model.h"
#include "pgexplainer/explain/explanation.h"
#include "pgexplainer/parallel/thread_pool.h"

namespace pgexplainer {

/// KeepRemove::small_gap, mean over instances that have an edge; NaN without ground truth or edges.
/// Among the true edges, and among the others, the explanation's order stays. Throws if an
/// explanation lacks some edges.
double truth_first_gap(const ExplainedModel& model, std::span<const Explanation> explanations,
                       ThreadPool& pool);

}  // namespace pgexplainer
