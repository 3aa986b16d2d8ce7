// One run of Algorithm 1 or 2: Adam on the parameters Psi of the explanation network, from one
// start, over a population. Every step is cut into pieces by the population alone, and what they
// give is added in their order: same bits for any number of threads and ranks.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "pgexplainer/core/progress.h"
#include "pgexplainer/explain/edge_scorer.h"
#include "pgexplainer/explain/explainer.h"
#include "pgexplainer/explain/keep_remove.h"
#include "pgexplainer/explain/population_pieces.h"
#include "pgexplainer/parallel/workers.h"

namespace pgexplainer {

/// Places in the population, and how they are dealt.
struct DealtList {
  std::span<const std::size_t> members;
  Pieces pieces;
};
/// The instances this rank works on, in order: its pieces of the lists, of which the first is the
/// one that is trained on.
std::vector<std::size_t> own_members(const PGExplainerOptions& options, const Workers& workers,
                                     std::size_t count, std::initializer_list<DealtList> lists);

/// What the scores do on some of the instances; sums.
struct FitCheck {
  KeepRemove effect;  ///< only if the options allow several fits, of which the best is chosen
  std::int64_t edges = 0;
  std::int64_t saturated = 0;   ///< edges whose float sigmoid is exactly 0 or 1
  std::int64_t told_apart = 0;  ///< instances whose scores are not all the same
  std::int64_t pairs = 0;
  double variation = 0;  ///< squared deviations of the pairs from the mean of their instance
};

struct ExplainerFit {
  std::vector<float> theta;    ///< Psi
  std::vector<double> loss;    ///< after each epoch, mean over instances
  bool finished = false;       ///< false if the caller asked to stop
  std::int64_t sharpened = 0;  ///< epochs with whole edges
  FitCheck trained, held_out;

  /// The small gap of all instances, as a sum.
  [[nodiscard]] double gap() const {
    return trained.effect.small_gap() + held_out.effect.small_gap();
  }
};
/// `train` and `check` are places in the population, whose members are embedded and there as
/// own_members() wants them. `necessity` is that of the ranking objective, which goes on with whole
/// edges until the small gap of all instances is as `wanted` (a sum); else the most faithful
/// parameters on the way are taken. Throws if the objective is no longer a number.
ExplainerFit fit_explainer(const ExplainedModel& model, const PGExplainerOptions& options,
                           double necessity, double wanted, std::uint64_t seed,
                           const EdgeScorer<float>& scorer, const Population& population,
                           std::span<const std::size_t> train, std::span<const std::size_t> check,
                           const Workers& workers, const Progress& progress);

/// The same effect of another method's scores, which need no fit; the sum over `list`.
KeepRemove effect_of(const Explainer& method, const Gnn& gnn, const Population& population,
                     std::span<const std::size_t> list, const Workers& workers);

}  // namespace pgexplainer
