#include "pgexplainer/model/trainer.h"

#include <algorithm>
#include <cmath>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/core/random.h"
#include "pgexplainer/model/dropout_edge.h"
#include "pgexplainer/nn/softmax_cross_entropy.h"

namespace pgexplainer {
namespace {

/// A mini-batch is cut into pieces of about this many graphs, equal but for one graph and even in
/// number, so that two threads have equal work. Never by the number of threads: the order of
/// additions depends on it.
constexpr std::int64_t kGraphsPerPiece = 8;

struct Pieces {
  std::int64_t count, total;

  explicit Pieces(std::int64_t graphs)
      : count(std::min(graphs, 2 * ((graphs + 2 * kGraphsPerPiece - 1) / (2 * kGraphsPerPiece)))),
        total(graphs) {}
  [[nodiscard]] std::int64_t begin(std::int64_t piece) const { return piece * total / count; }
  [[nodiscard]] std::int64_t size(std::int64_t piece) const {
    return begin(piece + 1) - begin(piece);
  }
};

struct Score {
  double loss = 0;
  std::int64_t correct = 0, count = 0;

  void add(const LossSum& sum, std::int64_t rows) {
    loss += sum.loss;
    correct += sum.correct;
    count += rows;
  }
  [[nodiscard]] double accuracy() const {
    return count == 0 ? 0.0 : static_cast<double>(correct) / static_cast<double>(count);
  }
};

Score score_rows(const Matrix<float>& logits, std::span<const std::int64_t> y,
                 const std::vector<std::uint8_t>& mask) {
  Score score;
  const std::int64_t count = std::count(mask.begin(), mask.end(), 1);
  Matrix<float> unused;
  if (count > 0)
    score.add(
        softmax_cross_entropy<float>(logits, y, mask, 1.0 / static_cast<double>(count), unused),
        count);
  return score;
}

}  // namespace

/// What a thread needs for itself.
struct Trainer::Worker {
  Worker(const Dataset& dataset, const DatasetNorms<float>& norms) : batch(dataset, norms) {}
  GraphBatch batch;
  NativeGnn<float>::Workspace workspace;
  Matrix<float> dlogits;
  std::vector<std::int64_t> labels;
};

Trainer::Trainer(const Dataset& dataset, std::shared_ptr<NativeGnn<float>> model,
                 const TrainOptions& options, std::uint64_t seed, int threads)
    : dataset_(&dataset),
      model_(std::move(model)),
      options_(options),
      seed_(seed),
      pool_(threads),
      norms_(dataset, model_->reads_gcn_norm()),
      train_(instances(dataset.train_mask)),
      val_(instances(dataset.val_mask)) {
  check_option_fields(options);
  const ModelSpec& spec = model_->spec();
  if (options.select != "best" && options.select != "last")
    throw_bad_input("option select is '{}', expected best or last", options.select);
  if (spec.task != dataset.task)
    throw_bad_input("the model classifies {}, the dataset has labels for {}",
                    spec.task == Task::node ? "nodes" : "graphs",
                    dataset.task == Task::node ? "nodes" : "graphs");
  if (spec.in_channels != dataset.x.cols())
    throw_bad_input("the model reads {} features per node, the dataset has {}", spec.in_channels,
                    dataset.x.cols());
  if (spec.num_classes < dataset.num_classes())
    throw_bad_input("the model knows {} classes, the dataset has {}", spec.num_classes,
                    dataset.num_classes());
  if (model_->edge_channels() > 0 && model_->edge_channels() != dataset.edge_attr.cols())
    throw_bad_input("the model reads {} features per edge, the dataset has {}",
                    model_->edge_channels(), dataset.edge_attr.cols());
  if (train_.empty()) throw_bad_input("the training set is empty: train_mask marks nothing");
  if (options.patience > 0 && val_.empty())
    throw_bad_input("option patience needs a validation set, and val_mask marks nothing");
  for (int i = 0; i < pool_.size(); ++i)
    workers_.push_back(std::make_unique<Worker>(dataset, norms_));
  for (const Parameter& p : model_->layout().parameters())
    trainable_.insert(trainable_.end(), p.size, p.trainable ? 1 : 0);
  state_.theta = model_->theta();
}

Trainer::~Trainer() = default;

std::vector<std::int64_t> Trainer::instances(const std::vector<std::uint8_t>& mask) const {
  std::vector<std::int64_t> chosen;
  for (std::size_t i = 0; i < mask.size(); ++i)
    if (mask[i]) chosen.push_back(static_cast<std::int64_t>(i));
  return chosen;
}

void Trainer::restore(TrainState state) {
  if (state.theta.size() != model_->theta().size() || state.adam.m.size() != state.theta.size())
    throw_bad_input("the checkpoint holds {} parameters, the model has {}", state.theta.size(),
                    model_->theta().size());
  state_ = std::move(state);
  model_->theta() = state_.theta;
}

bool Trainer::finished() const {
  return state_.epoch >= options_.epochs ||
         (options_.patience > 0 && state_.epoch - state_.best_epoch > options_.patience);
}

void Trainer::run_epoch() {
  EpochRecord record;
  if (options_.dropout_edge > 0)
    draw_edge_mask(dataset_->graph, options_.dropout_edge, seed_,
                   static_cast<std::uint32_t>(state_.epoch), edge_mask_);
  if (dataset_->task == Task::node)
    node_epoch(record);
  else
    graph_epoch(record);
  if (!std::isfinite(record.loss))
    throw_bad_input("training diverged: the loss of epoch {} is {}; try a smaller learning rate",
                    state_.epoch, record.loss);
  state_.history.push_back(record);
  ++state_.epoch;
  state_.theta = model_->theta();
}

// The logits of one forward pass serve the step and, unless dropout or batch statistics act or
// edges are left out, the validation.
void Trainer::node_epoch(EpochRecord& record) {
  Worker& worker = *workers_[0];
  const GnnInput<float> input = whole_input(*dataset_, norms_);
  const NativeGnn<float>::Phase phase{true, seed_, {static_cast<std::uint32_t>(state_.epoch), 0}};
  const Matrix<float>& training_logits =
      model_->forward(input, edge_mask_, phase, worker.workspace);
  const double scale = 1.0 / static_cast<double>(train_.size());
  Score train;
  train.add(softmax_cross_entropy<float>(training_logits, dataset_->y, dataset_->train_mask, scale,
                                         worker.dlogits),
            static_cast<std::int64_t>(train_.size()));
  record.loss = train.loss;
  record.train_accuracy = train.accuracy();
  const bool noisy = model_->depends_on_phase() || !edge_mask_.empty();
  const Score val = score_rows(noisy ? logits() : training_logits, dataset_->y, dataset_->val_mask);
  record.val_accuracy = val.accuracy();
  record.val_loss = val.loss;
  select(record, model_->theta());

  std::vector<float> gradient(model_->theta().size(), 0.0F);
  model_->backward(input, worker.dlogits, worker.workspace,
                   {gradient.data(), nullptr, {}, {}, nullptr});
  model_->update_buffers(worker.workspace);
  step(gradient);
}

void Trainer::graph_epoch(EpochRecord& record) {
  std::vector<std::int64_t> order = train_;
  RandomStream(seed_, RandomPurpose::shuffle, static_cast<std::uint32_t>(state_.epoch))
      .shuffle(order);
  const auto total = static_cast<std::int64_t>(order.size());
  const std::int64_t batch_size = options_.batch_size == 0 ? total : options_.batch_size;
  Score train;
  std::vector<float> gradient(model_->theta().size());
  std::uint32_t piece_number = 0;
  for (std::int64_t begin = 0; begin < total; begin += batch_size) {
    const std::int64_t count = std::min(batch_size, total - begin);
    Pieces pieces(count);
    if (model_->mixes_all_rows(true))
      pieces.count = 1;  // batch statistics are over the whole mini-batch
    std::vector<LossSum> sums(at(pieces.count));
    if (piece_gradient_.size() < sums.size()) piece_gradient_.resize(sums.size());
    pool_.run(pieces.count, [&](std::int64_t piece, int worker_index) {
      Worker& worker = *workers_[at(worker_index)];
      const std::span<const std::int64_t> graphs =
          std::span(order).subspan(at(begin + pieces.begin(piece)), at(pieces.size(piece)));
      worker.labels.clear();
      for (const std::int64_t g : graphs) worker.labels.push_back(dataset_->y[at(g)]);
      const GnnInput<float>& input = worker.batch.assemble(graphs);
      const NativeGnn<float>::Phase phase{true,
                                          seed_,
                                          {static_cast<std::uint32_t>(state_.epoch),
                                           piece_number + static_cast<std::uint32_t>(piece)}};
      const Matrix<float>& logits = model_->forward(input, edge_mask_, phase, worker.workspace);
      sums[at(piece)] = softmax_cross_entropy<float>(
          logits, worker.labels, {}, 1.0 / static_cast<double>(count), worker.dlogits);
      std::vector<float>& sum = piece_gradient_[at(piece)];
      sum.assign(gradient.size(), 0.0F);
      model_->backward(input, worker.dlogits, worker.workspace,
                       {sum.data(), nullptr, {}, {}, nullptr});
    });
    piece_number += static_cast<std::uint32_t>(pieces.count);
    ordered_sum(std::span(piece_gradient_).first(sums.size()), std::span(gradient));
    if (model_->mixes_all_rows(true)) model_->update_buffers(workers_[0]->workspace);
    step(gradient);
    for (LossSum sum : sums) {
      sum.loss *= static_cast<double>(count) / static_cast<double>(total);
      train.add(sum, 0);
    }
  }
  train.count = total;
  record.loss = train.loss;
  record.train_accuracy = train.accuracy();
  if (!val_.empty()) {
    std::vector<std::int64_t> labels;
    for (const std::int64_t g : val_) labels.push_back(dataset_->y[at(g)]);
    const Score val =
        score_rows(graph_logits(val_), labels, std::vector<std::uint8_t>(labels.size(), 1));
    record.val_accuracy = val.accuracy();
    record.val_loss = val.loss;
  }
  select(record, model_->theta());
}

void Trainer::step(std::vector<float>& gradient) {
  if (options_.clip_value > 0) {
    const auto limit = static_cast<float>(options_.clip_value);
    for (float& g : gradient) g = std::clamp(g, -limit, limit);
  }
  if (options_.clip_norm > 0) {
    double square = 0;
    for (const float g : gradient) square += static_cast<double>(g) * g;
    const double norm = std::sqrt(square);
    if (norm > options_.clip_norm)
      for (float& g : gradient) g *= static_cast<float>(options_.clip_norm / norm);
  }
  AdamOptions adam;
  adam.lr = options_.lr;
  adam.weight_decay = options_.weight_decay;
  adam_step<float>(adam, gradient, trainable_, state_.adam, model_->theta());
}

void Trainer::select(const EpochRecord& record, const std::vector<float>& theta) {
  const bool better =
      record.val_accuracy > state_.best_accuracy ||
      (record.val_accuracy == state_.best_accuracy && record.val_loss < state_.best_loss);
  if (!better && !val_.empty()) return;
  if (record.val_accuracy > state_.best_accuracy) state_.best_epoch = state_.epoch;
  state_.best_accuracy = record.val_accuracy;
  state_.best_loss = record.val_loss;
  state_.best_theta = theta;
}

void Trainer::finish() {
  if (dataset_->task == Task::node &&
      !val_.empty()) {  // the parameters after the last step were not scored yet
    EpochRecord record;
    const Score val = score_rows(logits(), dataset_->y, dataset_->val_mask);
    record.val_accuracy = val.accuracy();
    record.val_loss = val.loss;
    select(record, model_->theta());
  }
  if (options_.select == "best" && !val_.empty() && !state_.best_theta.empty())
    model_->theta() = state_.best_theta;
}

Matrix<float> Trainer::logits() {
  if (dataset_->task == Task::node) {
    NativeGnn<float>::Workspace workspace;
    return model_->forward(whole_input(*dataset_, norms_), {}, {}, workspace);
  }
  std::vector<std::int64_t> all(at(dataset_->num_instances()));
  for (std::size_t g = 0; g < all.size(); ++g) all[g] = static_cast<std::int64_t>(g);
  return graph_logits(all);
}

Matrix<float> Trainer::graph_logits(const std::vector<std::int64_t>& graphs) {
  Matrix<float> result(static_cast<Index>(graphs.size()), model_->spec().num_classes);
  const Pieces pieces(static_cast<std::int64_t>(graphs.size()));
  pool_.run(pieces.count, [&](std::int64_t piece, int index) {
    Worker& worker = *workers_[at(index)];
    const std::int64_t first = pieces.begin(piece);
    const std::int64_t count = pieces.size(piece);
    const GnnInput<float>& input =
        worker.batch.assemble(std::span(graphs).subspan(at(first), at(count)));
    result.middleRows(first, count) = model_->forward(input, {}, {}, worker.workspace);
  });
  return result;
}

}  // namespace pgexplainer
