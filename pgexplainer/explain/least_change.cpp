#include "pgexplainer/explain/least_change.h"

#include "pgexplainer/explain/explained_row.h"
#include "pgexplainer/explain/keep_remove.h"

namespace pgexplainer {
namespace {

constexpr float kParts[] = {0, 0.125F, 0.25F, 0.5F, 0.75F};  // b
constexpr double kAsFaithful = 0.005;
constexpr std::size_t kShown = 10;  // as many as explanations select unless told otherwise

}  // namespace

std::vector<float> least_change(const InstanceGraph& instance, const EdgePairs& pairs, GnnRun& run,
                                std::span<const float> common, std::vector<float> found) {
  if (pairs.count() < 2) return found;  // nothing to rank
  const std::size_t c = predicted_class(ExplainedRow(instance, run).forward({}));
  const auto gap = [&](std::span<const float> place) {
    return small_gap_of(instance, pairs, place, c, run);
  };
  const auto gap_shown = [&](std::span<const float> place) {
    return gap_of_best(kShown, instance, pairs, place, c, run);
  };
  const double enough = gap(found) - kAsFaithful, enough_shown = gap_shown(found) - kAsFaithful;
  std::vector<float> between(found.size());
  for (const float part : kParts) {
    for (std::size_t k = 0; k < found.size(); ++k)
      between[k] = common[k] + part * (found[k] - common[k]);
    if (gap_shown(between) >= enough_shown && gap(between) >= enough) return between;
  }
  return found;
}

}  // namespace pgexplainer
