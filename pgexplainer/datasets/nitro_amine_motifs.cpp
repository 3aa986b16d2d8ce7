#include "pgexplainer/datasets/nitro_amine_motifs.h"

#include "pgexplainer/core/error.h"

namespace pgexplainer {
namespace {

constexpr std::int64_t kOxygen = 1;
constexpr std::int64_t kHydrogen = 3;
constexpr std::int64_t kNitrogen = 4;

}  // namespace

std::vector<std::uint8_t> nitro_amine_motifs(const Graph& graph,
                                             std::span<const std::int64_t> atom_type) {
  if (atom_type.size() != static_cast<std::size_t>(graph.num_nodes()))
    throw_bad_input("{} atom types were given for {} atoms", atom_type.size(), graph.num_nodes());
  if (!graph.is_undirected())
    throw_bad_input("the bonds of a molecule must be listed in both directions");
  const auto type = [&](NodeId atom) { return atom_type[static_cast<std::size_t>(atom)]; };

  std::vector<std::uint8_t> marked(static_cast<std::size_t>(graph.num_edges()), 0);
  for (NodeId nitrogen = 0; nitrogen < graph.num_nodes(); ++nitrogen) {
    if (type(nitrogen) != kNitrogen || graph.out_degree(nitrogen) != 3) continue;
    std::vector<EdgeId> oxygens, hydrogens;  // all of them, terminal or not
    bool terminal = true;
    for (const EdgeId bond : graph.in_edges(nitrogen)) {
      const NodeId other = graph.source(bond);
      if (type(other) != kOxygen && type(other) != kHydrogen) continue;
      (type(other) == kOxygen ? oxygens : hydrogens).push_back(bond);
      terminal = terminal && graph.out_degree(other) == 1;
    }
    // One of the lists has both bonds of the group, and the third neighbour is in neither list.
    if (!terminal || oxygens.size() + hydrogens.size() != 2 || oxygens.size() == 1) continue;
    for (const EdgeId bond : oxygens.empty() ? hydrogens : oxygens)
      for (const EdgeId direction : {bond, graph.reverse_edge(bond)})
        marked[static_cast<std::size_t>(direction)] = 1;
  }
  return marked;
}

}  // namespace pgexplainer
