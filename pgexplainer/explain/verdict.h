// Whether explanations can be relied on, told without ground truth: do the chosen edges alone keep
// the prediction, does it break without them, and do simple rankings do as well?
//
//   score = min(gap / 0.3, t, 1 - u / 2 - e), from -1 to 1
//   t     = (1 - m) (1 - tail_loss / 0.3) + m min(1 - 2 set_apart, 2 - tail_loss / 0.3),
//   m     = min(1, tail_loss / 0.2)
//   u     = max(0, own gap - gap) / (1 - gap)
//   e     = max(0, set_apart - size)
//
// The gap of keep_remove.h over all sizes is 0 for a ranking as good as its opposite.
// The loss of the tail is what the predicted class loses without the last tenth of the ranking:
// whatever comes first, a ranking that puts last what matters has not found it. But to some models
// (of molecules, say) every edge matters a little, whatever the ranking; there, as m tells, it
// counts how few edges the scores set apart from the others.
// All are those of the order that instances have in common, for an order found for each instance by
// itself is faithful even where the explanation network has learnt nothing. u is how much of what
// the order in common leaves to gain the instances gain by their own: where that is much, little is
// in common. e is by how much more edges the scores set apart than it takes: an explanation of a
// few edges by scores that single out many has not found what they have in common.
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
  RankingEffect common;  ///< in the order that instances have in common; may be the same
  double set_apart = 0;  ///< share of the edges whose scores stand out, mean over instances
  std::vector<RankingEffect> others;  ///< random, degree, gradient, grad: for comparison
  double without_edges = 0;           ///< share of predictions that need no edge at all
  std::vector<std::int64_t> classes_without_edges;  ///< the classes of most of these
  bool reliable = false;
  std::vector<std::string> reasons;  ///< why not

  /// t of the header.
  [[nodiscard]] double tail_score() const {
    const double m = std::clamp(common.tail_loss / 0.2, 0.0, 1.0);
    const double loss = common.tail_loss / 0.3;
    return (1 - m) * (1 - loss) + m * std::min(1 - 2 * set_apart, 2 - loss);
  }
  /// u of the header.
  [[nodiscard]] double gained_apart() const {
    const double gain = own.gap - common.gap;
    return gain > 0 ? gain / (1 - common.gap) : 0;
  }
  /// e of the header.
  [[nodiscard]] double set_apart_beyond_size() const { return std::max(0.0, set_apart - size); }
  [[nodiscard]] double score() const {
    const double in_common = 1 - gained_apart() / 2 - set_apart_beyond_size();
    return std::clamp(std::min({common.gap / 0.3, tail_score(), in_common}), -1.0, 1.0);
  }
};

/// Judges explanations of all edges of their instances, beside them, if given, those of the same
/// instances in the order that these have in common. Throws if one lacks some edges.
Verdict judge(const ExplainedModel& model, std::span<const Explanation> explanations,
              ThreadPool& pool, std::span<const Explanation> in_common_order = {});

/// The share of scores in the upper of the two groups into which they fall best: the split with the
/// largest variance between groups (Otsu, 1979). At least one score; 1 if all are the same.
double share_set_apart(std::vector<float> scores);

/// One or more sentences for people.
std::string in_words(const Verdict& verdict);

nlohmann::ordered_json to_json(const Verdict& verdict);

}  // namespace pgexplainer
