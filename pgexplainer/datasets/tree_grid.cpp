#include "pgexplainer/datasets/tree_grid.h"

#include "pgexplainer/datasets/balanced_tree.h"
#include "pgexplainer/datasets/motif.h"
#include "pgexplainer/datasets/random_edges.h"

namespace pgexplainer {

Dataset generate_tree_grid(const TreeGridOptions& options, std::uint64_t seed) {
  check_option_fields(options);
  const Motif grid = grid_motif(options.grid_side);
  const std::int64_t tree_nodes = balanced_tree_nodes(options.tree_levels);
  const NodeId nodes = checked_block_nodes(tree_nodes, options.num_motifs, grid);
  const PlantedMotifs planted{grid, 0, static_cast<NodeId>(tree_nodes),
                              static_cast<NodeId>(options.num_motifs)};
  UndirectedEdges edges;
  add_balanced_tree(edges, planted.base_nodes);
  attach_motifs(edges, planted, RandomStream(seed, RandomPurpose::generate, 1));
  const NodeRange all{0, nodes};
  const RandomEdges noise{all, all, share_of(options.random_edge_fraction, edges.size())};
  add_random_edges(edges, nodes, {&noise, 1}, RandomStream(seed, RandomPurpose::generate, 2));

  Dataset dataset = make_node_dataset("tree-grid", nodes, std::move(edges));
  mark_motif_edges(dataset, planted);
  dataset.x.setOnes(nodes, options.num_features);
  append_labels(dataset.y, planted);
  if (planted.num_motifs > 0)
    for (NodeId node = planted.first_motif_node();
         node <= planted.node_of(static_cast<NodeId>(options.num_motifs * 2 / 5)); ++node)
      dataset.eval_instances.push_back(node);
  split_80_10_10(dataset, seed);
  return dataset;
}

}  // namespace pgexplainer
