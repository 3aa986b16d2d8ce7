// No more change than it takes: from an order found for one instance back towards the order that
// instances have in common.
//
//   w_b = common + b (found - common),   b = 0, 1/8, 1/4, 1/2, 3/4
//
// The first of these that is as faithful as the found one, within .005 of the gap of keep_remove.h
// and of that of its ten best edges alone, takes its place. A prediction allows many orders that
// are equally faithful; the one in common knows which of them begins with the motif. Source: our
// own measurements, docs/reliability.md.
#pragma once

#include <span>
#include <vector>

#include "pgexplainer/explain/edge_pairs.h"
#include "pgexplainer/model/instance_graph.h"

namespace pgexplainer {

/// Of places (refinement.h); at most 180 evaluations of the network.
std::vector<float> least_change(const InstanceGraph& instance, const EdgePairs& pairs, GnnRun& run,
                                std::span<const float> common, std::vector<float> found);

}  // namespace pgexplainer
