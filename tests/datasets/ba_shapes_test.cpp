#include "pgexplainer/datasets/ba_shapes.h"

#include "tests/datasets/generated_dataset.h"

namespace pgexplainer {
namespace {

TEST(BaShapes, HasThePublishedCounts) {
  const Dataset dataset = generate_ba_shapes({}, 0);
  EXPECT_EQ(counts_of(dataset), (Counts{700, 4110, 960, 4, 60}));
  expect_sound(dataset);
  EXPECT_EQ(dataset.eval_instances.front(), 400);
  EXPECT_EQ(dataset.eval_instances.back(), 695);
  EXPECT_TRUE((dataset.x.array() == 1).all());
  EXPECT_EQ(dataset.x.cols(), 10);
}

TEST(BaShapes, EveryMotifIsALabelledHouseLinkedToTheBase) {
  const Dataset dataset = generate_ba_shapes({}, 1);
  EXPECT_TRUE(motif_edges(dataset, 0, 300).empty());
  std::set<NodeId> hosts;
  for (NodeId first = 300; first < 700; first += 5) {
    EXPECT_EQ(motif_edges(dataset, first, first + 5), kHouseEdges);
    const std::vector<std::int64_t> labels(dataset.y.begin() + first,
                                           dataset.y.begin() + first + 5);
    EXPECT_EQ(labels, (std::vector<std::int64_t>{1, 1, 2, 2, 3}));
    EXPECT_LT(dataset.graph.in_neighbors(first)[0], 300);
    hosts.insert(dataset.graph.in_neighbors(first)[0]);
  }
  EXPECT_GT(hosts.size(), 70U);  // without replacement, but a random edge may come first
  EXPECT_EQ(std::count(dataset.y.begin(), dataset.y.begin() + 300, 0), 300);
}

TEST(BaShapes, DependsOnTheSeedAlone) {
  expect_depends_on_seed_alone([](std::uint64_t seed) { return generate_ba_shapes({}, seed); });
}

TEST(BaShapes, EverySizeCanBeChanged) {
  BaShapesOptions options;
  options.base_nodes = 4;
  options.edges_per_node = 2;
  options.num_motifs = 9;  // more motifs than base nodes
  options.random_edge_fraction = 0.5;
  options.num_features = 3;
  const Dataset dataset = generate_ba_shapes(options, 2);
  const std::int64_t before = 4 + 9 * 7;
  EXPECT_EQ(counts_of(dataset), (Counts{49, 2 * (before + before / 2), 108, 4, 7}));
  expect_sound(dataset);
  EXPECT_EQ(dataset.x.cols(), 3);
}

TEST(BaShapes, ARingAsBaseBoundsTheDegree) {
  BaShapesOptions options;
  options.base = "ring";
  options.random_edge_fraction = 0;
  const Dataset dataset = generate_ba_shapes(options, 0);
  EXPECT_EQ(counts_of(dataset), (Counts{700, 2 * (300 * 5 + 80 * 7), 960, 4, 60}));
  expect_sound(dataset);
  for (NodeId node = 0; node < 300; ++node) {
    const auto neighbors = dataset.graph.in_neighbors(node);
    EXPECT_EQ(std::count_if(neighbors.begin(), neighbors.end(), [](NodeId v) { return v < 300; }),
              10);
    EXPECT_LE(neighbors.size(), 11U);  // one house at most
    for (const NodeId v : neighbors) {
      const NodeId apart = std::abs(v - node);
      EXPECT_TRUE(v >= 300 || std::min(apart, 300 - apart) <= 5);
    }
  }
}

TEST(BaShapes, ACompleteGraphIsReachedAndNotExceeded) {
  BaShapesOptions options;
  options.base_nodes = 3;
  options.edges_per_node = 1;
  options.num_motifs = 1;
  options.random_edge_fraction = 19.0 / 9;  // 9 edges, 8 nodes, 28 pairs
  const Dataset dataset = generate_ba_shapes(options, 3);
  EXPECT_EQ(dataset.graph.num_edges(), 56);
  EXPECT_EQ(motif_edges(dataset, 3, 8), kHouseEdges);  // not the house's random diagonals
  options.random_edge_fraction = 20.0 / 9;
  expect_bad_input([&] { generate_ba_shapes(options, 3); }, "only 19 pairs");
}

TEST(BaShapes, RefusesSizesThatMakeNoSense) {
  const auto refuses = [](auto member, auto value, const char* message) {
    BaShapesOptions options;
    options.*member = value;
    expect_bad_input([&] { generate_ba_shapes(options, 0); }, message);
  };
  refuses(&BaShapesOptions::base, "tree", "base is 'tree', expected barabasi-albert or ring");
  refuses(&BaShapesOptions::base_nodes, -1, "base_nodes is -1");
  refuses(&BaShapesOptions::base_nodes, 5, "cannot give every new node 5 edges");
  refuses(&BaShapesOptions::edges_per_node, 0, "edges_per_node");
  refuses(&BaShapesOptions::edges_per_node, 300, "expected 1 to 299");
  refuses(&BaShapesOptions::num_motifs, -1, "num_motifs");
  refuses(&BaShapesOptions::num_motifs, 400'000'000 + 1, "num_motifs");
  refuses(&BaShapesOptions::random_edge_fraction, -0.1, "random_edge_fraction");
  refuses(&BaShapesOptions::random_edge_fraction, std::nan(""), "random_edge_fraction");
  refuses(&BaShapesOptions::random_edge_fraction, 1000.0, "pairs of nodes are not joined");
  refuses(&BaShapesOptions::num_features, 0, "num_features");
  BaShapesOptions ring;
  ring.base = "ring";
  ring.base_nodes = 10;
  expect_bad_input([&] { generate_ba_shapes(ring, 0); }, "cannot join every node to 5");
  BaShapesOptions huge;
  huge.base_nodes = 2'000'000'000;
  huge.num_motifs = 400'000'000;
  expect_bad_input([&] { generate_ba_shapes(huge, 0); }, "4000000000 nodes");
}

}  // namespace
}  // namespace pgexplainer
