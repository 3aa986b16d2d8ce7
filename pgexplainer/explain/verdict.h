// Whether explanations can be relied on, told without ground truth: do the chosen edges alone keep
// the prediction, does it break without them, and do simple rankings do as well?
//
//   score = min(gap / 0.3, 1 - tail_loss / 0.3), from -1 to 1
//
// The gap of keep_remove.h over all sizes is 0 for a ranking as good as its opposite.
// The loss of the tail is what the predicted class loses without the last tenth of the ranking:
// whatever comes first, a ranking that puts last what matters has not found it.
// docs/reliability.md shows how the score goes with the agreement with ground truth.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "pgexplainer/explain/explained_model.h"
#include "pgexplainer/explain/explanation.h"
#include "pgexplainer/explain/keep_remove.h"
#include "pgexplainer/parallel/thread_pool.h"

namespace pgexplainer {

/// What explanations by one ranking do to predictions; shares of the judged instances.
struct RankingEffect {
  std::string ranking;
  double held = 0;       ///< predictions that the explanation alone keeps, at the verdict's size
  double broken = 0;     ///< predictions that are lost without it
  double small_gap = 0;  ///< KeepRemove::small_gap, mean over instances
  double gap = 0;        ///< KeepRemove::gap
  double tail_loss = 0;  ///< of P_c without the last tenth of the ranking, mean over instances
};

struct Verdict {
  std::int64_t instances = 0;  ///< that have an edge
  double size = 0;             ///< of explanations, as a share of the edges: where they tell most
  RankingEffect own;
  std::vector<RankingEffect> others;  ///< random, degree, gradient, grad: for comparison
  double without_edges = 0;           ///< share of predictions that need no edge at all
  std::vector<std::int64_t> classes_without_edges;  ///< the classes of most of these
  bool reliable = false;
  std::vector<std::string> reasons;  ///< why not

  [[nodiscard]] double score() const {
    return std::clamp(std::min(own.gap, 0.3 - own.tail_loss) / 0.3, -1.0, 1.0);
  }
};

/// Judges explanations of all edges of their instances. Throws if one lacks some.
Verdict judge(const ExplainedModel& model, std::span<const Explanation> explanations,
              ThreadPool& pool);

/// One or more sentences for people.
std::string in_words(const Verdict& verdict);

nlohmann::ordered_json to_json(const Verdict& verdict);

}  // namespace pgexplainer
