#include "pgexplainer/datasets/ba_2motifs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pgexplainer/datasets/barabasi_albert.h"
#include "pgexplainer/datasets/motif.h"

namespace pgexplainer {
namespace {

/// Whether one of the edges from position `begin` of the endpoint list on joins a and b.
bool has_edge(const UndirectedEdges& edges, std::size_t begin, NodeId a, NodeId b) {
  const std::vector<NodeId>& ends = edges.endpoints();
  for (std::size_t i = begin; i < ends.size(); i += 2)
    if (std::minmax(ends[i], ends[i + 1]) == std::minmax(a, b)) return true;
  return false;
}

/// One graph of the dataset on the nodes of `planted`.
void add_graph(UndirectedEdges& edges, const PlantedMotifs& planted, std::int64_t edges_per_node,
               bool random_edge, RandomStream random, RandomStream base_random) {
  const std::size_t begin = edges.endpoints().size();
  const auto draw = [&](NodeId count) {
    return static_cast<NodeId>(random.below(static_cast<std::uint64_t>(count)));
  };
  const NodeId motif = planted.first_motif_node();
  add_barabasi_albert(edges, planted.first_node, planted.base_nodes, edges_per_node, base_random);
  for (const auto& [a, b] : planted.motif.edges) edges.add(motif + a, motif + b);
  edges.add(planted.first_node + draw(planted.base_nodes), motif + draw(planted.motif.num_nodes()));
  while (random_edge) {
    const NodeId a = planted.first_node + draw(planted.end() - planted.first_node);
    const NodeId b = planted.first_node + draw(planted.end() - planted.first_node);
    if (a == b || std::min(a, b) >= motif || has_edge(edges, begin, a, b)) continue;
    edges.add(a, b);
    break;
  }
}

}  // namespace

Dataset generate_ba_2motifs(const Ba2motifsOptions& options, std::uint64_t seed) {
  check_option_fields(options);
  const Motif house = house_motif();
  const Motif cycle = cycle_motif(5);
  const NodeId nodes = checked_block_nodes(options.base_nodes, 1, house, options.num_graphs);
  const auto base_nodes = static_cast<NodeId>(options.base_nodes);
  const auto graphs = static_cast<NodeId>(options.num_graphs);
  const NodeId houses = graphs / 2;
  const auto count = static_cast<std::size_t>(graphs);

  std::vector<NodeId> order(count);
  std::iota(order.begin(), order.end(), 0);
  RandomStream(seed, RandomPurpose::generate, 2).shuffle(order);
  std::vector<std::uint8_t> random_edge(count, 0);
  const auto chosen = std::llround(options.random_edge_fraction * static_cast<double>(graphs));
  for (std::size_t i = 0; i < static_cast<std::size_t>(chosen); ++i)
    random_edge[static_cast<std::size_t>(order[i])] = 1;

  const auto planted_in = [&](NodeId g) {
    return PlantedMotifs{g < houses ? house : cycle, g * (base_nodes + house.num_nodes()),
                         base_nodes, 1};
  };
  UndirectedEdges edges;
  Dataset dataset;
  dataset.name = "ba-2motifs";
  dataset.task = Task::graph;
  dataset.graph_ptr = {0};
  dataset.edge_ptr = {0};
  for (NodeId g = 0; g < graphs; ++g) {
    const auto key = static_cast<std::uint32_t>(g);
    const PlantedMotifs planted = planted_in(g);
    add_graph(edges, planted, options.edges_per_node, random_edge[key] != 0,
              RandomStream(seed, RandomPurpose::generate, 1, key),
              RandomStream(seed, RandomPurpose::generate, 0, key));
    dataset.graph_ptr.push_back(planted.end());
    dataset.edge_ptr.push_back(2 * edges.size());
    dataset.y.push_back(g < houses ? 0 : 1);
    if (g % houses < houses / 5 && g < 2 * houses) dataset.eval_instances.push_back(g);
  }
  dataset.graph = make_graph(nodes, std::move(edges));
  for (NodeId g = 0; g < graphs; ++g) mark_motif_edges(dataset, planted_in(g));
  dataset.x.setConstant(nodes, options.num_features, static_cast<float>(options.feature));
  split_80_10_10(dataset, seed);
  return dataset;
}

}  // namespace pgexplainer
