#include "pgexplainer/io/edge_list_csv.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/dataset_file.h"
#include "tests/support/random_dataset.h"
#include "tests/support/temporary_folder.h"

namespace pgexplainer {
namespace {

class EdgeListCsv : public testing::Test {
 protected:
  Dataset read(const std::string& edges, const std::string& nodes = "") const {
    std::ofstream(folder_ / "net.csv") << edges;
    if (!nodes.empty()) std::ofstream(folder_ / "net.nodes.csv") << nodes;
    return read_dataset(folder_ / "net.csv");
  }
  std::string complaint(const std::string& edges, const std::string& nodes = "") const {
    try {
      (void)read(edges, nodes);
    } catch (const Error& error) {
      const std::string text = error.what();
      return text.substr(text.rfind('/') + 1);
    }
    return "no error";
  }
  TemporaryFolder folder_;
};

RC_GTEST_PROP(EdgeListCsvWriter, KeepsEveryArray, ()) {
  const TemporaryFolder folder;
  const Dataset dataset = random_dataset(Task::node);
  write_dataset(folder / "net.csv", dataset);
  const Dataset read = read_dataset(folder / "net.csv");
  expect_same_dataset(dataset, read);
}

TEST_F(EdgeListCsv, ReadsEdgesAlone) {
  const Dataset net = read("source,target\n0,1\n3,0\n");
  EXPECT_EQ(net.name, "net");
  EXPECT_EQ(net.graph.num_nodes(), 4);
  EXPECT_EQ(net.graph.source(1), 3);
  EXPECT_EQ(net.x, Matrix<float>::Ones(4, 1));
  EXPECT_EQ(net.y, std::vector<std::int64_t>(4, 0));
}

TEST_F(EdgeListCsv, FindsColumnsByNameInAnyOrder) {
  const Dataset net = read("ground_truth, kind, target, source, weight\r\n1, 7, 0, 1, 0.5\r\n",
                           "age,node,label,split,evaluate\n30,1,0,test,1\n40,0,1,,0\n");
  EXPECT_EQ(net.graph.source(0), 1);
  EXPECT_EQ(net.edge_weight, (std::vector<float>{0.5F}));
  EXPECT_EQ(net.edge_gt, (std::vector<std::uint8_t>{1}));
  EXPECT_EQ(net.edge_attr(0, 0), 7.0F);
  EXPECT_EQ(net.x(0, 0), 40.0F);
  EXPECT_EQ(net.y, (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(net.test_mask, (std::vector<std::uint8_t>{0, 1}));
  EXPECT_EQ(net.eval_instances, (std::vector<std::int64_t>{1}));
}

TEST_F(EdgeListCsv, ComplaintsNameFileAndLine) {
  EXPECT_EQ(complaint("source,target\n0,1\n0\n"),
            "net.csv: line 3: there are 1 fields, expected 2 as in line 1");
  EXPECT_EQ(complaint("source,target\n0,x\n"),
            "net.csv: line 2: 'x' is not a whole number (field 2)");
  EXPECT_EQ(complaint("source,sink\n0,1\n"), "net.csv: line 1: the header has no column target");
  EXPECT_EQ(complaint("source,target,weight\n0,1,nan\n"),
            "net.csv: line 2: 'nan' is not a finite number (field 3)");
  EXPECT_EQ(complaint("source,target\n0,1\n", "node,label\n0,0\n0,1\n"),
            "net.nodes.csv: line 3: node 0 occurs a second time");
  EXPECT_EQ(complaint("source,target\n0,2\n", "node,label\n0,0\n1,1\n"),
            "net.csv: line 2: node 2 does not exist; the nodes are 0 to 1");
}

TEST_F(EdgeListCsv, RefusesNumbersFarBeyondTheEdges) {
  EXPECT_NE(complaint("source,target\n0,2000000000\n").find("name nodes up to 2000000000"),
            std::string::npos);
}

TEST_F(EdgeListCsv, RefusesToWriteManyGraphs) {
  Dataset graphs;
  graphs.task = Task::graph;
  EXPECT_THROW(write_dataset(folder_ / "net.csv", graphs), Error);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST(DatasetFile, RefusesOtherNames) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.txt") << "x";
  EXPECT_THROW((void)read_dataset(folder / "a.txt"), Error);
  EXPECT_THROW((void)read_dataset(folder / "missing.npz"), Error);
  EXPECT_THROW(write_dataset(folder / "a.txt", {}), Error);
}

}  // namespace
}  // namespace pgexplainer
