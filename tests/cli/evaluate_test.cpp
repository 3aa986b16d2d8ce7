#include "pgexplainer/explain/methods.h"
#include "pgexplainer/io/dataset_npz.h"
#include "tests/support/explaining_test.h"

namespace pgexplainer {
namespace {

using nlohmann::json;

class EvaluateVerb : public ExplainingTest {
 protected:
  [[nodiscard]] std::string evaluate(const std::string& options) const {
    return verb("evaluate") + options;
  }
};

/// Without what a clock measures.
json without_times(json result) {
  if (result.contains("methods")) {
    for (auto& item : result["methods"]) item = without_times(item);
    return result;
  }
  result.erase("fit_seconds");
  result.erase("milliseconds_per_instance");
  return result;
}

TEST_F(EvaluateVerb, PrintsTheNumbersOfOneMethod) {
  fit_explainer();
  const json printed = run_json(evaluate("--explainer " + explainer() + " --instances 40:60"));
  EXPECT_EQ(printed["method"], "pgexplainer");
  EXPECT_EQ(printed["instances"], 20);
  for (const char* key : {"pooled", "per_instance", "own_motif"}) {
    EXPECT_GE(printed["auc"][key], 0.0);
    EXPECT_LE(printed["auc"][key], 1.0);
  }
  EXPECT_FALSE(printed["auc"].contains("held_out"));  // nothing is fitted here
  EXPECT_TRUE(printed["fidelity"]["probability"]["plus"].is_number());
  EXPECT_TRUE(printed["truth_first_gap"].is_number());
  EXPECT_FALSE(printed.contains("methods"));
}

TEST_F(EvaluateVerb, FitsWhenNoExplainerIsGiven) {
  const json printed = run_json(evaluate("--epochs 2 --seeds 3 --seed 5 --instances 40:60"));
  EXPECT_EQ(printed["auc"]["seeds"].size(), 3U);
  EXPECT_TRUE(printed["auc"]["held_out"].is_number());
  EXPECT_TRUE(printed["auc"]["held_out_own_motif"].is_number());
  EXPECT_TRUE(printed["auc"]["std"].is_number());
  const json single = run_json(evaluate("--epochs 2 --seed 5 --instances 40:60"));
  EXPECT_EQ(single["auc"]["pooled"], printed["auc"]["seeds"][0]);
}

TEST_F(EvaluateVerb, ListsSeveralMethodsByName) {
  const json printed = run_json(evaluate("--method grad,random,occlusion --instances 40:50"));
  EXPECT_EQ(printed["instances"], 10);
  ASSERT_EQ(printed["methods"].size(), 3U);
  for (const char* name : {"grad", "random", "occlusion"}) {
    EXPECT_TRUE(printed["methods"][name]["auc"]["pooled"].is_number()) << name;
    EXPECT_EQ(printed["methods"][name]["instances"], 10);
  }
}

TEST_F(EvaluateVerb, AllMeansWhatTheModelAllows) {
  const json without = run_json(evaluate("--method all --epochs 1 --instances 40:44"));
  EXPECT_FALSE(without["methods"].contains("att"));
  EXPECT_EQ(without["methods"].size(), method_names().size() - 1);
  run("train --arch gat --epochs 2 --data " + data() + " -o " + model());
  const json with = run_json(evaluate("--method all --epochs 1 --instances 40:44"));
  EXPECT_EQ(with["methods"].size(), method_names().size());
}

TEST_F(EvaluateVerb, GivesTheSameNumbersForOneAndTwoThreads) {
  const std::string command = evaluate("--method all --epochs 2 --seeds 2 --instances 40:50");
  EXPECT_EQ(without_times(run_json(command + " --threads 1")),
            without_times(run_json(command + " --threads 2")));
}

TEST_F(EvaluateVerb, PrintsATableForPeople) {
  const ToolResult result = run(evaluate("--method grad,random --instances 40:50"));
  for (const char* word : {"method", "AUC", "fid+", "grad", "random"})
    EXPECT_NE(result.out.find(word), std::string::npos) << result.out;
  EXPECT_EQ(result.err, "");
}

TEST_F(EvaluateVerb, JudgesGraphsAndLinks) {
  make_graphs();
  EXPECT_EQ(run_json(graphs_verb("evaluate") + "--method grad --instances all")["instances"], 12);
  const json links =
      run_json(evaluate("--method grad,pgexplainer --epochs 1 --instances 0-1,3-17,40-42,41-44"));
  EXPECT_EQ(links["instances"], 4);
  EXPECT_TRUE(links["methods"]["pgexplainer"]["fidelity"]["label"]["plus"].is_number());
}

TEST_F(EvaluateVerb, HasNoAucWithoutGroundTruthAndSaysSo) {
  Dataset dataset = read_dataset_npz(data());
  dataset.edge_gt.clear();
  write_dataset_npz(file("bare.npz"), dataset);
  const ToolResult result = run("evaluate --method grad --instances 40:50 --json --data " +
                                file("bare.npz") + " --model " + model());
  EXPECT_NE(result.err.find("bare has no ground truth (edge_gt)"), std::string::npos) << result.err;
  const json printed = json::parse(result.out);
  EXPECT_EQ(printed["auc"]["pooled"], nullptr);
  EXPECT_EQ(printed["auc"]["per_instance"], nullptr);
  EXPECT_EQ(printed["selected"]["precision"], nullptr);
  EXPECT_TRUE(printed["fidelity"]["probability"]["minus"].is_number());
  EXPECT_EQ(printed["truth_first_gap"], nullptr);
}

TEST_F(EvaluateVerb, RefusesBadUsageBeforeAnyWork) {
  fit_explainer();
  expect_refused(evaluate("--method magic"), "there is no method 'magic'");
  expect_refused(evaluate("--method random,magic"), "there is no method 'magic'");
  expect_refused(evaluate("--method random,random"), "--method names random twice");
  expect_refused(evaluate("--method random,att"), "train --arch gat");
  expect_refused(evaluate("--method all,random"), "there is no method 'all'");
  expect_refused(evaluate("--preset magic"), "there is no preset 'magic'");
  expect_refused(evaluate("--objective magic"), "objective is 'magic'");
  expect_refused(evaluate("--seeds 0"), "--seeds");
  expect_refused(evaluate("--instances 400"), "data has no node 400");
  expect_refused(evaluate("--instances 4,4"), "names 4 twice");
  expect_refused(evaluate("--instances 4-5 --preset authors-ba-shapes"), "no labels of links");
  expect_refused(evaluate("--explainer " + model()), "is not an explainer of pgexplainer");
  expect_refused(evaluate("--explainer " + explainer() + " --method grad"),
                 "--explainer is for pgexplainer");
  expect_refused(evaluate("--explainer " + explainer() + " --epochs 3"), "--epochs is for fitting");
  expect_refused(evaluate("--explainer " + explainer() + " --preset paper"),
                 "--preset is for fitting");
  expect_refused(evaluate("--method grad --epochs 3"), "--epochs is for pgexplainer");
  expect_refused("evaluate --data " + data() + " --model " + explainer(),
                 "is not a model of pgexplainer");
}

}  // namespace
}  // namespace pgexplainer
