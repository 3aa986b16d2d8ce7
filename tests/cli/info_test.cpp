#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "pgexplainer/io/npz.h"
#include "pgexplainer/io/safetensors.h"
#include "tests/support/explaining_test.h"
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

class InfoOfExplaining : public ExplainingTest {
 protected:
  static void expect_words(const std::string& path, const std::vector<std::string>& words) {
    const ToolResult result = run("info " + path);
    EXPECT_EQ(result.out, "");
    for (const std::string& part : words)
      EXPECT_NE(result.err.find(part), std::string::npos) << part << " is not in\n" << result.err;
  }
};

TEST_F(InfoOfExplaining, DescribesAnExplainer) {
  run(verb("fit") + "--instances 40:50 --preset paper --epochs 2 --size 0.5 --seed 3 -o " +
      explainer());
  const Json json = run_json("info " + explainer());
  EXPECT_EQ(json["kind"], "explainer");
  EXPECT_EQ(json["explains"], "node");
  EXPECT_EQ(json["objective"], "paper");
  EXPECT_EQ(json["embedding_width"], 60);
  EXPECT_EQ(json["parameters"], 180 * 64 + 64 + 64 + 1);
  EXPECT_EQ(json["preset"], "paper");
  EXPECT_EQ(json["changed"], (Json{{"epochs", 2}, {"size", 0.5}}));
  EXPECT_EQ(json["options"]["tau_end"], 2.0);
  EXPECT_EQ(json["seed"], 3);
  EXPECT_EQ(json["fit"]["instances"], 10);
  EXPECT_EQ(json["fit"]["loss"].size(), 2U);
  expect_words(explainer(),
               {"explainer of node predictions, objective paper", "3 embeddings of width 60",
                "preset paper, but epochs 2, size 0.5, seed 3", "by the explanation network alone",
                "on 10 instances of data, 2 epochs, loss "});
}

TEST_F(InfoOfExplaining, TellsExplainersOfLinksAndGraphsApart) {
  run(verb("fit") + "--instances 0-1,2-3 --epochs 1 --features -o " + explainer());
  EXPECT_EQ(run_json("info " + explainer())["explains"], "link");
  expect_words(explainer(), {"link predictions", "4 embeddings", "features     10 have a score"});
  make_graphs();
  run(graphs_verb("fit") + "--instances all --epochs 1 -o " + explainer());
  EXPECT_EQ(run_json("info " + explainer())["explains"], "graph");
}

TEST_F(InfoOfExplaining, RepeatsTheWarningsOfAFit) {
  run(verb("fit") + "--epochs 1 --lr 0 --restarts 0 -o " + explainer());
  Safetensors content = read_safetensors(explainer());
  Json fit = Json::parse(content.metadata["fit"]);
  fit["warnings"] = {"beware"};
  content.metadata["fit"] = fit.dump();
  write_safetensors(explainer(), content);
  expect_words(explainer(), {"warning      beware"});
  content.metadata["fit"] = R"({"instances":"many"})";
  write_safetensors(explainer(), content);
  expect_refused("info " + explainer(), "metadata 'fit' is not what `pgexplainer fit` writes");
}

TEST_F(InfoOfExplaining, DescribesExplanationsOfEveryFormat) {
  for (const char* name : {"x.jsonl", "x.csv", "x.npz"}) {
    run(verb("explain") + "--method grad --instances 40:44 --top-k 3 --all-edges -o " + file(name));
    const Json json = run_json("info " + file(name));
    EXPECT_EQ(json["kind"], "explanations") << name;
    EXPECT_EQ(json["instances"], 4) << name;
    EXPECT_EQ(json["selected"], 24) << name;
    EXPECT_GT(json["edges"], 24) << name;
    EXPECT_LT(json["score"]["min"], json["score"]["max"]) << name;
    EXPECT_EQ(json["kept_class"].is_null(), std::string(name) == "x.csv");
    expect_words(file(name), {"explanations of 4 instances", "of which 24 are selected", "scores"});
  }
}

TEST(Info, TakesAnEdgeListWithAScoreForADataset) {
  const TemporaryFolder folder;
  write_text(folder / "net.csv", "source,target,score,instance\n0,1,2,1\n1,0,2,1\n");
  EXPECT_EQ(Json::parse(info(folder / "net.csv", "--json").out)["kind"], "dataset");
}

}  // namespace
}  // namespace pgexplainer
