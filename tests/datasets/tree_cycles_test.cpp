#include "pgexplainer/datasets/tree_cycles.h"

#include "tests/datasets/generated_dataset.h"

namespace pgexplainer {
namespace {

TEST(TreeCycles, HasThePublishedCounts) {
  const Dataset dataset = generate_tree_cycles({}, 0);
  EXPECT_EQ(counts_of(dataset), (Counts{871, 1942, 720, 2, 60}));
  expect_sound(dataset);
  EXPECT_EQ(dataset.eval_instances.front(), 511);
  EXPECT_EQ(dataset.eval_instances.back(), 865);
}

TEST(TreeCycles, TreeAndCyclesAreWhereTheyShouldBe) {
  const Dataset dataset = generate_tree_cycles({}, 1);
  for (NodeId node = 1; node < 511; ++node) {
    const auto neighbors = dataset.graph.in_neighbors(node);
    EXPECT_NE(std::find(neighbors.begin(), neighbors.end(), (node - 1) / 2), neighbors.end());
  }
  const std::set<std::pair<NodeId, NodeId>> ring = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {0, 5}};
  for (NodeId first = 511; first < 871; first += 6)
    EXPECT_EQ(motif_edges(dataset, first, first + 6), ring);
  EXPECT_TRUE(motif_edges(dataset, 0, 511).empty());
  EXPECT_EQ(std::count(dataset.y.begin(), dataset.y.begin() + 511, 0), 511);
  EXPECT_EQ(std::count(dataset.y.begin() + 511, dataset.y.end(), 1), 360);
}

TEST(TreeCycles, SecondLinksAreAnOption) {
  TreeCyclesOptions options;
  options.second_link_fraction = 0;
  options.random_edge_fraction = 0;
  EXPECT_EQ(generate_tree_cycles(options, 0).graph.num_edges(), 2 * (510 + 360 + 60));
  options.second_link_fraction = 1;
  EXPECT_EQ(generate_tree_cycles(options, 0).graph.num_edges(), 2 * (510 + 360 + 120));
}

TEST(TreeCycles, TheSmallestSizesWork) {
  TreeCyclesOptions options;
  options.tree_levels = 0;
  options.num_motifs = 3;
  options.cycle_length = 3;
  options.second_link_fraction = 1;
  const Dataset dataset = generate_tree_cycles(options, 0);
  EXPECT_EQ(counts_of(dataset), (Counts{10, 2 * (9 + 3 + 3), 18, 2, 3}));
  expect_sound(dataset);
}

TEST(TreeCycles, DependsOnTheSeedAlone) {
  expect_depends_on_seed_alone([](std::uint64_t seed) { return generate_tree_cycles({}, seed); });
}

TEST(TreeCycles, RefusesSizesThatMakeNoSense) {
  TreeCyclesOptions options;
  options.cycle_length = 2;
  expect_bad_input([&] { generate_tree_cycles(options, 0); }, "cycle_length is 2");
  options = {};
  options.tree_levels = 30;
  expect_bad_input([&] { generate_tree_cycles(options, 0); }, "tree_levels is 30");
  options = {};
  options.num_motifs = 1'000'000'000;
  expect_bad_input([&] { generate_tree_cycles(options, 0); }, "6000000511 nodes");
  options = {};
  options.second_link_fraction = 1.5;
  expect_bad_input([&] { generate_tree_cycles(options, 0); }, "second_link_fraction");
}

}  // namespace
}  // namespace pgexplainer
