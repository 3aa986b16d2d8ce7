// DropEdge (Rong et al., ICLR 2020), in training only: every epoch sees a random part of the edges.
//
// Edges are left out by the mask, as explainers do it: normalisations still count them, and the
// others are not scaled up. So the network learns the very graphs that explanations show to it.
#pragma once

#include <vector>

#include "pgexplainer/core/index.h"
#include "pgexplainer/core/random.h"
#include "pgexplainer/graph/graph.h"

namespace pgexplainer {

/// A mask of 0 with probability p, else 1. Both directions of an edge have the same, self-loops 1.
inline void draw_edge_mask(const Graph& graph, double p, std::uint64_t seed, std::uint32_t epoch,
                           std::vector<float>& mask) {
  mask.assign(at(graph.num_edges()), 1.0F);
  RandomStream random(seed, RandomPurpose::dropout_edge, epoch);
  for (EdgeId e = 0; e < graph.num_edges(); ++e) {
    if (graph.source(e) == graph.target(e)) continue;
    const EdgeId reverse = graph.reverse_edge(e);
    if (reverse != kNoEdge && reverse < e)
      mask[at(e)] = mask[at(reverse)];
    else if (random.uniform() < p)
      mask[at(e)] = 0.0F;
  }
}

}  // namespace pgexplainer
