#include "pgexplainer/explain/refinement.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "pgexplainer/explain/edge_pairs.h"
#include "pgexplainer/explain/explained_row.h"
#include "pgexplainer/explain/ranking_objective.h"
#include "pgexplainer/nn/adam.h"

namespace pgexplainer {
namespace {

constexpr double kTau = 0.05;   // temperature of the mask
constexpr double kStep = 0.04;  // of Adam: no score moves further per step
constexpr double kLeastShare = 0.05, kMostShare = 0.7;

/// The t-th of a sequence that fills the range of shares, in logarithms, evenly at any length:
/// fractional parts of multiples of the golden ratio.
double spread_share(double t) {
  constexpr double kGolden = 0.6180339887498949;
  const double u = std::fmod(0.5 + kGolden * t, 1.0);
  return kLeastShare * std::pow(kMostShare / kLeastShare, u);
}

double standard_deviation(std::span<const float> values) {
  double mean = 0, squares = 0;
  for (const float value : values) mean += static_cast<double>(value);
  mean /= static_cast<double>(values.size());
  for (const float value : values) {
    const double d = static_cast<double>(value) - mean;
    squares += d * d;
  }
  return std::sqrt(squares / static_cast<double>(values.size()));
}

}  // namespace

void refine_scores(const InstanceGraph& instance, GnnRun& run, std::int64_t steps,
                   std::vector<float>& score) {
  const EdgePairs pairs(instance.reverse);
  if (steps == 0 || pairs.count() < 2) return;  // nothing to rank
  ExplainedRow network(instance, run);
  const std::size_t c = predicted_class(network.forward({}));
  std::vector<float> w, m, mask, dmask(score.size()), dm, dlogits, dw, gradient;
  pairs.mean<float>(score, w);
  const float unit = std::max(static_cast<float>(standard_deviation(w)), 1e-6F);
  for (float& value : w) value /= unit;

  /// Adds the gradient of -P_c when the share of edges is kept, or of P_c when it is removed.
  const auto add_term = [&](double share, bool keep) {
    shifted_mask<float>(w, kTau, share, m);
    pairs.spread<float>(m, mask);
    if (!keep)
      for (float& value : mask) value = 1.0F - value;
    const std::span<const float> logits = network.forward(mask);
    dlogits.assign(logits.size(), 0.0F);
    keep_loss<float>(logits, c, keep ? 1.0F : -1.0F, dlogits);
    std::fill(dmask.begin(), dmask.end(), 0.0F);
    network.backward(dlogits, dmask);
    pairs.sum<float>(dmask, dm);
    if (!keep)
      for (float& value : dm) value = -value;
    shifted_mask_backward<float>(m, kTau, dm, dw);
    for (std::size_t k = 0; k < dw.size(); ++k) gradient[k] += dw[k];
  };
  AdamOptions adam;
  adam.lr = kStep;
  AdamState<float> state;
  for (std::int64_t t = 1; t <= steps; ++t) {
    gradient.assign(w.size(), 0.0F);
    add_term(spread_share(static_cast<double>(t)), true);
    add_term(spread_share(static_cast<double>(t) + 0.37), false);
    adam_step<float>(adam, gradient, {}, state, w);
  }
  for (float& value : w) value *= unit;
  pairs.spread<float>(w, score);
}

}  // namespace pgexplainer
