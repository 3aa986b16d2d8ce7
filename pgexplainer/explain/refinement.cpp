#include "pgexplainer/explain/refinement.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>

#include "pgexplainer/explain/explained_row.h"
#include "pgexplainer/explain/keep_remove.h"
#include "pgexplainer/explain/occlusion.h"
#include "pgexplainer/explain/ranking_objective.h"
#include "pgexplainer/nn/adam.h"

namespace pgexplainer {
namespace {

constexpr double kTau = 0.05;   // temperature of the mask
constexpr float kStep = 0.03F;  // no score moves further per step
constexpr float kNudge = 0.2F;  // towards occlusion, at the second start
constexpr double kStill = 0.1;  // gradients below this share of the mean one hardly count
constexpr double kLeastShare = 0.05, kMostShare = 0.7;
constexpr std::int64_t kSearchSteps = 50;  // from each start

/// The t-th of a sequence that fills [0, 1) evenly at any length: fractional parts of multiples of
/// the golden ratio.
double spread(double t) { return std::fmod(0.5 + 0.6180339887498949 * t, 1.0); }
// Shares of the gap, which is even in the share; small ones are where removing tells most.
double keep_share(double t) { return kLeastShare + (kMostShare - kLeastShare) * spread(t); }
double remove_share(double t) {
  return kLeastShare * std::pow(kMostShare / kLeastShare, spread(t + 0.37));
}

double root_mean_square(std::span<const float> values) {
  double squares = 0;
  for (const float value : values)
    squares += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

/// Adam, by no more than kStep at a time; what is small in the first gradient hardly counts.
struct Descent {
  AdamOptions adam{.lr = static_cast<double>(kStep), .beta1 = 0.5, .eps = 0};
  AdamState<float> state;
  std::vector<float> before;

  void step(std::span<const float> gradient, std::vector<float>& w) {
    if (adam.eps == 0) adam.eps = std::max(kStill * root_mean_square(gradient), 1e-12);
    before = w;
    adam_step<float>(adam, gradient, {}, state, w);
    for (std::size_t k = 0; k < w.size(); ++k)
      w[k] = std::clamp(w[k], before[k] - kStep, before[k] + kStep);
  }
};

/// One instance with its predicted class c; a value per pair of edges.
class Refinement {
 public:
  Refinement(const InstanceGraph& instance, const EdgePairs& pairs, GnnRun& run)
      : pairs_(pairs), network_(instance, run), c_(predicted_class(network_.forward({}))) {}

  [[nodiscard]] std::size_t predicted() const { return c_; }

  /// Both terms move the places at once, or one after the other: half the evaluations for as far a
  /// way, a little less straight.
  enum class Move { together, in_turn };

  void descend(std::int64_t steps, Move move, std::vector<float>& w) {
    Descent descent;
    for (std::int64_t t = 1; t <= steps; ++t) {
      gradient_.assign(w.size(), 0.0F);
      add_term(w, keep_share(static_cast<double>(t)), true);
      if (move == Move::in_turn) {
        descent.step(gradient_, w);
        gradient_.assign(w.size(), 0.0F);
      }
      add_term(w, remove_share(static_cast<double>(t)), false);
      descent.step(gradient_, w);
    }
  }

 private:
  /// Adds the gradient of -P_c when the share of edges is kept, or of P_c when it is removed.
  void add_term(std::span<const float> w, double share, bool keep) {
    shifted_mask<float>(w, kTau, share, m_);
    pairs_.spread<float>(m_, mask_);
    if (!keep)
      for (float& value : mask_) value = 1.0F - value;
    const std::span<const float> logits = network_.forward(mask_);
    dlogits_.assign(logits.size(), 0.0F);
    keep_loss<float>(logits, c_, keep ? 1.0F : -1.0F, dlogits_);
    dmask_.assign(mask_.size(), 0.0F);
    network_.backward(dlogits_, dmask_);
    pairs_.sum<float>(dmask_, dm_);
    if (!keep)
      for (float& value : dm_) value = -value;
    shifted_mask_backward<float>(m_, kTau, dm_, dw_);
    for (std::size_t k = 0; k < dw_.size(); ++k) gradient_[k] += dw_[k];
  }

  const EdgePairs& pairs_;
  ExplainedRow network_;
  std::size_t c_;
  std::vector<float> m_, mask_, dmask_, dm_, dlogits_, dw_, gradient_;
};

}  // namespace

std::vector<float> places_of(std::span<const float> pair_score) {
  std::vector<float> place(pair_score.begin(), pair_score.end());
  if (place.empty()) return place;
  double mean = 0;
  for (const float value : place) mean += static_cast<double>(value);
  mean /= static_cast<double>(place.size());
  for (float& value : place) value -= static_cast<float>(mean);
  const auto unit = static_cast<float>(std::max(root_mean_square(place), 1e-6));
  for (float& value : place) value /= unit;
  return place;
}

void refine_order(const InstanceGraph& instance, const EdgePairs& pairs, GnnRun& run,
                  std::int64_t steps, std::vector<float>& place) {
  if (steps == 0 || pairs.count() < 2) return;  // nothing to rank
  Refinement(instance, pairs, run).descend(steps, Refinement::Move::in_turn, place);
}

std::vector<float> search_order(const InstanceGraph& instance, const EdgePairs& pairs, GnnRun& run,
                                std::span<const float> place) {
  std::vector<float> here(place.begin(), place.end());
  if (pairs.count() < 2) return here;
  Refinement refinement(instance, pairs, run);
  std::vector<float> loss;
  pairs.mean<float>(Occlusion({}).score(instance, run).edge, loss);
  std::vector<float> near_occlusion = places_of(loss);
  for (std::size_t k = 0; k < here.size(); ++k)
    near_occlusion[k] = here[k] + kNudge * near_occlusion[k];
  refinement.descend(kSearchSteps, Refinement::Move::together, here);
  refinement.descend(kSearchSteps, Refinement::Move::together, near_occlusion);
  const auto gap = [&](std::span<const float> w) {
    return small_gap_of(instance, pairs, w, refinement.predicted(), run);
  };
  return gap(here) >= gap(near_occlusion) ? here : near_occlusion;
}

std::vector<float> in_order_of(std::span<const float> place, std::vector<float> pair_score) {
  std::vector<std::size_t> order(place.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return place[a] > place[b]; });
  std::sort(pair_score.begin(), pair_score.end(), std::greater<>());
  for (std::size_t rank = 1; rank < pair_score.size(); ++rank)
    pair_score[rank] = std::min(pair_score[rank], std::nextafter(pair_score[rank - 1], -HUGE_VALF));
  std::vector<float> result(place.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) result[order[rank]] = pair_score[rank];
  return result;
}

}  // namespace pgexplainer
