#include "pgexplainer/metrics/connectedness.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"

namespace pgexplainer {

Connectedness connectedness(const Adjacency& graph, std::span<const std::uint8_t> selected) {
  const auto is_selected = [&](EdgeId slot) {
    const EdgeId e = graph.edge_of(slot);
    if (at(e) >= selected.size())
      throw_bad_input("the selection has {} entries, but edge {} is there", selected.size(), e);
    return selected[at(e)] != 0;
  };
  // Union-find with path halving.
  std::vector<NodeId> parent(at(graph.num_nodes()));
  std::iota(parent.begin(), parent.end(), NodeId{0});
  const auto root = [&](NodeId node) {
    while (parent[at(node)] != node) node = parent[at(node)] = parent[at(parent[at(node)])];
    return node;
  };
  for (NodeId i = 0; i < graph.num_nodes(); ++i)
    for (EdgeId slot = graph.in_ptr[at(i)]; slot < graph.in_ptr[at(i) + 1]; ++slot)
      if (is_selected(slot)) parent[at(root(graph.in_source[at(slot)]))] = root(i);

  std::vector<std::int64_t> edges(parent.size(), 0);  // of the component with this root
  std::int64_t total = 0;
  for (NodeId i = 0; i < graph.num_nodes(); ++i)
    for (EdgeId slot = graph.in_ptr[at(i)]; slot < graph.in_ptr[at(i) + 1]; ++slot)
      if (is_selected(slot)) {
        ++edges[at(root(i))];
        ++total;
      }
  if (total == 0) return {std::numeric_limits<double>::quiet_NaN(), 0};
  const std::int64_t largest = *std::max_element(edges.begin(), edges.end());
  const auto empty = std::count(edges.begin(), edges.end(), 0);
  return {static_cast<double>(largest) / static_cast<double>(total),
          static_cast<std::int64_t>(edges.size()) - empty};
}

}  // namespace pgexplainer
