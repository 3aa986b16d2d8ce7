#include "pgexplainer/datasets/motif.h"

#include <algorithm>
#include <numeric>

namespace pgexplainer {

Motif house_motif() { return {{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 0}, {4, 1}}, {1, 1, 2, 2, 3}}; }

Motif cycle_motif(std::int64_t length) {
  Motif motif;
  motif.labels.assign(static_cast<std::size_t>(length), 1);
  const NodeId count = motif.num_nodes();
  for (NodeId i = 0; i < count; ++i) motif.edges.emplace_back(i, (i + 1) % count);
  return motif;
}

Motif grid_motif(std::int64_t side) {
  Motif motif;
  motif.labels.assign(static_cast<std::size_t>(side * side), 1);
  const auto width = static_cast<NodeId>(side);
  for (NodeId i = 0; i < motif.num_nodes(); ++i) {
    if ((i + 1) % width != 0) motif.edges.emplace_back(i, i + 1);
    if (i + width < motif.num_nodes()) motif.edges.emplace_back(i, i + width);
  }
  return motif;
}

NodeId checked_block_nodes(std::int64_t base_nodes, std::int64_t num_motifs, const Motif& motif,
                           std::int64_t blocks) {
  return checked_num_nodes(blocks * (base_nodes + num_motifs * motif.num_nodes()));
}

std::vector<NodeId> attach_motifs(UndirectedEdges& edges, const PlantedMotifs& planted,
                                  RandomStream random) {
  std::vector<NodeId> base(static_cast<std::size_t>(planted.base_nodes));
  std::iota(base.begin(), base.end(), planted.first_node);
  random.shuffle(base);
  std::vector<NodeId> hosts;
  hosts.reserve(static_cast<std::size_t>(planted.num_motifs));
  for (NodeId i = 0; i < planted.num_motifs; ++i) {
    const NodeId first = planted.node_of(i);
    for (const auto& [a, b] : planted.motif.edges) edges.add(first + a, first + b);
    hosts.push_back(base[static_cast<std::size_t>(i % planted.base_nodes)]);
    edges.add(hosts.back(), first);
  }
  return hosts;
}

void append_labels(std::vector<std::int64_t>& y, const PlantedMotifs& planted,
                   std::int64_t offset) {
  y.insert(y.end(), static_cast<std::size_t>(planted.base_nodes), offset);
  for (NodeId i = 0; i < planted.num_motifs; ++i)
    for (const std::int64_t label : planted.motif.labels) y.push_back(label + offset);
}

void mark_motif_edges(Dataset& dataset, const PlantedMotifs& planted) {
  const Graph& graph = dataset.graph;
  const NodeId size = planted.motif.num_nodes();
  UndirectedEdges motif_edges;
  for (const auto& [a, b] : planted.motif.edges) motif_edges.add(a, b);
  const SortedNeighbors inside = sort_neighbors(size, motif_edges);
  dataset.edge_gt.resize(static_cast<std::size_t>(graph.num_edges()));
  for (NodeId node = planted.first_motif_node(); node < planted.end(); ++node) {
    const NodeId local = (node - planted.first_motif_node()) % size;
    const auto partners = inside.of(local);
    for (const EdgeId edge : graph.in_edges(node))
      if (std::binary_search(partners.begin(), partners.end(), local + graph.source(edge) - node))
        dataset.edge_gt[static_cast<std::size_t>(edge)] = 1;
  }
}

Dataset make_node_dataset(std::string name, NodeId num_nodes, UndirectedEdges edges) {
  Dataset dataset;
  dataset.name = std::move(name);
  dataset.task = Task::node;
  dataset.graph = make_graph(num_nodes, std::move(edges));
  dataset.graph_ptr = {0, num_nodes};
  dataset.edge_ptr = {0, dataset.graph.num_edges()};
  return dataset;
}

}  // namespace pgexplainer
