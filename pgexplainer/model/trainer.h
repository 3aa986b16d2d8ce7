// Trains a network for node or graph classification with Adam on the cross-entropy of the labels.
//
// A node dataset is one full batch; a graph dataset is cut into mini-batches, and each mini-batch
// into pieces of a fixed number of graphs whose gradients are added in order, so the result has the
// same bits for any number of threads. All random numbers are functions of (seed, epoch), so a run
// resumed from a TrainState goes on to the same bits.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pgexplainer/core/option_fields.h"
#include "pgexplainer/model/gnn_input.h"
#include "pgexplainer/nn/adam.h"
#include "pgexplainer/parallel/thread_pool.h"

namespace pgexplainer {

struct TrainOptions {
  std::int64_t epochs = 1000;
  double lr = 1e-3;
  double weight_decay = 0.0;
  double dropout_edge = 0.0;
  double clip_value = 2.0;
  double clip_norm = 0.0;
  std::int64_t batch_size = 64;
  std::int64_t patience = 0;
  std::string select = "best";

  template <class Visitor>
  static void fields(Visitor&& field) {
    field("epochs", &TrainOptions::epochs, Bounds{1, 1e9}, "passes over the training set");
    field("lr", &TrainOptions::lr, Bounds{0, 1e3}, "learning rate of Adam");
    field("weight_decay", &TrainOptions::weight_decay, Bounds{0, 1e3},
          "l2 penalty, added to the gradient");
    field("dropout_edge", &TrainOptions::dropout_edge, Bounds{0, 0.95},
          "probability that an edge, in both directions, is left out of an epoch");
    field("clip_value", &TrainOptions::clip_value, Bounds{0, 1e30},
          "largest entry of a gradient; 0 = no limit");
    field("clip_norm", &TrainOptions::clip_norm, Bounds{0, 1e30},
          "largest norm of the gradient; 0 = no limit");
    field("batch_size", &TrainOptions::batch_size, Bounds{0, 1e9},
          "graphs per step, for graph datasets; 0 = all (node datasets always take all)");
    field("patience", &TrainOptions::patience, Bounds{0, 1e9},
          "stop after so many epochs without a better validation accuracy; 0 = never");
    field("select", &TrainOptions::select, Bounds{},
          "best: keep the epoch with the best validation accuracy (ties: lower loss); last: the "
          "last one");
  }
};

struct EpochRecord {
  double loss = 0, train_accuracy = 0, val_accuracy = 0, val_loss = 0;
};

/// Everything a run has become so far.
struct TrainState {
  std::int64_t epoch = 0;  ///< epochs done
  std::vector<float> theta;
  AdamState<float> adam;
  std::int64_t best_epoch = 0;
  std::vector<float> best_theta;
  double best_accuracy = -1;
  double best_loss = 0;
  std::vector<EpochRecord> history;
};

class Trainer {
 public:
  /// The dataset must outlive the trainer. Throws if model and dataset do not fit or the training
  /// set is empty.
  Trainer(const Dataset& dataset, std::shared_ptr<NativeGnn<float>> model,
          const TrainOptions& options, std::uint64_t seed, int threads);
  ~Trainer();

  [[nodiscard]] const TrainState& state() const { return state_; }
  /// Goes on from a state of a run with the same model, options, seed and data.
  void restore(TrainState state);
  [[nodiscard]] bool finished() const;
  /// Throws when the loss is no longer a number.
  void run_epoch();
  /// Leaves the selected parameters in the model.
  void finish();

  /// Logits of every instance with the model's current parameters.
  [[nodiscard]] Matrix<float> logits();

 private:
  struct Worker;
  void node_epoch(EpochRecord& record);
  void graph_epoch(EpochRecord& record);
  void step(std::vector<float>& gradient);
  void select(const EpochRecord& record, const std::vector<float>& theta);
  [[nodiscard]] std::vector<std::int64_t> instances(const std::vector<std::uint8_t>& mask) const;
  Matrix<float> graph_logits(const std::vector<std::int64_t>& graphs);

  const Dataset* dataset_;
  std::shared_ptr<NativeGnn<float>> model_;
  TrainOptions options_;
  std::uint64_t seed_;
  ThreadPool pool_;
  DatasetNorms<float> norms_;
  std::vector<std::uint8_t> trainable_;
  std::vector<std::int64_t> train_, val_;
  std::vector<float> edge_mask_;  // of this epoch; empty = all edges
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::vector<float>> piece_gradient_;
  TrainState state_;
};

}  // namespace pgexplainer
