#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "pgexplainer/io/npz.h"
#include "pgexplainer/io/safetensors.h"
#include "tests/support/raw_npz.h"
#include "tests/support/run_tool.h"

namespace pgexplainer {
namespace {

using Json = nlohmann::json;

ToolResult info(const std::filesystem::path& path, const std::string& option = "") {
  return run_tool("info '" + path.string() + "' " + option);
}

TEST(Info, DescribesADatasetInWords) {
  const TemporaryFolder folder;
  write_text(folder / "net.csv", "source,target,ground_truth\n0,1,1\n1,0,1\n1,2,0\n");
  write_text(folder / "net.nodes.csv",
             "node,label,split\n0,0,train\n1,1,train\n2,1,val\n3,3,test\n");
  const ToolResult result = info(folder / "net.csv");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "");
  for (const std::string words :
       {"dataset net for node classification", "nodes        4", "edges        3, directed",
        "in-degree    0 to 1 (on average 0.75)", "classes      4; nodes per class: 1, 2, 0, 1",
        "features     1 per node", "split        2 for training, 1 for validation, 1 for testing",
        "ground truth 2 edges", "warning      class 2 never occurs",
        "warning      1 nodes have no edge"})
    EXPECT_NE(result.err.find(words), std::string::npos) << words << " is not in\n" << result.err;
}

TEST(Info, DescribesADatasetAsJson) {
  const TemporaryFolder folder;
  write_text(folder / "net.csv", "source,target,weight\n0,1,2\n1,0,2\n");
  const ToolResult result = info(folder / "net.csv", "--json");
  EXPECT_EQ(result.err, "");
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["kind"], "dataset");
  EXPECT_EQ(json["task"], "node");
  EXPECT_EQ(json["nodes"], 2);
  EXPECT_EQ(json["edges"], 2);
  EXPECT_EQ(json["undirected"], true);
  EXPECT_EQ(json["in_degree"], (Json{{"min", 1}, {"max", 1}, {"mean", 1.0}}));
  EXPECT_EQ(json["edge_weights"], true);
  EXPECT_EQ(json["ground_truth_edges"], nullptr);
  EXPECT_EQ(json["class_sizes"], Json({2}));
  EXPECT_FALSE(json["warnings"].empty());
}

TEST(Info, DescribesTensorsAndTheirMetadata) {
  const TemporaryFolder folder;
  write_safetensors(
      folder / "m.safetensors",
      {{{"lin.weight", {"F32", {2, 3}, std::vector<std::byte>(24)}}}, {{"format_version", "1"}}});
  const Json json = Json::parse(info(folder / "m.safetensors", "--json").out);
  EXPECT_EQ(json["kind"], "safetensors");
  EXPECT_EQ(json["numbers"], 6);
  EXPECT_EQ(json["tensors"]["lin.weight"], (Json{{"dtype", "F32"}, {"shape", {2, 3}}}));
  EXPECT_EQ(json["metadata"]["format_version"], "1");
  const ToolResult words = info(folder / "m.safetensors");
  EXPECT_NE(words.err.find("1 tensors with 6 numbers"), std::string::npos) << words.err;
  EXPECT_NE(words.err.find("F32  (2, 3)"), std::string::npos) << words.err;
}

TEST(Info, ListsArraysOfOtherNpzFiles) {
  const TemporaryFolder folder;
  write_npz(folder / "a.npz", {{"scores", NpyArray::from(std::vector<float>{1, 2})}});
  const Json json = Json::parse(info(folder / "a.npz", "--json").out);
  EXPECT_EQ(json["kind"], "npz");
  EXPECT_EQ(json["arrays"]["scores"]["shape"], Json({2}));
}

}  // namespace
}  // namespace pgexplainer
