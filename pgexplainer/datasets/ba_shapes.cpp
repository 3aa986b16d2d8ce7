#include "pgexplainer/datasets/ba_shapes.h"

#include "pgexplainer/datasets/barabasi_albert.h"
#include "pgexplainer/datasets/motif.h"
#include "pgexplainer/datasets/random_edges.h"
#include "pgexplainer/datasets/ring_lattice.h"

namespace pgexplainer {

Dataset generate_ba_shapes(const BaShapesOptions& options, std::uint64_t seed) {
  check_option_fields(options);
  const Motif house = house_motif();
  const NodeId nodes = checked_block_nodes(options.base_nodes, options.num_motifs, house);
  const PlantedMotifs planted{house, 0, static_cast<NodeId>(options.base_nodes),
                              static_cast<NodeId>(options.num_motifs)};
  UndirectedEdges edges;
  if (options.base == "barabasi-albert")
    add_barabasi_albert(edges, 0, planted.base_nodes, options.edges_per_node,
                        RandomStream(seed, RandomPurpose::generate, 0));
  else if (options.base == "ring")
    add_ring_lattice(edges, planted.base_nodes, options.edges_per_node);
  else
    throw_bad_input("option base is '{}', expected barabasi-albert or ring", options.base);
  attach_motifs(edges, planted, RandomStream(seed, RandomPurpose::generate, 1));
  const NodeRange all{0, nodes};
  const RandomEdges noise{all, all, share_of(options.random_edge_fraction, edges.size())};
  add_random_edges(edges, nodes, {&noise, 1}, RandomStream(seed, RandomPurpose::generate, 2));

  Dataset dataset = make_node_dataset("ba-shapes", nodes, std::move(edges));
  mark_motif_edges(dataset, planted);
  dataset.x.setOnes(nodes, options.num_features);
  append_labels(dataset.y, planted);
  for (NodeId i = planted.num_motifs / 4; i < planted.num_motifs; ++i)
    dataset.eval_instances.push_back(planted.node_of(i));
  split_80_10_10(dataset, seed);
  return dataset;
}

}  // namespace pgexplainer
