#include "pgexplainer/datasets/tree_grid.h"

#include "tests/datasets/generated_dataset.h"

namespace pgexplainer {
namespace {

TEST(TreeGrid, HasThePublishedCounts) {
  const Dataset dataset = generate_tree_grid({}, 0);
  EXPECT_EQ(counts_of(dataset), (Counts{1231, 3130, 1920, 2, 289}));
  expect_sound(dataset);
  EXPECT_EQ(dataset.eval_instances.front(), 511);
  EXPECT_EQ(dataset.eval_instances.back(), 799);
}

TEST(TreeGrid, EveryMotifIsAGridLinkedByACorner) {
  const Dataset dataset = generate_tree_grid({}, 1);
  const std::set<std::pair<NodeId, NodeId>> grid = {{0, 1}, {0, 3}, {1, 2}, {1, 4}, {2, 5}, {3, 4},
                                                    {3, 6}, {4, 5}, {4, 7}, {5, 8}, {6, 7}, {7, 8}};
  for (NodeId first = 511; first < 1231; first += 9) {
    EXPECT_EQ(motif_edges(dataset, first, first + 9), grid);
    EXPECT_LT(dataset.graph.in_neighbors(first)[0], 511);
    EXPECT_EQ(dataset.y[static_cast<std::size_t>(first)], 1);
  }
  EXPECT_TRUE(motif_edges(dataset, 0, 511).empty());
}

TEST(TreeGrid, EverySizeCanBeChanged) {
  TreeGridOptions options;
  options.tree_levels = 2;
  options.num_motifs = 5;
  options.grid_side = 4;
  options.random_edge_fraction = 0;
  const Dataset dataset = generate_tree_grid(options, 0);
  EXPECT_EQ(counts_of(dataset), (Counts{87, 2 * (6 + 5 * 24 + 5), 240, 2, 33}));
  expect_sound(dataset);
}

TEST(TreeGrid, DependsOnTheSeedAlone) {
  expect_depends_on_seed_alone([](std::uint64_t seed) { return generate_tree_grid({}, seed); });
}

TEST(TreeGrid, RefusesSizesThatMakeNoSense) {
  TreeGridOptions options;
  options.grid_side = 1;
  expect_bad_input([&] { generate_tree_grid(options, 0); }, "grid_side is 1");
  options = {};
  options.tree_levels = -1;
  expect_bad_input([&] { generate_tree_grid(options, 0); }, "tree_levels is -1");
}

}  // namespace
}  // namespace pgexplainer
