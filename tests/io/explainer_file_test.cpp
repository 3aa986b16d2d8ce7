#include "pgexplainer/io/explainer_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "pgexplainer/core/option_json.h"
#include "pgexplainer/io/model_file.h"
#include "tests/explain/small_problem.h"
#include "tests/support/expect_error.h"
#include "tests/support/random_explanation.h"
#include "tests/support/temporary_folder.h"

namespace pgexplainer {
namespace {

PGExplainer fitted_explainer(const SmallProblem& p, const std::string& objective,
                             const std::string& embedding = "classifier-input") {
  PGExplainerOptions options = quick_options(objective);
  options.embedding = embedding;
  options.features = true;
  options.lr = 1.0 / 3.0;  // survives the text of the file
  PGExplainer explainer(options, 0xFFFFFFFFFFFFFFF0U);
  fit(explainer, p.model, instances_between(0, 12));
  return explainer;
}

TEST(ExplainerFile, LoadedExplainerGivesTheSameBits) {
  const TemporaryFolder folder;
  const SmallProblem nodes(small_tree_cycles(1)), graphs(small_ba_2motifs(1));
  for (const SmallProblem* p : {&nodes, &graphs})
    for (const char* objective : {"ranking", "paper"}) {
      PGExplainer explainer = fitted_explainer(*p, objective);
      write_explainer(folder / "explainer.safetensors", explainer, {{"dataset", "small"}});
      const ExplainerFile file = read_explainer(folder / "explainer.safetensors");
      EXPECT_EQ(file.fit["dataset"], "small");
      EXPECT_EQ(file.explainer->seed(), explainer.seed());
      EXPECT_EQ(options_to_json(file.explainer->options()), options_to_json(explainer.options()));
      EXPECT_TRUE(same_floats(file.explainer->fitted().theta, explainer.fitted().theta));
      EXPECT_TRUE(same_floats(file.explainer->fitted().order, explainer.fitted().order));
      EXPECT_EQ(explainer.fitted().order.empty(), std::string(objective) == "paper");
      const std::vector<Instance> instances = instances_between(0, 12);
      const std::vector<Explanation> before = explain(explainer, p->model, instances);
      const std::vector<Explanation> after = explain(*file.explainer, p->model, instances);
      for (std::size_t i = 0; i < before.size(); ++i) {
        expect_same_explanation(after[i], before[i]);
        EXPECT_FALSE(after[i].feature_score.empty());
      }
    }
}

// Version 3 had neither order networks nor steps found by the fit.
TEST(ExplainerFile, ExplainersOfTheVersionBeforeAreRead) {
  const TemporaryFolder folder;
  const SmallProblem p(small_tree_cycles(1));
  PGExplainerOptions options = quick_options();
  options.order_epochs = 0;
  options.refine = 0;
  PGExplainer explainer(options, 4);
  fit(explainer, p.model, instances_between(0, 12));
  write_explainer(folder / "new.safetensors", explainer, nullptr);
  Safetensors content = read_safetensors(folder / "new.safetensors");
  content.metadata["version"] = "3";
  auto stored = nlohmann::json::parse(content.metadata["options"]);
  stored.erase("order_epochs");
  content.metadata["options"] = stored.dump();
  auto shape = nlohmann::json::parse(content.metadata["shape"]);
  shape.erase("refine");
  content.metadata["shape"] = shape.dump();
  write_safetensors(folder / "old.safetensors", content);
  const ExplainerFile old = read_explainer(folder / "old.safetensors");
  const std::vector<Instance> instances = instances_between(0, 12);
  const auto before = explain(explainer, p.model, instances);
  const auto after = explain(*old.explainer, p.model, instances);
  for (std::size_t i = 0; i < before.size(); ++i) expect_same_explanation(after[i], before[i]);
}

// What a fit found about rivals; explainers without it are of version 4, and read the same.
TEST(ExplainerFile, RivalsAreKept) {
  const TemporaryFolder folder;
  const SmallProblem p(small_tree_cycles(1));
  PGExplainer explainer(quick_options(), 4);
  fit(explainer, p.model, instances_between(0, 12));
  PGExplainer::Fitted fitted = explainer.fitted();
  for (const std::optional<double> lead :
       {std::optional<double>(), std::optional(0.0), std::optional(0.3)}) {
    fitted.rival_lead = lead;
    write_explainer(folder / "e.safetensors", PGExplainer(quick_options(), 4, fitted), nullptr);
    EXPECT_EQ(read_explainer(folder / "e.safetensors").explainer->rival_lead(), lead);
  }
  fitted.rival_lead.reset();
  write_explainer(folder / "e.safetensors", PGExplainer(quick_options(), 4, fitted), nullptr);
  Safetensors content = read_safetensors(folder / "e.safetensors");
  content.metadata["version"] = "4";
  write_safetensors(folder / "old.safetensors", content);
  EXPECT_FALSE(read_explainer(folder / "old.safetensors").explainer->rival_lead());
}

TEST(ExplainerFile, UnfittedExplainerIsNotWritten) {
  const TemporaryFolder folder;
  expect_bad_input(
      [&] { write_explainer(folder / "none.safetensors", PGExplainer({}, 1), nullptr); },
      {"not been fitted"});
  EXPECT_FALSE(std::filesystem::exists(folder / "none.safetensors"));
}

/// A good file, changed; the error must name the file and these words.
class DamagedExplainer : public testing::Test {
 protected:
  DamagedExplainer() {
    const SmallProblem p(small_tree_cycles(1));
    write_explainer(path_, fitted_explainer(p, "ranking", "classifier-input"), {{"epochs", 4}});
  }
  template <class Change>
  void expect_refused(const Change& change, std::vector<std::string> words) {
    Safetensors content = read_safetensors(path_);
    change(content);
    const std::filesystem::path changed = folder_ / "changed.safetensors";
    write_safetensors(changed, content);
    words.push_back(changed.string());
    expect_bad_input([&] { read_explainer(changed); }, words);
  }
  /// The same for one key of a JSON text in the metadata.
  void expect_value_refused(const char* text, const char* key, const nlohmann::json& value,
                            const std::vector<std::string>& words) {
    expect_refused(
        [&](Safetensors& content) {
          auto json = nlohmann::json::parse(content.metadata[text]);
          json[key] = value;
          content.metadata[text] = json.dump();
        },
        words);
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "explainer.safetensors";
};

TEST_F(DamagedExplainer, UnchangedIsRead) { EXPECT_NO_THROW(read_explainer(path_)); }

TEST_F(DamagedExplainer, TensorsAreChecked) {
  expect_refused([](Safetensors& c) { c.tensors.erase("mlp.2.weight"); },
                 {"mlp.2.weight", "missing"});
  expect_refused(
      [](Safetensors& c) {
        c.tensors["mlp.0.bias"] = make_tensor(std::vector<float>(3, 0.0F), {3});
      },
      {"mlp.0.bias", "(3,)", "(8,)"});
  expect_refused([](Safetensors& c) { c.tensors.erase("order.2.bias"); },
                 {"order.2.bias", "missing"});
  expect_refused([](Safetensors& c) { c.tensors["extra"] = c.tensors["mlp.0.bias"]; },
                 {"extra", "unknown"});
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    for (const char* name : {"mlp.0.weight", "feature_logits"})
      expect_refused(
          [&](Safetensors& c) {
            Tensor& tensor = c.tensors.at(name);
            std::memcpy(tensor.data.data() + 4, &bad, sizeof bad);
          },
          {name});
  expect_refused(
      [](Safetensors& c) {
        Tensor& tensor = c.tensors.at("mlp.2.bias");
        tensor.dtype = "I32";
      },
      {"mlp.2.bias", "I32", "F32"});
}

TEST_F(DamagedExplainer, MetadataAreChecked) {
  expect_refused([](Safetensors& c) { c.metadata["version"] = "1"; },
                 {"version '1'", "fit the explainer again"});
  expect_refused([](Safetensors& c) { c.metadata.erase("version"); }, {"version"});
  expect_refused([](Safetensors& c) { c.metadata["format"] = "other"; }, {"not an explainer"});
  for (const char* key : {"options", "shape"}) {
    expect_refused([&](Safetensors& c) { c.metadata.erase(key); }, {key});
    expect_refused([&](Safetensors& c) { c.metadata[key] = "{"; }, {key, "JSON"});
    expect_refused([&](Safetensors& c) { c.metadata[key] = "[]"; }, {key, "object"});
  }
  expect_value_refused("options", "epoch", 3, {"unknown key 'epoch'"});
  expect_value_refused("options", "epochs", "many", {"epochs"});
  expect_value_refused("options", "epochs", 0, {"epochs"});
  expect_value_refused("options", "objective", "rank", {"objective", "rank"});
  expect_value_refused("options", "hidden", {9}, {"mlp.0.weight", "(8, 54)", "(9, 54)"});
  expect_value_refused("options", "hidden", {-1}, {"hidden"});
  expect_value_refused("shape", "embedding_width", 17, {"mlp.0.weight"});
  expect_value_refused("shape", "embedding_width", 0, {"embedding_width"});
  expect_value_refused("shape", "embedding_width", "18", {"embedding_width"});
  expect_value_refused("shape", "num_targets", 3, {"num_targets"});
  expect_value_refused("shape", "num_targets", 2, {"mlp.0.weight"});
  expect_value_refused("shape", "order_levels", 3, {"order.0.weight", "(64, 62)", "(64, 60)"});
  expect_value_refused("shape", "order_levels", -1, {"order_levels"});
  expect_value_refused("shape", "refine", -1, {"refine"});
  expect_value_refused("shape", "rival_lead", -0.1, {"rival_lead", "0 to 2"});
  expect_value_refused("shape", "rival_lead", "no", {"rival_lead"});
  expect_value_refused("shape", "seed", "one", {"seed"});
  expect_value_refused("shape", "seed", -1, {"seed"});
}

TEST_F(DamagedExplainer, AModelIsNoExplainer) {
  const std::filesystem::path model = folder_ / "model.safetensors";
  Safetensors content;
  content.metadata["format"] = "pgexplainer model";
  write_safetensors(model, content);
  expect_bad_input([&] { read_explainer(model); }, {model.string(), "pgexplainer fit"});
}

}  // namespace
}  // namespace pgexplainer
