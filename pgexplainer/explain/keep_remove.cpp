#include "pgexplainer/explain/keep_remove.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pgexplainer/explain/explainer.h"

namespace pgexplainer {
namespace {

double mean_gap(const KeepRemove& k, std::size_t sizes) {
  double sum = 0;
  for (std::size_t i = 0; i < sizes; ++i) sum += k.kept[i] - k.removed[i];
  return sum / static_cast<double>(sizes);
}

std::vector<std::size_t> best_first(std::span<const float> pair_score) {
  std::vector<std::size_t> order(pair_score.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return pair_score[a] > pair_score[b]; });
  return order;
}

/// Sizes from the first on; those after `sizes` stay 0.
KeepRemove measure(const InstanceGraph& instance, const EdgePairs& pairs,
                   std::span<const float> pair_score, std::size_t c, GnnRun& run,
                   std::size_t sizes) {
  const std::vector<std::size_t> order = best_first(pair_score);
  KeepRemove result;
  std::vector<float> chosen(order.size(), 0.0F), mask;
  std::size_t count = 0;
  for (std::size_t i = 0; i < sizes; ++i) {
    const auto wanted = static_cast<std::size_t>(
        std::lround(KeepRemove::share(i) * static_cast<double>(order.size())));
    if (i > 0 && wanted == count) {  // a small instance: nothing has changed
      result.kept[i] = result.kept[i - 1];
      result.removed[i] = result.removed[i - 1];
      result.held[i] = result.held[i - 1];
      result.broken[i] = result.broken[i - 1];
      continue;
    }
    for (; count < wanted; ++count) chosen[order[count]] = 1.0F;
    pairs.spread<float>(chosen, mask);
    const Prediction kept = predict(instance, run, mask);
    for (float& m : mask) m = 1.0F - m;
    const Prediction removed = predict(instance, run, mask);
    result.kept[i] = kept.probability[c];
    result.removed[i] = removed.probability[c];
    result.held[i] = at(kept.predicted_class()) == c ? 1.0 : 0.0;
    result.broken[i] = at(removed.predicted_class()) == c ? 0.0 : 1.0;
  }
  return result;
}

}  // namespace

void KeepRemove::operator+=(const KeepRemove& other) {
  for (std::size_t i = 0; i < kSizes; ++i) {
    kept[i] += other.kept[i];
    removed[i] += other.removed[i];
    held[i] += other.held[i];
    broken[i] += other.broken[i];
  }
}

double KeepRemove::small_gap() const { return mean_gap(*this, kSmallSizes); }
double KeepRemove::gap() const { return mean_gap(*this, kSizes); }

KeepRemove keep_and_remove(const InstanceGraph& instance, const EdgePairs& pairs,
                           std::span<const float> pair_score, std::size_t c, GnnRun& run) {
  return measure(instance, pairs, pair_score, c, run, KeepRemove::kSizes);
}

double gap_of_best(std::size_t count, const InstanceGraph& instance, const EdgePairs& pairs,
                   std::span<const float> pair_score, std::size_t c, GnnRun& run) {
  const std::vector<std::size_t> order = best_first(pair_score);
  std::vector<float> chosen(order.size(), 0.0F), mask;
  for (std::size_t i = 0; i < std::min(count, order.size()); ++i) chosen[order[i]] = 1.0F;
  pairs.spread<float>(chosen, mask);
  const float kept = predict(instance, run, mask).probability[c];
  for (float& m : mask) m = 1.0F - m;
  return static_cast<double>(kept - predict(instance, run, mask).probability[c]);
}

double small_gap_of(const InstanceGraph& instance, const EdgePairs& pairs,
                    std::span<const float> pair_score, std::size_t c, GnnRun& run) {
  return measure(instance, pairs, pair_score, c, run, KeepRemove::kSmallSizes).small_gap();
}

}  // namespace pgexplainer
