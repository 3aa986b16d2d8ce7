// Sharpens the scores of one instance by descent on its own keep-and-remove objective.
//
// The explanation network learns what a population has in common; what a single prediction rests on
// (which edge of a motif is next to the explained node, say) it cannot see. A few steps of Adam
// that start from its scores see to that (Kim et al., "Semi-Amortized Variational Autoencoders",
// ICML 2018, do the same for encoders):
//
//   loss_t = -P_c(G with weights m(r_t)) + P_c(G with weights 1 - m(s_t)),   m(r) as in
//   ranking_objective.h without noise, shares r_t and s_t from 5 to 70 %, evenly spread over the
//   steps.
//
// Lengths are in units of the standard deviation of the instance's scores, so that the network
// decides what is far apart and the steps what is close together. Source: our own measurements,
// docs/reliability.md.
#pragma once

#include <cstdint>
#include <vector>

#include "pgexplainer/model/instance_graph.h"

namespace pgexplainer {

/// Moves the scores, one per local edge; both directions of an edge then have the same.
void refine_scores(const InstanceGraph& instance, GnnRun& run, std::int64_t steps,
                   std::vector<float>& score);

}  // namespace pgexplainer
