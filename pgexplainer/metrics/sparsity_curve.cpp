#include "pgexplainer/metrics/sparsity_curve.h"

#include <algorithm>
#include <cmath>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/metrics/edge_pairs.h"
#include "pgexplainer/metrics/top_k.h"

namespace pgexplainer {

std::vector<double> default_sparsity_levels() {
  std::vector<double> levels;
  for (int tenth = 1; tenth <= 9; ++tenth) levels.push_back(tenth / 10.0);
  return levels;
}

std::vector<SparsityPoint> fidelity_by_sparsity(GnnRun& run, const GnnInput<float>& input,
                                                std::span<const float> score,
                                                std::span<const EdgeId> reverse,
                                                std::span<const double> levels) {
  const std::vector<EdgePair> pairs = edge_pairs(input.graph, reverse);
  const std::vector<float> mean = mean_of_directions(pairs, score);
  const std::vector<std::int64_t> order = top_k(mean, static_cast<std::int64_t>(mean.size()));
  Predictions<float> logits;
  logits.full = run.forward(input, {});
  std::vector<SparsityPoint> curve;
  std::vector<float> kept(score.size()), dropped(score.size());
  for (const double level : levels) {
    if (!(level >= 0.0 && level <= 1.0))
      throw_bad_input("sparsity is {}, expected a share from 0 to 1", level);
    const auto count =
        static_cast<std::size_t>(std::lround((1.0 - level) * static_cast<double>(pairs.size())));
    std::fill(kept.begin(), kept.end(), 0.0F);
    std::fill(dropped.begin(), dropped.end(), 1.0F);
    for (std::size_t i = 0; i < count; ++i) {
      const EdgePair pair = pairs[at(order[i])];
      for (const EdgeId e : {pair.first, pair.second}) {
        if (e == kNoEdge) continue;
        kept[at(e)] = 1.0F;
        dropped[at(e)] = 0.0F;
      }
    }
    logits.masked = run.forward(input, kept);
    logits.complement = run.forward(input, dropped);
    curve.push_back({level, fidelity_by_label(logits), fidelity_by_probability(logits)});
  }
  return curve;
}

void MeanSparsityCurve::add(std::span<const SparsityPoint> curve) {
  const auto same_level = [](const SparsityPoint& a, const SparsityPoint& b) {
    return a.sparsity == b.sparsity;
  };
  if (num_instances_ == 0) {
    sum_.assign(curve.begin(), curve.end());
  } else {
    if (!std::equal(curve.begin(), curve.end(), sum_.begin(), sum_.end(), same_level))
      throw_bad_input("a mean curve needs the same sparsity levels in every curve");
    for (std::size_t i = 0; i < sum_.size(); ++i) {
      sum_[i].label.plus += curve[i].label.plus;
      sum_[i].label.minus += curve[i].label.minus;
      sum_[i].probability.plus += curve[i].probability.plus;
      sum_[i].probability.minus += curve[i].probability.minus;
    }
  }
  ++num_instances_;
}

std::vector<SparsityPoint> MeanSparsityCurve::mean() const {
  std::vector<SparsityPoint> mean = sum_;
  const auto n = static_cast<double>(num_instances_);
  for (SparsityPoint& point : mean)
    point = {point.sparsity,
             {point.label.plus / n, point.label.minus / n},
             {point.probability.plus / n, point.probability.minus / n}};
  return mean;
}

}  // namespace pgexplainer
