#include "pgexplainer/datasets/ba_community.h"

#include "tests/datasets/generated_dataset.h"

namespace pgexplainer {
namespace {

TEST(BaCommunity, HasThePublishedCounts) {
  const Dataset dataset = generate_ba_community({}, 0);
  EXPECT_EQ(counts_of(dataset), (Counts{1400, 8920, 1920, 8, 60}));
  expect_sound(dataset);
  EXPECT_EQ(dataset.eval_instances.front(), 400);
  EXPECT_EQ(dataset.eval_instances.back(), 695);
}

TEST(BaCommunity, JoinsTwoDifferentShapesGraphs) {
  const Dataset dataset = generate_ba_community({}, 1);
  std::int64_t between = 0;
  std::vector<std::pair<NodeId, NodeId>> inside[2];
  for (EdgeId e = 0; e < dataset.graph.num_edges(); ++e) {
    const NodeId a = dataset.graph.source(e), b = dataset.graph.target(e);
    if ((a < 700) != (b < 700)) {
      ++between;
      EXPECT_EQ(dataset.edge_gt[static_cast<std::size_t>(e)], 0);
    } else {
      inside[a / 700].emplace_back(a % 700, b % 700);
    }
  }
  EXPECT_EQ(between, 700);
  EXPECT_EQ(inside[0].size(), 4110U);
  EXPECT_NE(inside[0], inside[1]);
  for (NodeId first : {300, 695, 1000, 1395}) {
    EXPECT_EQ(motif_edges(dataset, first, first + 5), kHouseEdges);
    const std::int64_t offset = first < 700 ? 0 : 4;
    EXPECT_EQ(dataset.y[static_cast<std::size_t>(first)], offset + 1);
    EXPECT_EQ(dataset.y[static_cast<std::size_t>(first) + 4], offset + 3);
  }
  EXPECT_EQ(dataset.y[700], 4);
}

TEST(BaCommunity, FeaturesAreGaussianPerCommunity) {
  const Dataset dataset = generate_ba_community({}, 2);
  for (Index community = 0; community < 2; ++community)
    for (Index column = 0; column < 10; ++column) {
      const auto values = dataset.x.col(column).segment(700 * community, 700).array();
      const float mean = column < 2 ? (community == 0 ? -1.F : 1.F) : 0.F;
      const float variance = column < 2 ? 0.5F : 1.F;
      EXPECT_NEAR(values.mean(), mean, 0.15);  // four standard errors
      EXPECT_NEAR((values - values.mean()).square().mean(), variance, 0.22 * variance);
    }
}

TEST(BaCommunity, DependsOnTheSeedAlone) {
  expect_depends_on_seed_alone([](std::uint64_t seed) { return generate_ba_community({}, seed); });
  EXPECT_NE(generate_ba_community({}, 1).x, generate_ba_community({}, 2).x);
}

TEST(BaCommunity, RefusesSizesThatMakeNoSense) {
  BaCommunityOptions options;
  options.informative_features = 11;
  expect_bad_input([&] { generate_ba_community(options, 0); }, "informative_features is 11");
  options = {};
  options.joining_edges_per_node = 351;  // 1400 * 351 > 700 * 700
  expect_bad_input([&] { generate_ba_community(options, 0); }, "only 490000 pairs");
  options = {};
  options.variance = -1;
  expect_bad_input([&] { generate_ba_community(options, 0); }, "variance");
}

}  // namespace
}  // namespace pgexplainer
