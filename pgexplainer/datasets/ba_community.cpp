#include "pgexplainer/datasets/ba_community.h"

#include <array>
#include <cmath>

#include "pgexplainer/datasets/barabasi_albert.h"
#include "pgexplainer/datasets/motif.h"
#include "pgexplainer/datasets/random_edges.h"

namespace pgexplainer {

Dataset generate_ba_community(const BaCommunityOptions& options, std::uint64_t seed) {
  check_option_fields(options);
  if (options.informative_features > options.num_features)
    throw_bad_input("option informative_features is {}, more than the {} num_features",
                    options.informative_features, options.num_features);
  const Motif house = house_motif();
  const NodeId nodes = checked_block_nodes(options.base_nodes, options.num_motifs, house, 2);
  const NodeId half = nodes / 2;
  const auto base_nodes = static_cast<NodeId>(options.base_nodes);
  const auto num_motifs = static_cast<NodeId>(options.num_motifs);
  const std::array<PlantedMotifs, 2> planted{
      {{house, 0, base_nodes, num_motifs}, {house, half, base_nodes, num_motifs}}};
  UndirectedEdges edges;
  std::vector<RandomEdges> noise;
  for (std::uint32_t c = 0; c < 2; ++c) {
    const std::int64_t before = edges.size();
    add_barabasi_albert(edges, planted[c].first_node, base_nodes, options.edges_per_node,
                        RandomStream(seed, RandomPurpose::generate, 0, c));
    attach_motifs(edges, planted[c], RandomStream(seed, RandomPurpose::generate, 1, c));
    const NodeRange community{planted[c].first_node, planted[c].end()};
    noise.push_back(
        {community, community, share_of(options.random_edge_fraction, edges.size() - before)});
  }
  noise.push_back({noise[0].from, noise[1].from, share_of(options.joining_edges_per_node, nodes)});
  add_random_edges(edges, nodes, noise, RandomStream(seed, RandomPurpose::generate, 2));

  Dataset dataset = make_node_dataset("ba-community", nodes, std::move(edges));
  for (const PlantedMotifs& community : planted) mark_motif_edges(dataset, community);
  append_labels(dataset.y, planted[0]);
  append_labels(dataset.y, planted[1], 4);
  RandomStream random(seed, RandomPurpose::generate, 3);
  const double deviation = std::sqrt(options.variance);
  dataset.x.resize(nodes, options.num_features);
  for (NodeId node = 0; node < nodes; ++node)
    for (Index column = 0; column < options.num_features; ++column) {
      double value = random.normal();
      if (column < options.informative_features)
        value = (node < half ? -options.mean : options.mean) + deviation * value;
      dataset.x(node, column) = static_cast<float>(value);
    }
  for (NodeId i = num_motifs / 4; i < num_motifs; ++i)
    dataset.eval_instances.push_back(planted[0].node_of(i));
  split_80_10_10(dataset, seed);
  return dataset;
}

}  // namespace pgexplainer
