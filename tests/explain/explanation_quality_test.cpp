// Whether explanations find the motifs: the checks that catch an objective that is wrong but
// learns something. BA-Shapes alone cannot, since there almost any objective ends above 0.9.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

#include "pgexplainer/io/dataset_file.h"
#include "pgexplainer/io/model_file.h"
#include "pgexplainer/io/npz.h"
#include "pgexplainer/metrics/evaluation.h"
#include "pgexplainer/model/trainer.h"
#include "tests/explain/small_problem.h"

namespace pgexplainer {
namespace {

namespace fs = std::filesystem;

double pooled_auc(PGExplainer& explainer, const ExplainedModel& model,
                  const std::vector<Instance>& instances) {
  return compare_with_ground_truth(model.dataset(), explain(explainer, model, instances, 0))
      .pooled_auc;
}

std::vector<Instance> evaluated(const Dataset& dataset) {
  std::vector<Instance> instances;
  for (const std::int64_t id : dataset.eval_instances) instances.push_back({id});
  return instances;
}

double mean_auc(const ExplainedModel& model, const std::string& preset_name, int seeds) {
  double sum = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    PGExplainer explainer(preset(preset_name), static_cast<std::uint64_t>(seed));
    fit(explainer, model, evaluated(model.dataset()), 0);
    const double auc = pooled_auc(explainer, model, evaluated(model.dataset()));
    std::printf("%s, %s, seed %d: AUC %.4f\n", model.dataset().name.c_str(), preset_name.c_str(),
                seed, auc);
    sum += auc / seeds;
  }
  return sum;
}

// No downloads: data and network are made here. The explainer also meets a graph it was not fitted
// on.
TEST(ExplanationQuality, FindsTheCyclesOfGeneratedTreesOldAndNew) {
  const Dataset dataset = generate_tree_cycles({}, 1);
  const auto network =
      std::make_shared<NativeGnn<float>>(make_architecture({}, dataset), "test", 1);
  TrainOptions training;
  training.epochs = 300;
  training.lr = 0.01;
  Trainer trainer(dataset, network, training, 1, 0);
  while (!trainer.finished()) trainer.run_epoch();
  trainer.finish();
  const SmallProblem p(dataset, make_gnn(network));
  const SmallProblem other(generate_tree_cycles({}, 2), p.gnn);
  for (const std::uint64_t seed : {1U, 2U}) {
    PGExplainer explainer(preset("default"), seed);
    fit(explainer, p.model, evaluated(p.dataset), 0);
    const double same = pooled_auc(explainer, p.model, evaluated(p.dataset));
    const double unseen = pooled_auc(explainer, other.model, evaluated(other.dataset));
    std::printf("seed %d: AUC %.4f, on another graph %.4f\n", static_cast<int>(seed), same, unseen);
    EXPECT_GT(same, 0.9);
    EXPECT_GT(unseen, 0.9);
  }
}

/// The authors' network on the published data.
class AuthorsNetwork : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string name = GetParam();
    const fs::path weights = fs::path("../shared/golden/authors") / (name + ".npz");
    if (!fs::exists(weights)) GTEST_SKIP() << weights << " is not there";
    file_ = std::make_unique<NpzArrays>(read_npz(weights));
    Dataset dataset = read_dataset(fs::path("../shared/data") / (name + ".npz"));
    dataset.name = name;
    const ModelSpec spec = make_architecture({}, dataset);
    std::map<std::string, Tensor> tensors;
    const NativeGnn<float> names(spec, "names", 0);
    for (const Parameter& p : names.layout().parameters())
      tensors[p.name] = make_tensor(file_->vector<float>(p.name), file_->shape(p.name));
    problem_ = std::make_unique<SmallProblem>(
        std::move(dataset), make_gnn(model_from_tensors(spec, tensors, weights.string())));
  }

  std::unique_ptr<NpzArrays> file_;
  std::unique_ptr<SmallProblem> problem_;
};

using AuthorsExplainer = AuthorsNetwork;

TEST_P(AuthorsExplainer, GivesThePublishedAuc) {
  PGExplainerOptions options;
  options.score = "sigmoid";
  const EdgeScorer<float> scorer(60, 1, options.hidden);
  PGExplainer::Fitted fitted{60, 1, std::vector<float>(scorer.layout().size()), {}};
  for (const Parameter& p : scorer.layout().parameters()) {
    const auto values = file_->vector<float>("explainer." + p.name);
    ASSERT_EQ(values.size(), p.size);
    std::copy(values.begin(), values.end(),
              fitted.theta.begin() + static_cast<std::ptrdiff_t>(p.offset));
  }
  std::vector<std::int64_t> ids = file_->list<std::int64_t>("instance");
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::vector<Instance> instances;
  for (const std::int64_t id : ids) instances.push_back({id});
  PGExplainer explainer(options, 0, fitted);
  EXPECT_NEAR(pooled_auc(explainer, problem_->model, instances),
              file_->scalar<double>("auc_sigmoid"), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Shared, AuthorsExplainer,
                         testing::Values("ba_shapes", "ba_community", "tree_cycles", "tree_grid"),
                         [](const auto& test) { return std::string(test.param); });

using TreeNetwork = AuthorsNetwork;

TEST_P(TreeNetwork, IsExplainedByTheDefaults) {
  EXPECT_GT(mean_auc(problem_->model, "default", 3), 0.98);
}

TEST_P(TreeNetwork, IsExplainedByTheMeanSizePreset) {
  EXPECT_GT(mean_auc(problem_->model, "mean-size", 3), 0.97);
}

INSTANTIATE_TEST_SUITE_P(Shared, TreeNetwork, testing::Values("tree_cycles", "tree_grid"),
                         [](const auto& test) { return std::string(test.param); });

using TreeCyclesNetwork = AuthorsNetwork;

TEST_P(TreeCyclesNetwork, IsExplainedByThePaperPreset) {
  EXPECT_GT(mean_auc(problem_->model, "paper", 3), 0.9);
}

INSTANTIATE_TEST_SUITE_P(Shared, TreeCyclesNetwork, testing::Values("tree_cycles"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace pgexplainer
