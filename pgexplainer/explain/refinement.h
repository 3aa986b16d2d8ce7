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
// A step moves the places by the first term and then by the second one, so that it costs two
// evaluations of the network and of its gradient, and goes as far as two steps by their sum.
// Lengths are in units of the standard deviation of the instance's scores, so that the network
// decides what is far apart and the steps what is close together, and edges that hardly matter
// hardly move. Only the order is kept: the network's own scores are handed out again in it, so that
// scores of different instances compare as before. Source: our own measurements,
// docs/reliability.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pgexplainer/explain/edge_pairs.h"
#include "pgexplainer/model/instance_graph.h"

namespace pgexplainer {

// Orders are given by a place per pair of edges, higher = earlier.

/// The scores of pairs as places: mean 0 and, unless all are the same, standard deviation 1.
std::vector<float> places_of(std::span<const float> pair_score);

/// Moves the places with so many steps.
void refine_order(const InstanceGraph& instance, const EdgePairs& pairs, GnnRun& run,
                  std::int64_t steps, std::vector<float>& place);

/// The objective has many valleys: refines from these places and from these moved a little towards
/// occlusion (what P_c loses without an edge), by both terms at once, and returns the places with
/// the larger gap of keep_remove.h. One evaluation of the network per edge, and some two hundred
/// more.
std::vector<float> search_order(const InstanceGraph& instance, const EdgePairs& pairs, GnnRun& run,
                                std::span<const float> place);

/// The scores of pairs, handed out again in the order of the places; of equal ones the next is the
/// next smaller number, so that the order among them shows.
std::vector<float> in_order_of(std::span<const float> place, std::vector<float> pair_score);

}  // namespace pgexplainer
