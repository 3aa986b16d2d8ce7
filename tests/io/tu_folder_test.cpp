#include "pgexplainer/io/tu_folder.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <numeric>

#include "pgexplainer/core/error.h"
#include "tests/support/random_dataset.h"
#include "tests/support/temporary_folder.h"

namespace pgexplainer {
namespace {

const std::filesystem::path kMutagenicity = "../shared/data/mutagenicity";

// Two graphs of two nodes, one undirected edge each, labels -1 and 1.
class TuFolder : public testing::Test {
 protected:
  void SetUp() override {
    put("A", "1, 2\n2, 1\n3, 4\n4, 3\n");
    put("graph_indicator", "1\n1\n2\n2\n");
    put("graph_labels", "1\n-1\n");
  }
  void put(const std::string& kind, const std::string& text) const {
    std::ofstream(folder_ / ("DS_" + kind + ".txt")) << text;
  }
  [[nodiscard]] std::string complaint() const {
    try {
      (void)read_tu_folder(folder_.path());
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  TemporaryFolder folder_;
};

TEST_F(TuFolder, MapsLabelsInSortedOrderAndGivesConstantFeatures) {
  const Dataset read = read_tu_folder(folder_.path());
  EXPECT_EQ(read.name, "DS");
  EXPECT_EQ(read.y, (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(read.graph_ptr, (std::vector<NodeId>{0, 2, 4}));
  EXPECT_EQ(read.edge_ptr, (std::vector<EdgeId>{0, 2, 4}));
  EXPECT_EQ(read.x, Matrix<float>::Ones(4, 1));
  EXPECT_TRUE(read.edge_gt.empty());
  EXPECT_TRUE(read.eval_instances.empty());
}

TEST_F(TuFolder, GroupsEdgesByGraphWithTheirLabels) {
  put("A", "3, 4\n1, 2\n4, 3\n2, 1\n");
  put("edge_labels", "7\n5\n7\n5\n");
  put("edge_attributes", "0.5\n1.5\n2.5\n3.5\n");
  put("edge_gt", "0\n1\n0\n1\n");
  const Dataset read = read_tu_folder(folder_.path());
  EXPECT_EQ(read.graph.source(0), 0);
  EXPECT_EQ(read.graph.source(1), 1);
  EXPECT_EQ(read.graph.source(2), 2);
  Matrix<float> expected(4, 3);
  expected << 1, 0, 1.5F, 1, 0, 3.5F, 0, 1, 0.5F, 0, 1, 2.5F;
  EXPECT_EQ(read.edge_attr, expected);
  EXPECT_EQ(read.edge_gt, (std::vector<std::uint8_t>{1, 1, 0, 0}));
}

TEST_F(TuFolder, EvaluatesGraphsOfClassZeroWithAMotif) {
  put("edge_gt", "1\n1\n1\n1\n");
  EXPECT_EQ(read_tu_folder(folder_.path()).eval_instances, (std::vector<std::int64_t>{1}));
}

TEST_F(TuFolder, PutsAttributesAfterOneHotLabels) {
  put("node_labels", "0, 4\n1, 4\n0, 9\n2, 4\n");
  put("node_attributes", "0.5\r\n-1\r\n2e3\r\n0\r\n\r\n");
  const Dataset read = read_tu_folder(folder_.path());
  Matrix<float> expected(4, 6);
  expected << 1, 0, 0, 1, 0, 0.5F,  //
      0, 1, 0, 1, 0, -1,            //
      1, 0, 0, 0, 1, 2000,          //
      0, 0, 1, 1, 0, 0;
  EXPECT_EQ(read.x, expected);
}

TEST_F(TuFolder, RefusesRaggedLines) {
  put("node_attributes", "1, 2\n1, 2\n1\n1, 2\n");
  EXPECT_EQ(complaint(), (folder_ / "DS_node_attributes.txt").string() +
                             ": line 3: there are 1 fields, expected 2 as in line 1");
}

TEST_F(TuFolder, RefusesAnEdgeBetweenGraphs) {
  put("A", "1, 2\n2, 3\n");
  EXPECT_NE(complaint().find("line 2: the edge joins nodes 2 and 3"), std::string::npos);
}

TEST_F(TuFolder, RefusesTwoDatasetsInOneFolder) {
  std::ofstream(folder_ / "Other_A.txt") << "1, 2\n";
  EXPECT_NE(complaint().find("2 files NAME_A.txt"), std::string::npos);
}

RC_GTEST_PROP(TuFolderWriter, KeepsEveryArrayButWeights, ()) {
  const TemporaryFolder folder;
  Dataset dataset = random_dataset(Task::graph);
  dataset.edge_weight.clear();
  if (*rc::gen::arbitrary<bool>())  // one-hot features go through the labels file
    for (Index i = 0; i < dataset.x.rows(); ++i)
      for (Index j = 0; j < dataset.x.cols(); ++j)
        dataset.x(i, j) = j == i % dataset.x.cols() ? 1.0F : 0.0F;
  dataset.name = "DS";
  write_tu_folder(folder / "out", dataset);
  expect_same_dataset(dataset, read_tu_folder(folder / "out"));
}

TEST(TuFolderWriter, RefusesWhatTheFormatCannotHold) {
  const TemporaryFolder folder;
  Dataset node;
  EXPECT_THROW(write_tu_folder(folder / "out", node), Error);
  Dataset weighted;
  weighted.task = Task::graph;
  weighted.edge_weight = {1};
  EXPECT_THROW(write_tu_folder(folder / "out", weighted), Error);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Mutagenicity, HasTheCountsOfItsTable) {
  if (!std::filesystem::exists(kMutagenicity)) GTEST_SKIP() << kMutagenicity << " is not here";
  const Dataset read = read_tu_folder(kMutagenicity);
  EXPECT_EQ(read.num_graphs(), 4337);
  EXPECT_EQ(read.graph.num_nodes(), 131488);
  EXPECT_EQ(read.graph.num_edges(), 266894);
  EXPECT_EQ(read.x.cols(), 14);
  EXPECT_EQ(read.edge_attr.cols(), 3);
  EXPECT_EQ(std::count(read.y.begin(), read.y.end(), 0), 2401);
  EXPECT_EQ(std::accumulate(read.edge_gt.begin(), read.edge_gt.end(), 0), 7352);
  EXPECT_EQ(read.eval_instances.size(), 1015U);
  EXPECT_EQ(read.node_type_names.at(2), "Cl");
  EXPECT_EQ(std::accumulate(read.train_mask.begin(), read.train_mask.end(), 0), 3469);
}

TEST(Mutagenicity, MotifsComputedFromAtomsAreTheMarkedOnes) {
  if (!std::filesystem::exists(kMutagenicity)) GTEST_SKIP() << kMutagenicity << " is not here";
  const TemporaryFolder folder;
  for (const auto& entry : std::filesystem::directory_iterator(kMutagenicity)) {
    const std::string name = entry.path().filename().string();
    if (name != "Mutagenicity_edge_gt.txt" && name != "split.npz")
      std::filesystem::create_symlink(std::filesystem::absolute(entry.path()), folder / name);
  }
  const Dataset marked = read_tu_folder(kMutagenicity);
  const Dataset computed = read_tu_folder(folder.path());
  EXPECT_EQ(computed.edge_gt, marked.edge_gt);
  EXPECT_EQ(computed.eval_instances, marked.eval_instances);
}

}  // namespace
}  // namespace pgexplainer
