#include "pgexplainer/explain/feature_mask.h"

#include <cmath>
#include <memory>

#include "pgexplainer/core/index.h"
#include "pgexplainer/core/random.h"
#include "pgexplainer/explain/ranking_objective.h"
#include "pgexplainer/nn/adam.h"

namespace pgexplainer {
namespace {

struct Worker {
  std::unique_ptr<GnnRun> run;
  Matrix<float> x, dx, dlogits;
};

/// The network of one instance, with features times a mask.
class FeatureMaskedRun {
 public:
  FeatureMaskedRun(const InstanceGraph& graph, Worker& worker) : graph_(graph), worker_(worker) {}

  std::span<const float> forward(std::span<const float> mask) {
    worker_.x = graph_.x;
    for (Index n = 0; n < worker_.x.rows(); ++n)
      for (Index f = 0; f < worker_.x.cols(); ++f) worker_.x(n, f) *= mask[at(f)];
    GnnInput<float> input = graph_.input();
    input.x = &worker_.x;
    const Matrix<float>& all = worker_.run->forward(input, {});
    worker_.dlogits.setZero(all.rows(), all.cols());
    return {all.data() + graph_.logit_row * all.cols(), at(all.cols())};
  }
  void backward(std::span<const float> dlogits, std::span<float> dmask) {
    for (std::size_t c = 0; c < dlogits.size(); ++c)
      worker_.dlogits(graph_.logit_row, static_cast<Index>(c)) = dlogits[c];
    worker_.run->backward(worker_.dlogits, {}, &worker_.dx);
    for (Index n = 0; n < worker_.dx.rows(); ++n)
      for (Index f = 0; f < worker_.dx.cols(); ++f)
        dmask[at(f)] += worker_.dx(n, f) * graph_.x(n, f);
  }

 private:
  const InstanceGraph& graph_;
  Worker& worker_;
};

}  // namespace

std::vector<float> fit_feature_mask(const Gnn& gnn, std::span<const InstanceGraph* const> graphs,
                                    std::span<const std::size_t> predicted,
                                    const FeatureMaskOptions& options, std::uint64_t seed,
                                    ThreadPool& pool) {
  const auto features = at(gnn.num_features());
  std::vector<float> omega(features, 0.0F);
  const std::vector<EdgeId> alone(features, kNoEdge);
  const EdgePairs each(alone);  // every feature for itself
  AdamState<float> adam;
  std::vector<Worker> workers(at(pool.size()));
  for (Worker& worker : workers) worker.run = gnn.new_run();
  std::vector<std::vector<float>> gradient(graphs.size());
  std::vector<float> sum(features);
  for (std::int64_t epoch = 0; epoch < options.epochs; ++epoch) {
    pool.run(static_cast<std::int64_t>(graphs.size()), [&](std::int64_t i, int worker) {
      RandomStream random(seed, RandomPurpose::sparsity, static_cast<std::uint32_t>(epoch),
                          static_cast<std::uint32_t>(i));
      const double share = 0.02 * std::pow(0.9 / 0.02, random.uniform());
      std::vector<float> noise(features);
      for (float& n : noise) n = static_cast<float>(logit(random.uniform()));
      gradient[at(i)].assign(features, 0.0F);
      FeatureMaskedRun network(*graphs[at(i)], workers[at(worker)]);
      ranking_loss<float>(each, omega, noise, {options.tau, share, share, 1.0}, predicted[at(i)],
                          1.0F / static_cast<float>(graphs.size()), network, gradient[at(i)]);
    });
    ordered_sum(gradient, std::span<float>(sum));
    adam_step<float>({options.lr}, sum, {}, adam, omega);
  }
  return omega;
}

}  // namespace pgexplainer
