#include "pgexplainer/explain/explanation.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "pgexplainer/core/index.h"
#include "pgexplainer/explain/edge_pairs.h"

namespace pgexplainer {
namespace {

/// The best pairs of directions, at most `count` of them, best first.
std::vector<EdgeId> best_pairs(const Explanation& explanation, const EdgePairs& pairs,
                               std::int64_t count) {
  std::vector<float> score;
  pairs.mean<float>(explanation.score, score);
  std::vector<EdgeId> order(at(pairs.count()));
  std::iota(order.begin(), order.end(), 0);
  const auto end = order.begin() + std::clamp<std::int64_t>(count, 0, pairs.count());
  std::partial_sort(order.begin(), end, order.end(), [&](EdgeId a, EdgeId b) {
    return score[at(a)] != score[at(b)] ? score[at(a)] > score[at(b)] : a < b;
  });
  order.erase(end, order.end());
  return order;
}

std::vector<std::uint8_t> edges_of(const EdgePairs& pairs, std::span<const EdgeId> chosen) {
  std::vector<std::uint8_t> of_pair(at(pairs.count()), 0), of_edge;
  for (const EdgeId pair : chosen) of_pair[at(pair)] = 1;
  pairs.spread<std::uint8_t>(of_pair, of_edge);
  return of_edge;
}

}  // namespace

std::int64_t Prediction::predicted_class() const {
  return std::max_element(probability.begin(), probability.end()) - probability.begin();
}

double Explanation::confidence() const {
  if (prediction.probability.empty() || prediction_kept.probability.empty() ||
      prediction_removed.probability.empty())
    return std::numeric_limits<double>::quiet_NaN();
  const auto c = at(prediction.predicted_class());
  const double whole = prediction.probability[c];
  const double kept = prediction_kept.probability[c], removed = prediction_removed.probability[c];
  return whole > 0 ? std::clamp((kept - removed) / whole, 0.0, 1.0) : 0.0;
}

void keep_selected(Explanation& explanation) {
  std::vector<EdgeId> moved(explanation.edges.size(), kNoEdge);  // old position to new
  std::vector<NodeId> ends = explanation.targets;
  std::size_t kept = 0;
  for (std::size_t e = 0; e < moved.size(); ++e) {
    if (!explanation.selected[e]) continue;
    moved[e] = static_cast<EdgeId>(kept);
    explanation.edges[kept] = explanation.edges[e];
    explanation.source[kept] = explanation.source[e];
    explanation.target[kept] = explanation.target[e];
    explanation.reverse[kept] = explanation.reverse[e];
    explanation.score[kept] = explanation.score[e];
    ends.insert(ends.end(), {explanation.source[e], explanation.target[e]});
    ++kept;
  }
  explanation.edges.resize(kept);
  explanation.source.resize(kept);
  explanation.target.resize(kept);
  explanation.reverse.resize(kept);
  explanation.score.resize(kept);
  explanation.selected.assign(kept, 1);
  for (EdgeId& reverse : explanation.reverse)
    if (reverse != kNoEdge) reverse = moved[at(reverse)];
  std::sort(ends.begin(), ends.end());
  std::erase_if(explanation.nodes,
                [&](NodeId node) { return !std::binary_search(ends.begin(), ends.end(), node); });
}

void merge_directions(Explanation& explanation) {
  const EdgePairs pairs(explanation.reverse);
  std::vector<float> mean;
  pairs.mean<float>(explanation.score, mean);
  pairs.spread<float>(mean, explanation.score);
}

std::vector<std::uint8_t> top_k(const Explanation& explanation, std::int64_t k) {
  const EdgePairs pairs(explanation.reverse);
  return edges_of(pairs, best_pairs(explanation, pairs, k));
}

std::vector<std::uint8_t> at_least(const Explanation& explanation, double threshold) {
  const EdgePairs pairs(explanation.reverse);
  std::vector<float> score;
  pairs.mean<float>(explanation.score, score);
  std::vector<EdgeId> chosen;
  for (EdgeId pair = 0; pair < pairs.count(); ++pair)
    if (static_cast<double>(score[at(pair)]) >= threshold) chosen.push_back(pair);
  return edges_of(pairs, chosen);
}

std::vector<std::uint8_t> within_budget(const Explanation& explanation, std::int64_t budget) {
  const EdgePairs pairs(explanation.reverse);
  std::vector<EdgeId> chosen;
  for (const EdgeId pair : best_pairs(explanation, pairs, budget)) {
    budget -= pairs.size(pair);
    if (budget < 0) break;
    chosen.push_back(pair);
  }
  return edges_of(pairs, chosen);
}

std::vector<std::uint8_t> complement(std::span<const std::uint8_t> selected) {
  std::vector<std::uint8_t> rest(selected.size());
  for (std::size_t e = 0; e < rest.size(); ++e) rest[e] = selected[e] ? 0 : 1;
  return rest;
}

std::vector<std::uint8_t> connected_part(const Explanation& explanation,
                                         std::span<const std::uint8_t> selected) {
  std::unordered_map<NodeId, NodeId> root;
  const auto find = [&](NodeId node) {
    auto at_node = root.try_emplace(node, node).first;
    while (at_node->second != at_node->first) {
      const auto above = root.find(at_node->second);
      at_node->second = above->second;
      at_node = above;
    }
    return at_node->first;
  };
  std::unordered_map<NodeId, std::int64_t> part_size;
  for (std::size_t e = 0; e < selected.size(); ++e)
    if (selected[e]) {
      const NodeId a = find(explanation.source[e]), b = find(explanation.target[e]);
      root[std::max(a, b)] = std::min(a, b);
    }
  std::vector<NodeId> wanted;
  for (const NodeId target : explanation.targets) wanted.push_back(find(target));
  if (explanation.targets.empty()) {
    for (std::size_t e = 0; e < selected.size(); ++e)
      if (selected[e]) ++part_size[find(explanation.source[e])];
    std::int64_t largest = 0;
    for (std::size_t e = 0; e < selected.size(); ++e) {
      if (!selected[e]) continue;
      const NodeId part = find(explanation.source[e]);
      if (part_size[part] > largest) {
        largest = part_size[part];
        wanted.assign(1, part);
      }
    }
  }
  std::vector<std::uint8_t> kept(selected.begin(), selected.end());
  for (std::size_t e = 0; e < kept.size(); ++e)
    if (kept[e] &&
        std::find(wanted.begin(), wanted.end(), find(explanation.source[e])) == wanted.end())
      kept[e] = 0;
  return kept;
}

std::vector<std::uint8_t> select_edges(const Explanation& explanation,
                                       const SelectionOptions& options) {
  std::vector<std::uint8_t> selected =
      options.use_threshold      ? at_least(explanation, options.threshold)
      : options.max_selected > 0 ? within_budget(explanation, options.max_selected)
                                 : top_k(explanation, options.top_k);
  return options.connected ? connected_part(explanation, selected) : selected;
}

}  // namespace pgexplainer
