#include "pgexplainer/datasets/random_edges.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "pgexplainer/core/error.h"

namespace pgexplainer {
namespace {

std::int64_t free_pairs(const RandomEdges& request, const SortedNeighbors& present) {
  const bool same = request.from == request.to;
  const std::int64_t pairs = same ? request.from.size() * (request.from.size() - 1) / 2
                                  : request.from.size() * request.to.size();
  std::int64_t taken = 0;
  for (NodeId node = request.from.begin; node < request.from.end; ++node)
    for (const NodeId neighbor : present.of(node)) taken += request.to.contains(neighbor) ? 1 : 0;
  return pairs - (same ? taken / 2 : taken);
}

}  // namespace

void add_random_edges(UndirectedEdges& edges, NodeId num_nodes,
                      std::span<const RandomEdges> requests, RandomStream random) {
  const SortedNeighbors present = sort_neighbors(num_nodes, edges);
  std::unordered_set<std::uint64_t> added;
  const auto draw = [&](NodeRange range) {
    return range.begin +
           static_cast<NodeId>(random.below(static_cast<std::uint64_t>(range.size())));
  };
  for (const RandomEdges& request : requests) {
    const std::int64_t room = free_pairs(request, present);
    if (request.count > room)
      throw_bad_input("{} random edges were asked for, but only {} pairs of nodes are not joined",
                      request.count, room);
    for (std::int64_t found = 0; found < request.count;) {
      const NodeId a = draw(request.from);
      const NodeId b = draw(request.to);
      const auto row = present.of(a);
      if (a == b || std::binary_search(row.begin(), row.end(), b)) continue;
      const auto [low, high] = std::minmax(a, b);
      if (!added.insert(static_cast<std::uint64_t>(low) << 32 | static_cast<std::uint64_t>(high))
               .second)
        continue;
      edges.add(a, b);
      ++found;
    }
  }
}

std::int64_t share_of(double fraction, std::int64_t count) {
  return static_cast<std::int64_t>(std::floor(fraction * static_cast<double>(count)));
}

}  // namespace pgexplainer
