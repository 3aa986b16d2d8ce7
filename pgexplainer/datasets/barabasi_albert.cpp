#include "pgexplainer/datasets/barabasi_albert.h"

#include <algorithm>
#include <numeric>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"

namespace pgexplainer {

void add_barabasi_albert(UndirectedEdges& edges, NodeId first_node, NodeId num_nodes,
                         std::int64_t m, RandomStream random) {
  if (m < 1 || m >= num_nodes)
    throw_bad_input(
        "a Barabasi-Albert graph of {} nodes cannot give every new node {} edges; expected 1 to {}",
        num_nodes, m, num_nodes - 1);
  const std::size_t begin = edges.endpoints().size();
  std::vector<NodeId> chosen(at(m));
  std::iota(chosen.begin(), chosen.end(), first_node);
  for (auto node = static_cast<NodeId>(m); node < num_nodes; ++node) {
    for (const NodeId older : chosen) edges.add(first_node + node, older);
    chosen.clear();
    // An endpoint drawn at random is a node drawn in proportion to its degree.
    const std::vector<NodeId>& ends = edges.endpoints();
    while (node + 1 < num_nodes && static_cast<std::int64_t>(chosen.size()) < m) {
      const NodeId older = ends[begin + random.below(ends.size() - begin)];
      if (std::find(chosen.begin(), chosen.end(), older) == chosen.end()) chosen.push_back(older);
    }
  }
}

}  // namespace pgexplainer
