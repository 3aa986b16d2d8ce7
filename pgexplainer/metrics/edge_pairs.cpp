#include "pgexplainer/metrics/edge_pairs.h"

#include <algorithm>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"

namespace pgexplainer {

std::vector<EdgePair> edge_pairs(const Adjacency& graph, std::span<const EdgeId> reverse) {
  std::vector<EdgeId> edges(at(graph.num_edges()));
  for (EdgeId slot = 0; slot < graph.num_edges(); ++slot) edges[at(slot)] = graph.edge_of(slot);
  std::sort(edges.begin(), edges.end());
  std::vector<EdgePair> pairs;
  for (const EdgeId e : edges) {
    if (reverse.empty()) {
      pairs.push_back({e, kNoEdge});
      continue;
    }
    const auto known = static_cast<EdgeId>(reverse.size());
    if (e >= known) throw_bad_input("the reverse edges are {}, but edge {} is there", known, e);
    const EdgeId r = reverse[at(e)];
    if (r != kNoEdge && (r < 0 || r >= known || reverse[at(r)] != e))
      throw_bad_input("the reverse of edge {} is {}, which does not point back", e, r);
    if (r == kNoEdge || r == e)
      pairs.push_back({e, kNoEdge});
    else if (e < r)
      pairs.push_back({e, r});
  }
  return pairs;
}

std::vector<float> mean_of_directions(std::span<const EdgePair> pairs,
                                      std::span<const float> score) {
  const auto known = static_cast<EdgeId>(score.size());
  std::vector<float> mean;
  mean.reserve(pairs.size());
  for (const EdgePair& pair : pairs) {
    if (std::max(pair.first, pair.second) >= known)
      throw_bad_input("got {} scores, but edge {} is there", known,
                      std::max(pair.first, pair.second));
    const float first = score[at(pair.first)];
    // Halved before the sum, which then cannot overflow.
    mean.push_back(pair.second == kNoEdge ? first : 0.5F * first + 0.5F * score[at(pair.second)]);
  }
  return mean;
}

}  // namespace pgexplainer
