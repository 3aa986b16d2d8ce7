#include "pgexplainer/io/model_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "pgexplainer/core/error.h"
#include "pgexplainer/datasets/ba_shapes.h"
#include "pgexplainer/io/dataset_file.h"
#include "pgexplainer/io/npz.h"
#include "pgexplainer/io/train_checkpoint.h"
#include "pgexplainer/model/architecture.h"
#include "pgexplainer/model/gnn_input.h"
#include "tests/support/temporary_folder.h"

namespace pgexplainer {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

TEST(ModelFile, SurvivesARoundTripToTheSameBits) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "m.safetensors";
  const Dataset dataset = generate_ba_shapes({}, 1);
  const NativeGnn<float> model(make_architecture({}, dataset), "test", 7);
  write_model(path, model, {{"seed", 7}});
  const ModelFile read = read_model(path);
  EXPECT_EQ(read.model->theta(), model.theta());
  EXPECT_EQ(to_json(read.model->spec()), to_json(model.spec()));
  EXPECT_EQ(read.training["seed"], 7);
}

TEST(ModelFile, ReadsForeignWeightsByDescription) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "foreign.safetensors";
  const Dataset dataset = generate_ba_shapes({}, 1);
  const NativeGnn<float> model(make_architecture({}, dataset), "test", 7);
  write_model(path, model, {});
  Safetensors content = read_safetensors(path);
  content.metadata.clear();
  content.tensors["bn.num_batches_tracked"] = {"I64", {}, std::vector<std::byte>(8)};
  write_safetensors(path, content);
  EXPECT_THROW(read_model(path), Error);
  EXPECT_EQ(read_model_weights(path, model.spec())->theta(), model.theta());
}

TEST(ModelFile, RefusesWeightsThatDoNotFit) {
  const Dataset dataset = generate_ba_shapes({}, 1);
  const ModelSpec spec = make_architecture({}, dataset);
  const TemporaryFolder folder;
  write_model(folder.path() / "m.safetensors", NativeGnn<float>(spec, "test", 7), {});
  const auto tensors = read_safetensors(folder.path() / "m.safetensors").tensors;
  auto broken = tensors;
  broken.erase("lin.bias");
  EXPECT_THROW(model_from_tensors(spec, broken, "test"), Error);
  broken = tensors;
  broken["lin.bias"].shape = {1, 4};
  EXPECT_THROW(model_from_tensors(spec, broken, "test"), Error);
  broken = tensors;
  broken["lin.bias"].dtype = "I32";
  EXPECT_THROW(model_from_tensors(spec, broken, "test"), Error);
  broken = tensors;
  broken["lin.bias"] = make_tensor(std::vector<float>{0, 1, NAN, 2}, {4});
  EXPECT_THROW(model_from_tensors(spec, broken, "test"), Error);
  broken = tensors;
  broken["stranger"] = make_tensor(std::vector<float>{1}, {1});
  EXPECT_THROW(model_from_tensors(spec, broken, "test"), Error);
}

TEST(TrainCheckpoint, SurvivesARoundTripAndKnowsItsRun) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "m.checkpoint";
  TrainState state;
  state.epoch = 2;
  state.theta = {1, 2, 3};
  state.adam = {5, {0.1F, 0.2F, 0.3F}, {1, 1, 1}};
  state.best_theta = {3, 2, 1};
  state.best_accuracy = 0.1;
  state.best_loss = 1.0 / 3;
  state.best_epoch = 1;
  state.history = {{1, 2, 3, 4}, {5, 6, 7, 8}};
  write_train_checkpoint(path, state, "this run");
  const TrainState read = read_train_checkpoint(path, "this run");
  EXPECT_EQ(read.theta, state.theta);
  EXPECT_EQ(read.adam.m, state.adam.m);
  EXPECT_EQ(read.adam.step, 5);
  EXPECT_EQ(read.best_theta, state.best_theta);
  EXPECT_EQ(read.best_loss, state.best_loss);
  EXPECT_EQ(read.history.size(), 2U);
  EXPECT_EQ(read.history[1].val_loss, 8);
  EXPECT_THROW(read_train_checkpoint(path, "another run"), Error);
}

// The networks whose weights the reference folder holds, by their READMEs.
ModelSpec reference_spec(const Dataset& dataset, bool authors) {
  ArchitectureOptions options;
  if (authors) {
    options.pool = {"max", "add"};
    return make_architecture(options, dataset);
  }
  options.arch = "sum";
  options.norm = "l2";
  options.jk = "cat";
  options.pool = {"max", "mean"};
  return make_architecture(options, dataset);
}

class ReferenceModel : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(ReferenceModel, ReproducesItsLogits) {
  const auto [folder, name] = GetParam();
  const fs::path shared = "../shared";
  const std::string stem(name);
  const fs::path weights = shared / "golden" / folder / (stem + ".npz");
  if (!fs::exists(weights)) GTEST_SKIP() << weights << " is not there";
  const bool authors = std::string(folder) == "authors";
  const Dataset dataset =
      read_dataset(shared / "data" / (stem == "mutagenicity" ? stem : stem + ".npz"));
  const NpzArrays file = read_npz(weights);
  const ModelSpec spec = reference_spec(dataset, authors);

  std::map<std::string, Tensor> tensors;
  const NativeGnn<float> names(spec, "names", 0);
  for (const Parameter& p : names.layout().parameters())
    tensors[p.name] = make_tensor(file.vector<float>(p.name), file.shape(p.name));
  const auto model = model_from_tensors(spec, tensors, weights.string());
  const DatasetNorms<float> norms(dataset, model->reads_gcn_norm());
  const auto gnn = make_gnn(model);
  const Matrix<float> logits = gnn->predict(whole_input(dataset, norms));

  const char* stored = file.contains("logits_unpadded") ? "logits_unpadded" : "logits";
  const Matrix<float> expected = file.matrix<float>(stored);
  ASSERT_EQ(logits.rows(), expected.rows());
  const float worst = (logits - expected).cwiseAbs().maxCoeff();
  std::printf("%s/%s: largest difference of logits %.2e (largest logit %.1f)\n", folder, name,
              static_cast<double>(worst), static_cast<double>(expected.cwiseAbs().maxCoeff()));
  EXPECT_LT(worst, 1e-4F * std::max(1.0F, expected.cwiseAbs().maxCoeff()));
  if (file.contains("z")) {
    const Matrix<float> z = gnn->embed(whole_input(dataset, norms), Embedding::classifier_input);
    EXPECT_LT((z - file.matrix<float>("z")).cwiseAbs().maxCoeff(), 1e-4F);
  }
}

INSTANTIATE_TEST_SUITE_P(Shared, ReferenceModel,
                         testing::Combine(testing::Values("models", "authors"),
                                          testing::Values("ba_shapes", "ba_community",
                                                          "tree_cycles", "tree_grid", "ba_2motifs",
                                                          "mutagenicity")),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param)) + "_" +
                                  std::get<1>(test.param);
                         });

}  // namespace
}  // namespace pgexplainer
