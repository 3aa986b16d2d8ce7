// Teaches the order network, and finds out how many steps of refinement explanations need besides.
//
// Lessons are some instances of the fit whose order is searched for (refinement.h). Two networks,
// each taught half of them, are tried on the other half: at half their strength, in full, and with
// more and more steps of refinement after them. The least with which the orders are more faithful,
// beyond doubt, than those of gradients, occlusion and GNNExplainer will do, or with which more
// steps hardly gain. If they are behind then, those instances that are furthest behind give way to
// these methods (rival_order.h), as few as it takes. So what instances have in common is given up
// for no more than being first. One network is taught all lessons.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "pgexplainer/core/progress.h"
#include "pgexplainer/explain/edge_scorer.h"
#include "pgexplainer/explain/explained_model.h"
#include "pgexplainer/explain/population_pieces.h"
#include "pgexplainer/parallel/workers.h"

namespace pgexplainer {

/// Some of the instances, evenly chosen: what they cost does not grow with the population.
std::vector<std::size_t> choose_lessons(std::span<const std::size_t> train);
/// How they are dealt to threads and ranks.
Pieces pieces_of_lessons(std::size_t lessons);

struct OrderFit {
  std::vector<float> theta;          ///< of an OrderNetwork; empty = there is none
  std::int64_t steps = 0;            ///< of refinement after it
  std::optional<double> rival_lead;  ///< by which rivals may be ahead; none = by any
  double gap = 0;                    ///< of lessons that were not taught, ordered so; mean
  double rival_gap = 0;              ///< the largest of the other methods, on the same lessons
  std::int64_t lessons = 0;
  bool finished = true;  ///< false if the caller asked to stop
};
/// `scorer` with `theta` is the explanation network. No epochs: no network, refinement alone. Few
/// lessons, or none that is small enough to search: neither.
OrderFit fit_order(const ExplainedModel& model, std::int64_t epochs, std::uint64_t seed,
                   const EdgeScorer<float>& scorer, std::span<const float> theta,
                   const Population& population, std::span<const std::size_t> lessons,
                   const Workers& workers, const Progress& progress);

}  // namespace pgexplainer
