#include "pgexplainer/metrics/stability.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/metrics/top_k.h"

namespace pgexplainer {
namespace {

double correlation_of_ranks(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean = 0.5 * (static_cast<double>(a.size()) + 1.0);  // of any ranks, shared or not
  double ab = 0.0;
  double aa = 0.0;
  double bb = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean) * (b[i] - mean);
    aa += (a[i] - mean) * (a[i] - mean);
    bb += (b[i] - mean) * (b[i] - mean);
  }
  if (aa == 0.0 || bb == 0.0) return std::numeric_limits<double>::quiet_NaN();
  return std::clamp(ab / std::sqrt(aa) / std::sqrt(bb), -1.0, 1.0);
}

std::vector<std::int64_t> sorted_top_k(std::span<const float> score, std::int64_t k) {
  std::vector<std::int64_t> ids = top_k(score, k);
  std::sort(ids.begin(), ids.end());
  return ids;
}

double jaccard(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  std::vector<std::int64_t> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  const std::size_t either = a.size() + b.size() - both.size();
  return either == 0 ? std::numeric_limits<double>::quiet_NaN()
                     : static_cast<double>(both.size()) / static_cast<double>(either);
}

void check_lengths(std::size_t a, std::size_t b) {
  if (a != b) throw_bad_input("the runs score {} and {} edges, expected the same edges", a, b);
}

}  // namespace

std::vector<double> average_ranks(std::span<const float> score) {
  const std::vector<std::int64_t> order = top_k(score, static_cast<std::int64_t>(score.size()));
  std::vector<double> rank(score.size());
  const std::size_t n = score.size();
  for (std::size_t begin = 0, end = 0; begin < n; begin = end) {
    while (end < n && score[at(order[end])] == score[at(order[begin])]) ++end;
    // Places begin + 1 .. end from above are ranks n - end + 1 .. n - begin from below.
    const double shared = 0.5 * static_cast<double>((n - end + 1) + (n - begin));
    for (std::size_t i = begin; i < end; ++i) rank[at(order[i])] = shared;
  }
  return rank;
}

double spearman(std::span<const float> a, std::span<const float> b) {
  check_lengths(a.size(), b.size());
  return correlation_of_ranks(average_ranks(a), average_ranks(b));
}

double top_k_jaccard(std::span<const float> a, std::span<const float> b, std::int64_t k) {
  check_lengths(a.size(), b.size());
  return jaccard(sorted_top_k(a, k), sorted_top_k(b, k));
}

Stability stability(std::span<const std::vector<float>> runs, std::int64_t k) {
  std::vector<std::vector<double>> rank;
  std::vector<std::vector<std::int64_t>> best;
  for (const std::vector<float>& score : runs) {
    check_lengths(score.size(), runs.front().size());
    rank.push_back(average_ranks(score));
    best.push_back(sorted_top_k(score, k));
  }
  Stability result;
  double sum_spearman = 0.0;
  double sum_jaccard = 0.0;
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (std::size_t j = i + 1; j < runs.size(); ++j) {
      ++result.num_pairs;
      sum_jaccard += jaccard(best[i], best[j]);
      const double correlation = correlation_of_ranks(rank[i], rank[j]);
      if (std::isnan(correlation))
        ++result.num_undefined;
      else
        sum_spearman += correlation;
    }
  result.spearman = sum_spearman / static_cast<double>(result.num_pairs - result.num_undefined);
  result.jaccard = sum_jaccard / static_cast<double>(result.num_pairs);
  return result;
}

}  // namespace pgexplainer
