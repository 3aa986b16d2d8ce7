#include "pgexplainer/datasets/tree_cycles.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pgexplainer/datasets/balanced_tree.h"
#include "pgexplainer/datasets/motif.h"
#include "pgexplainer/datasets/random_edges.h"

namespace pgexplainer {
namespace {

/// The published graph links about half of its cycles twice: a node one to three steps further
/// round the cycle joins a node one to three places after the host in the tree.
void add_second_links(UndirectedEdges& edges, const PlantedMotifs& planted,
                      const std::vector<NodeId>& hosts, double fraction, RandomStream random) {
  std::vector<NodeId> cycles(hosts.size());
  std::iota(cycles.begin(), cycles.end(), 0);
  random.shuffle(cycles);
  cycles.resize(
      static_cast<std::size_t>(std::llround(fraction * static_cast<double>(planted.num_motifs))));
  const auto steps = static_cast<std::uint64_t>(std::min(3, planted.motif.num_nodes() - 1));
  for (const NodeId cycle : cycles) {
    const auto step = static_cast<NodeId>(1 + random.below(steps));
    const auto place = static_cast<std::int64_t>(1 + random.below(3));
    const NodeId host = hosts[static_cast<std::size_t>(cycle)];
    edges.add(static_cast<NodeId>((host + place) % planted.base_nodes),
              planted.node_of(cycle) + step);
  }
}

}  // namespace

Dataset generate_tree_cycles(const TreeCyclesOptions& options, std::uint64_t seed) {
  check_option_fields(options);
  const Motif cycle = cycle_motif(options.cycle_length);
  const std::int64_t tree_nodes = balanced_tree_nodes(options.tree_levels);
  const NodeId nodes = checked_block_nodes(tree_nodes, options.num_motifs, cycle);
  const PlantedMotifs planted{cycle, 0, static_cast<NodeId>(tree_nodes),
                              static_cast<NodeId>(options.num_motifs)};
  UndirectedEdges edges;
  add_balanced_tree(edges, planted.base_nodes);
  const std::vector<NodeId> hosts =
      attach_motifs(edges, planted, RandomStream(seed, RandomPurpose::generate, 1));
  add_second_links(edges, planted, hosts, options.second_link_fraction,
                   RandomStream(seed, RandomPurpose::generate, 4));
  const NodeRange all{0, nodes};
  const RandomEdges noise{all, all, share_of(options.random_edge_fraction, edges.size())};
  add_random_edges(edges, nodes, {&noise, 1}, RandomStream(seed, RandomPurpose::generate, 2));

  Dataset dataset = make_node_dataset("tree-cycles", nodes, std::move(edges));
  mark_motif_edges(dataset, planted);
  dataset.x.setOnes(nodes, options.num_features);
  append_labels(dataset.y, planted);
  for (NodeId i = 0; i < planted.num_motifs; ++i)
    dataset.eval_instances.push_back(planted.node_of(i));
  split_80_10_10(dataset, seed);
  return dataset;
}

}  // namespace pgexplainer
