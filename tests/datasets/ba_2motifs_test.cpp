#include "pgexplainer/datasets/ba_2motifs.h"

#include "tests/datasets/generated_dataset.h"

namespace pgexplainer {
namespace {

TEST(Ba2motifs, HasThePublishedCounts) {
  const Dataset dataset = generate_ba_2motifs({}, 0);
  EXPECT_EQ(counts_of(dataset), (Counts{25000, 51392, 11000, 2, 200}));
  EXPECT_EQ(dataset.num_graphs(), 1000);
  EXPECT_EQ(dataset.task, Task::graph);
  expect_sound(dataset);
  EXPECT_EQ(dataset.eval_instances[99], 99);
  EXPECT_EQ(dataset.eval_instances[100], 500);
  EXPECT_TRUE((dataset.x.array() == 0.1F).all());
}

TEST(Ba2motifs, FirstHalfHasHousesSecondHalfCycles) {
  const Dataset dataset = generate_ba_2motifs({}, 1);
  const std::set<std::pair<NodeId, NodeId>> ring = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 4}};
  for (const std::size_t g : {0UL, 3UL, 499UL, 500UL, 777UL, 999UL}) {
    const NodeId first = dataset.graph_ptr[g];
    EXPECT_EQ(dataset.graph_ptr[g + 1], first + 25);
    EXPECT_EQ(dataset.y[g], g < 500 ? 0 : 1);
    EXPECT_EQ(motif_edges(dataset, first + 20, first + 25), g < 500 ? kHouseEdges : ring);
    EXPECT_TRUE(motif_edges(dataset, first, first + 20).empty());
  }
}

TEST(Ba2motifs, RandomEdgesAreNeverInsideTheMotif) {
  Ba2motifsOptions options;
  options.base_nodes = 2;  // most pairs are then inside the motif
  options.random_edge_fraction = 1;
  options.num_graphs = 200;
  const Dataset dataset = generate_ba_2motifs(options, 2);
  EXPECT_EQ(dataset.graph.num_edges(), 2 * (200 * (1 + 1 + 1) + 100 * 6 + 100 * 5));
  for (EdgeId e = 0; e < dataset.graph.num_edges(); ++e)
    if (dataset.graph.source(e) % 7 >= 2 && dataset.graph.target(e) % 7 >= 2) {
      EXPECT_EQ(dataset.edge_gt[static_cast<std::size_t>(e)], 1);
    }
  expect_sound(dataset);
}

TEST(Ba2motifs, DependsOnTheSeedAlone) {
  expect_depends_on_seed_alone([](std::uint64_t seed) { return generate_ba_2motifs({}, seed); });
}

TEST(Ba2motifs, AnOddNumberOfGraphsWorks) {
  Ba2motifsOptions options;
  options.num_graphs = 11;
  const Dataset dataset = generate_ba_2motifs(options, 0);
  EXPECT_EQ(std::count(dataset.y.begin(), dataset.y.end(), 0), 5);
  EXPECT_EQ(dataset.eval_instances, (std::vector<std::int64_t>{0, 5}));
  expect_sound(dataset);
}

TEST(Ba2motifs, RefusesSizesThatMakeNoSense) {
  Ba2motifsOptions options;
  options.num_graphs = 1;
  expect_bad_input([&] { generate_ba_2motifs(options, 0); }, "num_graphs is 1");
  options = {};
  options.edges_per_node = 20;
  expect_bad_input([&] { generate_ba_2motifs(options, 0); }, "expected 1 to 19");
  options = {};
  options.base_nodes = 2'000'000'000;
  expect_bad_input([&] { generate_ba_2motifs(options, 0); }, "2000000005000 nodes");
}

}  // namespace
}  // namespace pgexplainer
