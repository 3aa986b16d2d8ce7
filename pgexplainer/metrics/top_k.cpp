#include "pgexplainer/metrics/top_k.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/metrics/auc.h"

namespace pgexplainer {
namespace {

struct Counts {
  std::int64_t true_positive = 0, false_positive = 0, false_negative = 0, true_negative = 0;

  void add(bool predicted, bool is_true) {
    ++(predicted ? (is_true ? true_positive : false_positive)
                 : (is_true ? false_negative : true_negative));
  }
};

double share(std::int64_t part, std::int64_t whole, double of_nothing) {
  return whole == 0 ? of_nothing : static_cast<double>(part) / static_cast<double>(whole);
}

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

}  // namespace

MaskAgreement compare_masks(std::span<const float> prediction, std::span<const float> target,
                            float threshold) {
  if (prediction.size() != target.size())
    throw_bad_input("the masks have {} and {} entries, expected as many", prediction.size(),
                    target.size());
  Counts n;
  std::vector<std::uint8_t> label(target.size());
  for (std::size_t e = 0; e < target.size(); ++e) {
    if (std::isnan(target[e])) throw_bad_input("entry {} of the target mask is NaN", e);
    label[e] = target[e] >= threshold ? 1 : 0;
    n.add(prediction[e] > threshold, label[e] != 0);
  }
  return {
      share(n.true_positive + n.true_negative, static_cast<std::int64_t>(target.size()),
            kUndefined),
      share(n.true_positive, n.true_positive + n.false_positive, 0.0),
      share(n.true_positive, n.true_positive + n.false_negative, 0.0),
      share(2 * n.true_positive, 2 * n.true_positive + n.false_positive + n.false_negative, 0.0),
      roc_auc(label, prediction)};
}

std::vector<std::int64_t> top_k(std::span<const float> score, std::int64_t k) {
  if (k < 0) throw_bad_input("k is {}, expected 0 or more", k);
  for (std::size_t i = 0; i < score.size(); ++i)
    if (std::isnan(score[i])) throw_bad_input("score {} is NaN, a ranking needs numbers", i);
  std::vector<std::int64_t> order(score.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const std::size_t taken = std::min(at(k), order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(taken), order.end(),
                    [&](std::int64_t a, std::int64_t b) {
                      return score[at(a)] != score[at(b)] ? score[at(a)] > score[at(b)] : a < b;
                    });
  order.resize(taken);
  return order;
}

TopKAgreement top_k_agreement(std::span<const std::uint8_t> label, std::span<const float> score,
                              std::int64_t k) {
  if (label.size() != score.size())
    throw_bad_input("got {} scores for {} labels, expected as many", score.size(), label.size());
  std::vector<std::uint8_t> taken(score.size(), 0);
  for (const std::int64_t e : top_k(score, k)) taken[at(e)] = 1;
  Counts n;
  for (std::size_t e = 0; e < score.size(); ++e) n.add(taken[e] != 0, label[e] != 0);
  return {share(n.true_positive, n.true_positive + n.false_positive, kUndefined),
          share(n.true_positive, n.true_positive + n.false_negative, kUndefined),
          share(n.true_positive + n.true_negative, static_cast<std::int64_t>(score.size()),
                kUndefined)};
}

template <class T>
Matrix<T> keep_top_columns(const Matrix<T>& mask, Index k) {
  if (k < 0) throw_bad_input("k is {}, expected 0 or more", k);
  std::vector<double> sum(at(mask.cols()), 0.0);
  for (Index row = 0; row < mask.rows(); ++row)
    for (Index c = 0; c < mask.cols(); ++c) sum[at(c)] += static_cast<double>(mask(row, c));
  std::vector<Index> order(sum.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return sum[at(a)] > sum[at(b)]; });
  Matrix<T> kept = Matrix<T>::Zero(mask.rows(), mask.cols());
  for (Index i = 0; i < std::min(k, mask.cols()); ++i) kept.col(order[at(i)]).setOnes();
  return kept;
}

template Matrix<float> keep_top_columns(const Matrix<float>&, Index);
template Matrix<double> keep_top_columns(const Matrix<double>&, Index);

}  // namespace pgexplainer
