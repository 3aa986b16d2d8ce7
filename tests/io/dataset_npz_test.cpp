#include "pgexplainer/io/dataset_npz.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <numeric>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/npz.h"
#include "tests/support/random_dataset.h"
#include "tests/support/temporary_folder.h"

namespace pgexplainer {
namespace {

std::map<std::string, NpyArray> triangle() {
  const std::vector<std::int64_t> ends{0, 1, 2, 1, 2, 0};
  return {{"edge_index", NpyArray::from(std::span<const std::int64_t>(ends), {2, 3})},
          {"x", NpyArray::from(Matrix<float>(Matrix<float>::Ones(3, 2)))},
          {"y", NpyArray::from(std::vector<std::int64_t>{0, 1, 0})}};
}

RC_GTEST_PROP(DatasetNpz, KeepsEveryArray, ()) {
  const TemporaryFolder folder;
  Dataset dataset = random_dataset(*rc::gen::element(Task::node, Task::graph));
  dataset.node_type_names = {"C", "Cl"};
  write_dataset_npz(folder / "some.npz", dataset);
  const Dataset read = read_dataset_npz(folder / "some.npz");
  expect_same_dataset(dataset, read);
  RC_ASSERT(read.name == "some");
}

RC_GTEST_PROP(DatasetNpz, MapsAKeptGraph, ()) {
  const TemporaryFolder folder;
  Dataset dataset = random_dataset(Task::node);
  if (*rc::gen::arbitrary<bool>()) {  // coalesced and undirected: arrays are shared
    std::vector<NodeId> ends(static_cast<std::size_t>(dataset.graph.num_nodes()));
    for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = static_cast<NodeId>(i);
    dataset.graph = Graph(dataset.graph.num_nodes(), ends, ends);
    dataset.edge_ptr[1] = dataset.graph.num_edges();
    dataset.edge_gt.clear();
    dataset.edge_weight.clear();
    dataset.edge_attr.resize(0, 0);
  }
  write_dataset_npz(folder / "kept.npz", dataset, 0);
  RC_ASSERT(has_mapped_graph(read_npz(folder / "kept.npz")));
  const Dataset kept = read_dataset_npz(folder / "kept.npz");
  write_dataset_npz(folder / "sorted.npz", dataset, dataset.graph.num_edges() + 1);
  RC_ASSERT(!has_mapped_graph(read_npz(folder / "sorted.npz")));
  const Dataset sorted = read_dataset_npz(folder / "sorted.npz");
  expect_same_dataset(kept, sorted);
  const Graph::Derived& a = kept.graph.derived();
  const Graph::Derived& b = sorted.graph.derived();
  RC_ASSERT(std::ranges::equal(a.in_ptr, b.in_ptr));
  RC_ASSERT(std::ranges::equal(a.in_source, b.in_source));
  RC_ASSERT(std::ranges::equal(a.in_edge, b.in_edge));
  RC_ASSERT(std::ranges::equal(a.out_ptr, b.out_ptr));
  RC_ASSERT(std::ranges::equal(a.reverse, b.reverse));
  RC_ASSERT(a.num_duplicate_edges == b.num_duplicate_edges);
  RC_ASSERT(kept.graph.num_self_loops() == sorted.graph.num_self_loops());
  RC_ASSERT(kept.graph.is_undirected() == sorted.graph.is_undirected());
}

TEST(DatasetNpz, NumpyReadsAKeptGraphAndMayChangeIt) {
  if (std::system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") != 0)
    GTEST_SKIP() << "NumPy is not installed";
  const TemporaryFolder folder;
  write_npz(folder / "a.npz", triangle());
  write_dataset_npz(folder / "kept.npz", read_dataset_npz(folder / "a.npz"), 0);
  std::ofstream(folder / "turn.py") << "import numpy as np, sys\n"
                                       "a = dict(np.load(sys.argv[1]))\n"
                                       "assert a['edge_index'].tolist() == [[0, 1, 2], [1, 2, 0]]\n"
                                       "assert a['graph.in_ptr'].tolist() == [0, 1, 2, 3]\n"
                                       "a['edge_index'] = a['edge_index'][::-1].copy()\n"
                                       "np.savez(sys.argv[1], **a)\n";
  const std::string command =
      "/usr/bin/python3 " + (folder / "turn.py").string() + " " + (folder / "kept.npz").string();
  ASSERT_EQ(std::system(command.c_str()), 0);
  // The kept arrays are those of the old edges; they must not be believed.
  const Dataset turned = read_dataset_npz(folder / "kept.npz");
  EXPECT_EQ(turned.graph.in_neighbors(0)[0], 1);
}

TEST(DatasetNpz, SplitsWithSeedZeroWithoutMasks) {
  const TemporaryFolder folder;
  write_npz(folder / "a.npz", triangle());
  Dataset read = read_dataset_npz(folder / "a.npz");
  const Dataset copy = read;
  split_80_10_10(read, 0);
  expect_same_dataset(read, copy);
}

TEST(DatasetNpz, IgnoresArraysOfOtherNames) {
  const TemporaryFolder folder;
  auto arrays = triangle();
  arrays["comment"] = NpyArray::from_texts({"made by hand"});
  write_npz(folder / "a.npz", arrays);
  EXPECT_EQ(read_dataset_npz(folder / "a.npz").graph.num_edges(), 3);
}

TEST(DatasetNpz, AcceptsOtherNumberTypes) {
  const TemporaryFolder folder;
  auto arrays = triangle();
  arrays["x"] = NpyArray::from(Matrix<double>(Matrix<double>::Constant(3, 1, 0.5)));
  arrays["y"] = NpyArray::from(std::vector<std::int32_t>{2, 1, 0});
  arrays["edge_gt"] = NpyArray::from(std::vector<std::int64_t>{0, 1, 1});
  write_npz(folder / "a.npz", arrays);
  const Dataset read = read_dataset_npz(folder / "a.npz");
  EXPECT_EQ(read.x(2, 0), 0.5F);
  EXPECT_EQ(read.num_classes(), 3);
  EXPECT_EQ(read.edge_gt, (std::vector<std::uint8_t>{0, 1, 1}));
}

TEST(DatasetNpz, RefusesOneMaskWithoutTheOthers) {
  const TemporaryFolder folder;
  auto arrays = triangle();
  arrays["val_mask"] = NpyArray::from_mask({0, 1, 1});
  write_npz(folder / "a.npz", arrays);
  EXPECT_THROW((void)read_dataset_npz(folder / "a.npz"), Error);
}

struct Published {
  const char* file;
  std::int64_t graphs, nodes, edges, classes, motif_edges, evaluated;
};

class PublishedDataset : public testing::TestWithParam<Published> {};

TEST_P(PublishedDataset, HasTheCountsOfItsTable) {
  const Published& expected = GetParam();
  const auto path = std::filesystem::path("../shared/data") / expected.file;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here";
  const Dataset read = read_dataset_npz(path);
  EXPECT_EQ(read.num_graphs(), expected.graphs);
  EXPECT_EQ(read.graph.num_nodes(), expected.nodes);
  EXPECT_EQ(read.graph.num_edges(), expected.edges);
  EXPECT_EQ(read.num_classes(), expected.classes);
  EXPECT_EQ(read.x.cols(), 10);
  EXPECT_EQ(std::accumulate(read.edge_gt.begin(), read.edge_gt.end(), std::int64_t{0}),
            expected.motif_edges);
  EXPECT_EQ(static_cast<std::int64_t>(read.eval_instances.size()), expected.evaluated);
  EXPECT_TRUE(read.graph.is_undirected());
  EXPECT_TRUE(warnings(read).empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, PublishedDataset,
    testing::Values(Published{"ba_shapes.npz", 1, 700, 4110, 4, 960, 60},
                    Published{"ba_community.npz", 1, 1400, 8920, 8, 1920, 60},
                    Published{"tree_cycles.npz", 1, 871, 1942, 2, 720, 60},
                    Published{"tree_grid.npz", 1, 1231, 3130, 2, 1920, 289},
                    Published{"ba_2motifs.npz", 1000, 25000, 51392, 2, 11000, 200}),
    [](const auto& row) { return std::filesystem::path(row.param.file).stem().string(); });

}  // namespace
}  // namespace pgexplainer
