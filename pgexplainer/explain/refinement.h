// Puts the edges of one instance in the order that its own prediction asks for.
//
// The explanation network learns what a population has in common; what a single prediction rests on
// (which edge of a motif is next to the explained node, say) it cannot see. A few steps of Adam
// that start from its scores see to that (Kim et al., "Semi-Amortized Variational Autoencoders",
// ICML 2018, do the same for encoders):
//
//   loss_t = -P_c(G with weights m(r_t)) + P_c(G with weights 1 - m(s_t)),   m(r) as in
//   ranking_objective.h without noise, shares r_t and s_t from 5 to 70 %, spread over the steps.
//
// The objective has many valleys, so two starts are tried, the scores and the scores moved a little
// towards occlusion (what P_c loses without an edge); the order with the larger measured gap of
// keep_remove.h wins. Lengths are in units of the standard deviation of the instance's scores, so
// that the network decides what is far apart and the steps what is close together, and edges that
// hardly matter hardly move. Only the order is kept: the network's own scores are handed out again
// in it, so that scores of different instances compare as before. Source: our own measurements,
// docs/reliability.md.
#pragma once

#include <cstdint>
#include <vector>

#include "pgexplainer/model/instance_graph.h"

namespace pgexplainer {

/// Reorders the scores, one per local edge, with so many steps from each start; both directions of
/// an edge then have the same. No steps: leaves them alone.
void refine_scores(const InstanceGraph& instance, GnnRun& run, std::int64_t steps,
                   std::vector<float>& score);

}  // namespace pgexplainer
