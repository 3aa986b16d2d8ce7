#include "pgexplainer/model/trainer.h"

#include <gtest/gtest.h>

#include "pgexplainer/core/error.h"
#include "pgexplainer/datasets/ba_2motifs.h"
#include "pgexplainer/datasets/ba_shapes.h"
#include "pgexplainer/model/architecture.h"

namespace pgexplainer {
namespace {

Dataset small_graphs() {
  Ba2motifsOptions options;
  options.num_graphs = 60;
  return generate_ba_2motifs(options, 1);
}

std::shared_ptr<NativeGnn<float>> network(const ArchitectureOptions& options,
                                          const Dataset& dataset, std::uint64_t seed = 3) {
  return std::make_shared<NativeGnn<float>>(make_architecture(options, dataset), "test", seed);
}

ArchitectureOptions with_noise() {  // dropout and batch statistics
  ArchitectureOptions options;
  options.arch = "gin";
  options.hidden = {8, 8};
  options.norm = "batch";
  options.dropout = 0.3;
  return options;
}

std::vector<float> train(const Dataset& dataset, const ArchitectureOptions& architecture,
                         const TrainOptions& options, int threads) {
  const auto model = network(architecture, dataset);
  Trainer trainer(dataset, model, options, 3, threads);
  while (!trainer.finished()) trainer.run_epoch();
  trainer.finish();
  return model->theta();
}

TEST(Trainer, LearnsBaShapes) {
  const Dataset dataset = generate_ba_shapes({}, 1);
  const auto model = network({}, dataset);
  TrainOptions options;
  options.epochs = 400;
  options.lr = 0.01;
  Trainer trainer(dataset, model, options, 3, 1);
  while (!trainer.finished()) trainer.run_epoch();
  EXPECT_LT(trainer.state().history.back().loss, 0.5 * trainer.state().history.front().loss);
  EXPECT_GT(trainer.state().history.back().train_accuracy, 0.85);
}

TEST(Trainer, GivesTheSameBitsForAnyNumberOfThreads) {
  const Dataset dataset = small_graphs();
  TrainOptions options;
  options.epochs = 3;
  for (const ArchitectureOptions& architecture : {ArchitectureOptions{}, with_noise()}) {
    const auto one = train(dataset, architecture, options, 1);
    EXPECT_EQ(one, train(dataset, architecture, options, 2));
    EXPECT_EQ(one, train(dataset, architecture, options, 3));
  }
}

TEST(Trainer, ResumesToTheSameBits) {
  const Dataset graphs = small_graphs();
  const Dataset nodes = generate_ba_shapes({}, 1);
  TrainOptions options;
  options.epochs = 6;
  for (const Dataset* dataset : {&graphs, &nodes}) {
    const auto whole = train(*dataset, with_noise(), options, 1);
    const auto first = network(with_noise(), *dataset);
    Trainer before(*dataset, first, options, 3, 1);
    for (int epoch = 0; epoch < 2; ++epoch) before.run_epoch();
    const auto second =
        network(with_noise(), *dataset, 99);  // other initial values: the state must replace them
    Trainer after(*dataset, second, options, 3, 1);
    after.restore(before.state());
    while (!after.finished()) after.run_epoch();
    after.finish();
    EXPECT_EQ(second->theta(), whole);
    EXPECT_EQ(after.state().history.size(), 6U);
  }
}

TEST(Trainer, LeavesOutEdgesWithTheSameBitsForAnyThreadsAndAfterResuming) {
  const Dataset graphs = small_graphs();
  const Dataset nodes = generate_ba_shapes({}, 1);
  TrainOptions options;
  options.epochs = 5;
  TrainOptions dropping = options;
  dropping.dropout_edge = 0.4;
  for (const Dataset* dataset : {&graphs, &nodes}) {
    const auto whole = train(*dataset, {}, dropping, 1);
    EXPECT_NE(whole, train(*dataset, {}, options, 1));
    EXPECT_EQ(whole, train(*dataset, {}, dropping, 3));
    Trainer before(*dataset, network({}, *dataset), dropping, 3, 1);
    for (int epoch = 0; epoch < 2; ++epoch) before.run_epoch();
    const auto resumed = network({}, *dataset, 99);
    Trainer after(*dataset, resumed, dropping, 3, 2);
    after.restore(before.state());
    while (!after.finished()) after.run_epoch();
    after.finish();
    EXPECT_EQ(resumed->theta(), whole);
  }
}

TEST(Trainer, ValidatesWithTheEdgesThatTrainingLeavesOut) {
  const Dataset graphs = small_graphs();
  const Dataset nodes = generate_ba_shapes({}, 1);
  for (const Dataset* dataset : {&graphs, &nodes}) {
    const auto first_epoch = [&](double dropout_edge) {
      TrainOptions options;
      options.lr = 0;
      options.dropout_edge = dropout_edge;
      Trainer trainer(*dataset, network({}, *dataset), options, 3, 1);
      trainer.run_epoch();
      return trainer.state().history.back();
    };
    const EpochRecord all = first_epoch(0), part = first_epoch(0.9);
    EXPECT_NE(part.loss, all.loss);
    EXPECT_EQ(part.val_loss, all.val_loss);
    EXPECT_EQ(part.val_accuracy, all.val_accuracy);
  }
}

TEST(Trainer, KeepsTheBestValidationEpoch) {
  const Dataset dataset = generate_ba_shapes({}, 1);
  const auto model = network({}, dataset);
  TrainOptions options;
  options.epochs = 60;
  options.lr = 0.05;
  Trainer trainer(dataset, model, options, 3, 1);
  while (!trainer.finished()) trainer.run_epoch();
  trainer.finish();
  double best = 0;
  for (const EpochRecord& record : trainer.state().history)
    best = std::max(best, record.val_accuracy);
  Matrix<float> unused;
  const Matrix<float> logits = trainer.logits();
  std::int64_t correct = 0, count = 0;
  for (Index v = 0; v < logits.rows(); ++v) {
    if (!dataset.val_mask[static_cast<std::size_t>(v)]) continue;
    Index predicted = 0;
    logits.row(v).maxCoeff(&predicted);
    correct += predicted == dataset.y[static_cast<std::size_t>(v)] ? 1 : 0;
    ++count;
  }
  EXPECT_GE(static_cast<double>(correct) / static_cast<double>(count), best - 1e-12);
}

TEST(Trainer, StopsWhenPatienceEnds) {
  const Dataset dataset = generate_ba_shapes({}, 1);
  TrainOptions options;
  options.lr = 0;  // never gets better
  options.patience = 5;
  Trainer trainer(dataset, network({}, dataset), options, 3, 1);
  while (!trainer.finished()) trainer.run_epoch();
  EXPECT_EQ(trainer.state().epoch, 6);
}

TEST(Trainer, RefusesWhatCannotBeTrained) {
  Dataset dataset = small_graphs();
  const auto model = network({}, dataset);
  const Dataset nodes = generate_ba_shapes({}, 1);
  EXPECT_THROW(Trainer(nodes, model, {}, 0, 1), Error);
  TrainOptions bad;
  bad.epochs = 0;
  EXPECT_THROW(Trainer(dataset, model, bad, 0, 1), Error);
  bad = {};
  bad.select = "median";
  EXPECT_THROW(Trainer(dataset, model, bad, 0, 1), Error);
  bad = {};
  bad.dropout_edge = 0.96;
  EXPECT_THROW(Trainer(dataset, model, bad, 0, 1), Error);
  Dataset wide = dataset;
  wide.x = Matrix<float>::Ones(wide.x.rows(), 11);
  EXPECT_THROW(Trainer(wide, model, {}, 0, 1), Error);
  Dataset more_classes = dataset;
  more_classes.y[0] = 5;
  EXPECT_THROW(Trainer(more_classes, model, {}, 0, 1), Error);
  bad = {};
  bad.patience = 3;
  std::fill(dataset.val_mask.begin(), dataset.val_mask.end(), 0);
  EXPECT_THROW(Trainer(dataset, model, bad, 0, 1), Error);
  std::fill(dataset.train_mask.begin(), dataset.train_mask.end(), 0);
  EXPECT_THROW(Trainer(dataset, model, {}, 0, 1), Error);
}

TEST(Trainer, SaysWhenItDiverges) {
  Dataset dataset = generate_ba_shapes({}, 1);
  dataset.x *= 3e38F;
  ArchitectureOptions architecture;
  architecture.arch = "sum";  // nothing keeps it small
  const TrainOptions options;
  Trainer trainer(dataset, network(architecture, dataset), options, 3, 1);
  EXPECT_THROW(while (!trainer.finished()) trainer.run_epoch(), Error);
}

TEST(Architecture, BuildsEveryWordForBothTasks) {
  const Dataset graphs = small_graphs();
  const Dataset nodes = generate_ba_shapes({}, 1);
  for (const char* word :
       {"paper", "gcn", "sum", "graph", "sage", "gin", "gat", "gatv2", "transformer"})
    for (const Dataset* dataset : {&graphs, &nodes}) {
      ArchitectureOptions options;
      options.arch = word;
      options.heads = 2;
      TrainOptions train_options;
      train_options.epochs = 1;
      Trainer trainer(*dataset, network(options, *dataset), train_options, 1, 1);
      trainer.run_epoch();
      EXPECT_EQ(trainer.logits().rows(), dataset->num_instances()) << word;
    }
  ArchitectureOptions wrong;
  for (const auto change : {0, 1, 2, 3, 4}) {
    wrong = {};
    if (change == 0) wrong.arch = "magic";
    if (change == 1) wrong.arch = "gine";  // no edge features here
    if (change == 2) wrong.hidden = {};
    if (change == 3) wrong.norm = "power";
    if (change == 4) wrong.jk = "sum";
    EXPECT_THROW(make_architecture(wrong, nodes), Error) << change;
  }
}

}  // namespace
}  // namespace pgexplainer
