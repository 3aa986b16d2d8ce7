#include "pgexplainer/explain/rival_order.h"

#include <array>
#include <limits>
#include <utility>

#include "pgexplainer/explain/explained_row.h"
#include "pgexplainer/explain/gradient_saliency.h"
#include "pgexplainer/explain/keep_remove.h"
#include "pgexplainer/explain/node_gradient.h"
#include "pgexplainer/explain/occlusion.h"
#include "pgexplainer/explain/refinement.h"

namespace pgexplainer {
namespace {

constexpr std::array<float, 5> kWeights{0.5F, 1, 2, 4, 8};  // a of the stops between
constexpr std::int64_t kSteps = 10;                         // at each of them

}  // namespace

WayToRival::WayToRival(const InstanceGraph& instance, const EdgePairs& pairs, std::size_t c,
                       GnnRun& run, std::vector<float> place)
    : instance_(&instance),
      pairs_(&pairs),
      c_(c),
      run_(&run),
      rival_{{}, -std::numeric_limits<double>::infinity()} {
  std::vector<float> of_pair;
  const auto consider = [&](const Explainer& method) {
    pairs.mean<float>(method.score(instance, run).edge, of_pair);
    Order one = judged(places_of(of_pair));
    if (one.gap > rival_.gap) rival_ = std::move(one);
  };
  consider(GradientSaliency({}));
  consider(NodeGradient({}));
  if (instance.num_edges() <= kMostOccludedEdges) consider(Occlusion({}));
  stops_.push_back(judged(std::move(place)));
}

WayToRival::Order WayToRival::judged(std::vector<float> place) const {
  const double gap = small_gap_of(*instance_, *pairs_, place, c_, *run_);
  return {std::move(place), gap};
}

WayToRival::Order WayToRival::new_stop(std::size_t k) const {
  std::vector<float> place = stops_.front().place;
  for (std::size_t i = 0; i < place.size(); ++i) place[i] += kWeights[k - 1] * rival_.place[i];
  refine_order(*instance_, *pairs_, *run_, kSteps, place);
  return judged(std::move(place));
}

const WayToRival::Order& WayToRival::first_within(double lead) {
  for (std::size_t k = 0; k <= kWeights.size(); ++k) {
    if (k == stops_.size()) stops_.push_back(new_stop(k));
    if (stops_[k].gap >= rival_.gap - lead) return stops_[k];
  }
  return rival_;
}

std::vector<float> give_way(const InstanceGraph& instance, const EdgePairs& pairs, GnnRun& run,
                            double lead, std::vector<float> place) {
  if (pairs.count() < 2) return place;  // nothing to rank
  const std::size_t c = predicted_class(ExplainedRow(instance, run).forward({}));
  return WayToRival(instance, pairs, c, run, std::move(place)).first_within(lead).place;
}

}  // namespace pgexplainer
