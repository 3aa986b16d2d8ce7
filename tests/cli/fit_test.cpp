#include <set>

#include "pgexplainer/io/explainer_file.h"
#include "tests/support/explaining_test.h"

namespace pgexplainer {
namespace {

using nlohmann::json;

class FitVerb : public ExplainingTest {
 protected:
  [[nodiscard]] std::string fit(const std::string& options) const {
    return verb("fit") + options + " -o " + explainer();
  }
  PGExplainerOptions fitted_options(const std::string& options) {
    run(fit(options));
    return read_explainer(explainer()).explainer->options();
  }
};

TEST_F(FitVerb, PrintsSecondsAndLossAndWritesAnExplainerWithItsHistory) {
  const json printed = run_json(fit("--epochs 4 --seed 3"));
  EXPECT_GT(printed["seconds"], 0.0);
  EXPECT_TRUE(printed["loss"].is_number());
  EXPECT_EQ(printed["epochs"], 4);
  EXPECT_TRUE(printed["warnings"].is_array());
  EXPECT_TRUE(printed["verdict"]["reliable"].is_boolean());
  EXPECT_NE(printed["verdict"]["words"].get<std::string>().find("of the edges hold"),
            std::string::npos);
  const ExplainerFile file = read_explainer(explainer());
  EXPECT_EQ(file.explainer->seed(), 3U);
  EXPECT_EQ(file.explainer->fitted().num_targets, 1);
  EXPECT_EQ(file.fit["loss"].size(), 4U);
  EXPECT_EQ(file.fit["loss"].back(), printed["loss"]);
  EXPECT_EQ(file.fit["instances"], printed["instances"]);
  EXPECT_EQ(file.fit["dataset"], "data");
}

TEST_F(FitVerb, GivesTheSameBytesForOneAndTwoThreads) {
  for (const char* objective : {"ranking", "paper"}) {
    const std::string options = std::string("--epochs 3 --features --objective ") + objective;
    run(fit(options + " --threads 1"));
    const std::string one = bytes(explainer());
    run(fit(options + " --threads 2"));
    EXPECT_EQ(bytes(explainer()), one) << objective;
    run(fit(options + " --seed 1"));
    EXPECT_NE(bytes(explainer()), one) << objective;
  }
}

TEST_F(FitVerb, StartsFromAPresetAndTheCommandLineWins) {
  const PGExplainerOptions plain = fitted_options("--epochs 1");
  EXPECT_EQ(plain.objective, "ranking");
  EXPECT_EQ(plain.tau_end, preset("default").tau_end);
  // --objective paper brings the paper's settings with it.
  const PGExplainerOptions paper = fitted_options("--objective paper --epochs 1");
  EXPECT_EQ(paper.tau_end, preset("paper").tau_end);
  EXPECT_EQ(paper.entropy_term, "nodes-squared");
  // Single options win, before or after the preset, also when they repeat a default.
  for (const char* order :
       {"--preset authors-tree-grid --size 0.2 --score omega --no-symmetric --epochs 1",
        "--size 0.2 --score omega --no-symmetric --epochs 1 --preset authors-tree-grid"}) {
    const PGExplainerOptions mixed = fitted_options(order);
    EXPECT_EQ(mixed.objective, "paper");
    EXPECT_EQ(mixed.lr, 0.01);
    EXPECT_EQ(mixed.target, "label");
    EXPECT_EQ(mixed.size, 0.2);
    EXPECT_EQ(mixed.score, "omega");
    EXPECT_FALSE(mixed.symmetric);
    EXPECT_EQ(mixed.epochs, 1);
  }
}

TEST_F(FitVerb, EveryPresetFits) {
  for (const std::string& name : preset_names()) run(fit("--epochs 1 --preset " + name));
}

TEST_F(FitVerb, RanksFeatures) {
  const json features = run_json(fit("--epochs 1 --features"))["features"];
  ASSERT_EQ(features.size(), 10U);
  std::set<std::int64_t> columns;
  for (const json& feature : features) columns.insert(feature[0].get<std::int64_t>());
  EXPECT_EQ(columns.size(), 10U);
  for (std::size_t f = 1; f < features.size(); ++f)
    EXPECT_GE(features[f - 1][1].get<double>(), features[f][1].get<double>());
  EXPECT_FALSE(run_json(fit("--epochs 1")).contains("features"));
}

TEST_F(FitVerb, LearnsFeaturesWhenAsked) {
  run(fit("--epochs 1"));
  EXPECT_TRUE(read_explainer(explainer()).explainer->fitted().feature_logits.empty());
  run(fit("--epochs 1 --features"));
  EXPECT_EQ(read_explainer(explainer()).explainer->fitted().feature_logits.size(), 10U);
}

TEST_F(FitVerb, FitsGraphsAndLinks) {
  make_graphs();
  run(graphs_verb("fit") + "--instances all --epochs 1 -o " + explainer());
  EXPECT_EQ(read_explainer(explainer()).explainer->fitted().num_targets, 0);
  run(fit("--instances 0-1,3-17,40-42 --epochs 1"));
  EXPECT_EQ(read_explainer(explainer()).explainer->fitted().num_targets, 2);
}

TEST_F(FitVerb, RefusesBadUsageAndLeavesAnOldExplainerAlone) {
  std::ofstream(explainer()) << "precious";
  expect_refused(fit("--preset magic"), "there is no preset 'magic'");
  expect_refused(fit("--objective magic"), "objective is 'magic', expected one of ranking, paper");
  expect_refused(fit("--target magic"), "target is 'magic'");
  expect_refused(fit("--size-term magic"), "size_term is 'magic'");
  expect_refused(fit("--epochs 0"), "--epochs: 0 is not a number from 1");
  expect_refused(fit("--sample-bias 0.6"), "--sample-bias");
  expect_refused(fit("--hidden 0"), "hidden has a layer of width 0");
  expect_refused(fit("--keep-share-min 0.9 --keep-share-max 0.1"),
                 "keep_share_min is 0.9, above keep_share_max");
  expect_refused(fit("--colour red"), "--colour");
  expect_refused(fit("--instances none"), "--instances none");
  expect_refused(fit("--instances 0-1 --preset authors-ba-shapes"), "no labels of links");
  expect_refused("fit --data " + data() + " -o " + explainer(), "--model");
  expect_refused("fit --data " + file("no.npz") + " --model " + model() + " -o " + explainer(),
                 "no such file");
  expect_refused(
      "fit --data " + data() + " --model " + file("no.safetensors") + " -o " + explainer(),
      "no such file");
  expect_refused(verb("fit") + "-o " + file("no/e.safetensors"), "does not exist");
  expect_refused(verb("fit"), "--output");
}

TEST_F(FitVerb, RefusesAnExplainerAsModelAndAModelOfOtherData) {
  fit_explainer();
  make_graphs();
  const std::string output = " -o " + file("other.safetensors");
  expect_refused("fit --data " + data() + " --model " + explainer() + output,
                 "is not a model of pgexplainer");
  expect_refused("fit --data " + data() + " --model " + file("of-graphs.safetensors") + output,
                 "the model classifies graphs, but data is a dataset of nodes");
  run("generate ba-shapes --num-features 3 -o " + file("other.npz"));
  expect_refused("fit --data " + file("other.npz") + " --model " + model() + output,
                 "other has 3 features per node, the model reads 10");
}

}  // namespace
}  // namespace pgexplainer
