#include "pgexplainer/explain/order_fit.h"

#include <algorithm>
#include <array>
#include <optional>

#include "pgexplainer/core/index.h"
#include "pgexplainer/explain/gnn_explainer.h"
#include "pgexplainer/explain/gradient_saliency.h"
#include "pgexplainer/explain/keep_remove.h"
#include "pgexplainer/explain/node_gradient.h"
#include "pgexplainer/explain/occlusion.h"
#include "pgexplainer/explain/order_network.h"
#include "pgexplainer/explain/population_pieces.h"
#include "pgexplainer/explain/refinement.h"
#include "pgexplainer/nn/adam.h"

namespace pgexplainer {
namespace {

constexpr std::size_t kMostLessons = 128;
constexpr std::int64_t kFewestLessons = 8;
constexpr EdgeId kMostEdges = 4096;  // a search asks for every edge of a lesson
constexpr double kLr = 0.01;
constexpr double kAhead = 0.01;  // of the rivals, on lessons that were not taught
constexpr std::array<std::int64_t, 5> kSteps{0, 5, 10, 20, 50};
constexpr std::size_t kRivals = 4;

using Edges = EdgeScorer<float>::Edges;
using Fold = std::optional<std::size_t>;  // one half of the lessons, or all

struct Lesson {
  std::vector<float> score;   ///< of the explanation network, per pair; empty = not a lesson
  std::vector<float> place;   ///< the same as places
  std::vector<float> wanted;  ///< what delta should be
};

/// What the lessons of a piece give; sums.
struct Judged {
  double lessons = 0;
  std::array<double, kRivals> rival_gap{};
  std::array<double, kSteps.size()> gap{};
};

struct Worker : PieceWorker {
  OrderNetwork::Workspace order;
  std::vector<float> delta, ddelta;
};

void subtract_mean(std::vector<float>& values) {
  double mean = 0;
  for (const float value : values) mean += static_cast<double>(value);
  mean /= static_cast<double>(values.size());
  for (float& value : values) value -= static_cast<float>(mean);
}

class Teaching {
 public:
  Teaching(const ExplainedModel& model, std::uint64_t seed, const EdgeScorer<float>& scorer,
           std::span<const float> theta, const Population& population,
           std::span<const std::size_t> list, const Workers& ranks)
      : model_(model),
        seed_(seed),
        scorer_(scorer),
        theta_(theta),
        population_(population),
        list_(list),
        pieces_(list.size()),
        ranks_(ranks),
        lessons_(list.size()),
        judged_(pieces_.count),
        gnn_explainer_({}, seed) {
    for (int w = 0; w < ranks.pool.size(); ++w) {
      workers_.emplace_back();
      workers_.back().run = model.gnn().new_run();
    }
  }

  /// Searches for the orders, and judges the rivals beside them. Returns how many lessons there
  /// are.
  std::int64_t prepare() {
    Matrix<float> weight;
    scorer_.transpose_first_weight(theta_.data(), weight);
    for_each(scorer_, weight,
             [&](std::size_t piece, std::size_t place, const Member& member, const Edges& edges,
                 Worker& worker) {
               if (member.pairs.count() < 2 || member.graph.num_edges() > kMostEdges) return;
               Lesson& lesson = lessons_[place];
               const auto omega = scorer_.forward(theta_.data(), weight, worker.z,
                                                  worker.projections, edges, worker.scorer);
               member.pairs.mean<float>(omega, lesson.score);
               lesson.place = places_of(lesson.score);
               lesson.wanted = search_order(member.graph, member.pairs, *worker.run, lesson.place);
               for (std::size_t k = 0; k < lesson.place.size(); ++k)
                 lesson.wanted[k] -= lesson.place[k];
               subtract_mean(lesson.wanted);
               judged_[piece].lessons += 1;
               const std::array<const Explainer*, kRivals> rivals{&grad_, &gradient_, &occlusion_,
                                                                  &gnn_explainer_};
               std::vector<float> of_pair;
               for (std::size_t r = 0; r < kRivals; ++r) {
                 member.pairs.mean<float>(rivals[r]->score(member.graph, *worker.run).edge,
                                          of_pair);
                 judged_[piece].rival_gap[r] += gap_of(member, of_pair, worker);
               }
             });
    return static_cast<std::int64_t>(total().lessons);
  }

  /// Parameters taught the lessons of a half, or all. Empty if the caller asked to stop.
  std::vector<float> teach(Fold fold, std::int64_t epochs, const Progress& progress) {
    OrderNetwork network = new_network();
    const std::size_t width = network.theta().size();
    std::vector<float> theta = network.theta(), gradient(width), parts(pieces_.count * width);
    AdamState<float> adam;
    for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
      run_pieces(
          ranks_, population_, list_, network.scorer(), network.weight(), workers_,
          [&](std::size_t piece) { std::fill_n(parts.data() + piece * width, width, 0.0F); },
          [&](std::size_t piece, std::size_t place, const Member& member, const Edges& edges,
              Worker& worker) {
            if (is_in(fold, place))
              add_gradient(network, member, lessons_[place], edges, worker,
                           parts.data() + piece * width);
          },
          [&](std::size_t piece, Worker& worker) {
            network.scorer().project_backward(worker.z, worker.dprojections,
                                              parts.data() + piece * width);
          });
      ranks_.share(std::span(parts), pieces_.count);
      add_pieces(ranks_.pool, parts, pieces_.count, gradient);
      adam_step<float>({kLr}, gradient, {}, adam, theta);
      network.set_theta(theta);
      if (!ranks_.all_say(report_progress(progress, epoch + 1, epochs, "order of edges")))
        return {};
    }
    return theta;
  }

  /// Tries every number of steps on the lessons of a half, after a network with these parameters
  /// (none if empty).
  void try_steps(Fold fold, const std::vector<float>& theta) {
    OrderNetwork network = new_network();
    if (!theta.empty()) network.set_theta(theta);
    for_each(network.scorer(), network.weight(),
             [&](std::size_t piece, std::size_t place, const Member& member, const Edges& edges,
                 Worker& worker) {
               if (!is_in(fold, place)) return;
               std::vector<float> start = lessons_[place].place;
               if (!theta.empty()) {
                 network.forward(member.graph, member.pairs, worker.z, worker.projections,
                                 edges.row, worker.order, worker.delta);
                 for (std::size_t k = 0; k < start.size(); ++k) start[k] += worker.delta[k];
               }
               for (std::size_t s = 0; s < kSteps.size(); ++s) {
                 std::vector<float> refined = start;
                 refine_order(member.graph, member.pairs, *worker.run, kSteps[s], refined);
                 judged_[piece].gap[s] += gap_of(member, refined, worker);
               }
             });
  }

  /// Over all pieces of all ranks.
  [[nodiscard]] Judged total() const {
    std::vector<Judged> all = judged_;
    ranks_.share(std::span(all), pieces_.count);
    Judged sum;
    for (const Judged& one : all) {
      sum.lessons += one.lessons;
      for (std::size_t r = 0; r < kRivals; ++r) sum.rival_gap[r] += one.rival_gap[r];
      for (std::size_t s = 0; s < kSteps.size(); ++s) sum.gap[s] += one.gap[s];
    }
    return sum;
  }

 private:
  template <class Body>
  void for_each(const EdgeScorer<float>& scorer, const Matrix<float>& weight, Body&& body) {
    run_pieces(
        ranks_, population_, list_, scorer, weight, workers_, [](std::size_t) {}, body,
        [](std::size_t, Worker&) {});
  }

  [[nodiscard]] OrderNetwork new_network() const {
    return {population_.z.cols(), scorer_.num_targets(), OrderNetwork::levels_of(model_.gnn()),
            seed_};
  }

  [[nodiscard]] bool is_in(Fold fold, std::size_t place) const {
    return !lessons_[place].score.empty() && (!fold || place % 2 == *fold);
  }

  static double gap_of(const Member& member, std::span<const float> of_pair, Worker& worker) {
    return keep_and_remove(member.graph, member.pairs, of_pair, member.predicted, *worker.run)
        .small_gap();
  }

  /// Of the loss in order_network.h; Adam does not ask for its scale.
  static void add_gradient(const OrderNetwork& network, const Member& member, const Lesson& lesson,
                           const Edges& edges, Worker& worker, float* dtheta) {
    network.forward(member.graph, member.pairs, worker.z, worker.projections, edges.row,
                    worker.order, worker.delta);
    worker.ddelta = worker.delta;
    subtract_mean(worker.ddelta);
    const float scale = 2.0F / static_cast<float>(worker.ddelta.size());
    for (std::size_t k = 0; k < worker.ddelta.size(); ++k)
      worker.ddelta[k] = scale * (worker.ddelta[k] - lesson.wanted[k]);
    network.backward(member.graph, member.pairs, worker.z, worker.projections, edges.row,
                     worker.ddelta, worker.order, dtheta, worker.dprojections);
  }

  const ExplainedModel& model_;
  std::uint64_t seed_;
  const EdgeScorer<float>& scorer_;
  std::span<const float> theta_;
  const Population& population_;
  std::span<const std::size_t> list_;
  Pieces pieces_;
  const Workers& ranks_;
  std::vector<Worker> workers_;
  std::vector<Lesson> lessons_;
  std::vector<Judged> judged_;  // of each piece
  GradientSaliency grad_{{}};
  NodeGradient gradient_{{}};
  Occlusion occlusion_{{}};
  GnnExplainer gnn_explainer_;
};

}  // namespace

std::vector<std::size_t> choose_lessons(std::span<const std::size_t> train) {
  const std::size_t count = std::min(kMostLessons, train.size());
  std::vector<std::size_t> lessons;
  for (std::size_t i = 0; i < count; ++i) lessons.push_back(train[i * train.size() / count]);
  return lessons;
}

OrderFit fit_order(const ExplainedModel& model, std::int64_t epochs, std::uint64_t seed,
                   const EdgeScorer<float>& scorer, std::span<const float> theta,
                   const Population& population, std::span<const std::size_t> lessons,
                   const Workers& workers, const Progress& progress) {
  OrderFit result;
  Teaching teaching(model, seed, scorer, theta, population, lessons, workers);
  result.lessons = teaching.prepare();
  if (result.lessons < kFewestLessons) return result;
  if (epochs == 0) {
    teaching.try_steps({}, {});
  } else {
    for (const std::size_t taught : {0U, 1U}) {
      const std::vector<float> half = teaching.teach(taught, epochs, progress);
      result.finished = !half.empty();
      if (!result.finished) return result;
      teaching.try_steps(1 - taught, half);
    }
    result.theta = teaching.teach({}, epochs, progress);
    result.finished = !result.theta.empty();
    if (!result.finished) return result;
  }
  const Judged judged = teaching.total();
  const double rival = *std::max_element(judged.rival_gap.begin(), judged.rival_gap.end());
  std::size_t chosen = 0;
  for (std::size_t s = 0; s < kSteps.size(); ++s) {
    if (judged.gap[chosen] >= rival + kAhead * judged.lessons) break;
    if (judged.gap[s] > judged.gap[chosen]) chosen = s;
  }
  result.steps = kSteps[chosen];
  result.gap = judged.gap[chosen] / judged.lessons;
  result.rival_gap = rival / judged.lessons;
  return result;
}

}  // namespace pgexplainer
