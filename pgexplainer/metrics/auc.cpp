#include "pgexplainer/metrics/auc.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"

namespace pgexplainer {
namespace {

template <class T>
double exact_auc(std::span<const std::uint8_t> label, std::span<const T> score) {
  if (label.size() != score.size())
    throw_bad_input("the AUC needs one score per label, got {} scores for {} labels", score.size(),
                    label.size());
  struct Entry {
    T score;
    bool positive;
  };
  std::vector<Entry> sorted(score.size());
  for (std::size_t i = 0; i < score.size(); ++i) {
    if (std::isnan(score[i])) throw_bad_input("score {} is NaN, the AUC needs numbers", i);
    sorted[i] = {score[i], label[i] != 0};
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const Entry& a, const Entry& b) { return a.score < b.score; });

  std::uint64_t negatives_below = 0;
  std::uint64_t num_positives = 0;
  std::uint64_t twice_won = 0;  // pairs won count 2, ties 1: all pairs together stay below 2^63
  for (std::size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
    std::uint64_t positives = 0;
    while (end < sorted.size() && sorted[end].score == sorted[begin].score)
      positives += sorted[end++].positive ? 1 : 0;
    const std::uint64_t negatives = end - begin - positives;
    twice_won += positives * (2 * negatives_below + negatives);
    num_positives += positives;
    negatives_below += negatives;
  }
  if (num_positives == 0 || negatives_below == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(twice_won) /
         (2.0 * static_cast<double>(num_positives) * static_cast<double>(negatives_below));
}

}  // namespace

double roc_auc(std::span<const std::uint8_t> label, std::span<const float> score) {
  return exact_auc(label, score);
}

double roc_auc(std::span<const std::uint8_t> label, std::span<const double> score) {
  return exact_auc(label, score);
}

MeanAuc mean_auc_per_instance(std::span<const std::uint8_t> label, std::span<const float> score,
                              std::span<const std::int64_t> instance_ptr) {
  if (label.size() != score.size())
    throw_bad_input("the AUC needs one score per label, got {} scores for {} labels", score.size(),
                    label.size());
  if (instance_ptr.empty() || instance_ptr.front() != 0 ||
      !std::is_sorted(instance_ptr.begin(), instance_ptr.end()) ||
      at(instance_ptr.back()) != score.size())
    throw_bad_input("the instance pointers must ascend from 0 to the number of scores, {}",
                    score.size());
  MeanAuc result;
  double sum = 0.0;
  for (std::size_t i = 0; i + 1 < instance_ptr.size(); ++i) {
    const std::size_t begin = at(instance_ptr[i]);
    const std::size_t size = at(instance_ptr[i + 1]) - begin;
    const double auc = roc_auc(label.subspan(begin, size), score.subspan(begin, size));
    if (std::isnan(auc)) {
      ++result.num_left_out;
    } else {
      ++result.num_instances;
      sum += auc;
    }
  }
  result.mean = result.num_instances == 0 ? std::numeric_limits<double>::quiet_NaN()
                                          : sum / static_cast<double>(result.num_instances);
  return result;
}

}  // namespace pgexplainer
