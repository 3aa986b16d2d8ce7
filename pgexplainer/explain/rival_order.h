// From the order of an instance towards that of a simple method which explains it more faithfully.
//
// An order learnt from what instances have in common is not the best for every single one: where a
// network decides by few edges that differ from instance to instance, leaving out one edge after
// the other, or a gradient, tells more. So an instance can give way to the most faithful of these
// rivals, by stops,
//
//   w_k = places + a_k rival's places, refined by a few steps,   a = 0, 1/2, 1, 2, 4, 8, infinity
//
// at the first of which the rival is not ahead by more than a lead in the gap of keep_remove.h. A
// large lead changes few instances, those that gain most; order_fit.h finds how large it may be.
// Source: our own measurements, docs/reliability.md.
#pragma once

#include <cstddef>
#include <vector>

#include "pgexplainer/explain/edge_pairs.h"
#include "pgexplainer/model/instance_graph.h"

namespace pgexplainer {

/// Larger instances are not asked for every edge, whose number and price both grow.
inline constexpr EdgeId kMostOccludedEdges = 4096;

/// Rivals are grad, gradient and, up to kMostOccludedEdges, occlusion. Instance, pairs and run must
/// outlive it.
class WayToRival {
 public:
  /// At least one pair of edges, with a place each (refinement.h); c is the predicted class.
  WayToRival(const InstanceGraph& instance, const EdgePairs& pairs, std::size_t c, GnnRun& run,
             std::vector<float> place);

  struct Order {
    std::vector<float> place;
    double gap = 0;
  };
  [[nodiscard]] const Order& rival() const { return rival_; }
  /// The first stop that is behind the rival by no more than `lead`, which is at least 0. Valid
  /// until the next call.
  const Order& first_within(double lead);

 private:
  [[nodiscard]] Order judged(std::vector<float> place) const;
  [[nodiscard]] Order new_stop(std::size_t k) const;

  const InstanceGraph* instance_;
  const EdgePairs* pairs_;
  std::size_t c_;
  GnnRun* run_;
  Order rival_;
  std::vector<Order> stops_;  // as far as anybody went
};

/// The places, or those of the first stop within the lead.
std::vector<float> give_way(const InstanceGraph& instance, const EdgePairs& pairs, GnnRun& run,
                            double lead, std::vector<float> place);

}  // namespace pgexplainer
