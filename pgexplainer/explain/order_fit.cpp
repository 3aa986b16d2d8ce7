#include "pgexplainer/explain/order_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "pgexplainer/core/index.h"
#include "pgexplainer/explain/gnn_explainer.h"
#include "pgexplainer/explain/gradient_saliency.h"
#include "pgexplainer/explain/keep_remove.h"
#include "pgexplainer/explain/node_gradient.h"
#include "pgexplainer/explain/occlusion.h"
#include "pgexplainer/explain/order_network.h"
#include "pgexplainer/explain/refinement.h"
#include "pgexplainer/explain/rival_order.h"
#include "pgexplainer/nn/adam.h"

namespace pgexplainer {
namespace {

constexpr std::size_t kMostLessons = 128;
constexpr std::int64_t kFewestLessons = 8;
constexpr double kLr = 0.01;
/// How far the network may move edges, and how many steps follow.
struct Attempt {
  float strength;
  std::int64_t steps;
};
constexpr std::array<Attempt, 6> kAttempts{
    {{0.5F, 0}, {1.0F, 0}, {1.0F, 10}, {1.0F, 25}, {1.0F, 50}, {1.0F, 100}}};
// Ahead of a rival: by this much and some standard errors of the difference. It is more uncertain
// than these say, for neighbours are alike: steps are taken until a third one is left. Giving way,
// which costs what instances have in common, is for orders that are not ahead by two.
constexpr double kAhead = 0.01, kErrors = 2, kErrorsWithSteps = 3;
// What steps after the first ones have to gain: more, once the orders are ahead on average.
constexpr double kWorthSteps = 0.002, kWorthStepsAhead = 0.005;
constexpr std::size_t kRivals = 4;
// Of rivals. Not down to 0: for the last hundredths instances would take a rival's own order, which
// knows nothing of what they have in common.
constexpr std::array<double, 7> kLeads{0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02};
constexpr double kLargeLead = 0.1;

using Edges = EdgeScorer<float>::Edges;
using Fold = std::optional<std::size_t>;  // one half of the lessons, or all

struct Lesson {
  std::vector<float> score;   ///< of the explanation network, per pair; empty = not a lesson
  std::vector<float> place;   ///< the same as places
  std::vector<float> wanted;  ///< what delta should be
  std::array<double, kRivals> rival_gap{};
};

/// How faithful the lessons of a piece are, and how much more than by the rivals; sums.
struct Judged {
  double lessons = 0, gap = 0;
  std::array<double, kRivals> rival_gap{}, squared_lead{};

  void add(double own, const std::array<double, kRivals>& rivals) {
    lessons += 1;
    gap += own;
    for (std::size_t r = 0; r < kRivals; ++r) {
      rival_gap[r] += rivals[r];
      squared_lead[r] += (own - rivals[r]) * (own - rivals[r]);
    }
  }
  void operator+=(const Judged& other) {
    lessons += other.lessons;
    gap += other.gap;
    for (std::size_t r = 0; r < kRivals; ++r) {
      rival_gap[r] += other.rival_gap[r];
      squared_lead[r] += other.squared_lead[r];
    }
  }
  [[nodiscard]] double mean_gap() const { return gap / lessons; }
  /// Of every rival, beyond doubt.
  [[nodiscard]] bool is_ahead(double errors = kErrors) const {
    for (std::size_t r = 0; r < kRivals; ++r)
      if (lead_over(r) < kAhead + errors * error_of_lead(r)) return false;
    return true;
  }
  [[nodiscard]] double lead() const { return mean_gap() - best_rival(); }
  [[nodiscard]] bool is_level() const { return lead() >= 0; }
  /// Of some rival, beyond doubt.
  [[nodiscard]] bool is_behind() const {
    for (std::size_t r = 0; r < kRivals; ++r)
      if (lead_over(r) + kErrors * error_of_lead(r) < 0) return true;
    return false;
  }
  [[nodiscard]] double best_rival() const {
    return *std::max_element(rival_gap.begin(), rival_gap.end()) / lessons;
  }

 private:
  [[nodiscard]] double lead_over(std::size_t r) const { return (gap - rival_gap[r]) / lessons; }
  [[nodiscard]] double error_of_lead(std::size_t r) const {
    const double lead = lead_over(r);
    return std::sqrt(std::max(0.0, squared_lead[r] / lessons - lead * lead) / lessons);
  }
};

using JudgedLeads = std::array<Judged, kLeads.size()>;

/// Which lead to allow rivals, the larger the better: one with which the orders are ahead of them
/// or, if they are behind without, level with them. Small leads, which change most instances, are
/// for orders that are behind beyond doubt: then the smallest, if none is enough.
std::optional<std::size_t> least_lead(const Judged& without, const JudgedLeads& judged) {
  const auto end_of_large = static_cast<std::size_t>(
      std::count_if(kLeads.begin(), kLeads.end(), [](double lead) { return lead >= kLargeLead; }));
  for (std::size_t k = 0; k < end_of_large; ++k)
    if (judged[k].is_ahead()) return k;
  if (without.is_level()) return std::nullopt;
  for (std::size_t k = 0; k < (without.is_behind() ? kLeads.size() : end_of_large); ++k)
    if (judged[k].is_level()) return k;
  return without.is_behind() ? std::optional(kLeads.size() - 1) : std::nullopt;
}

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
        pieces_(pieces_of_lessons(list.size())),
        ranks_(ranks),
        lessons_(list.size()),
        gnn_explainer_({}, seed) {
    for (int w = 0; w < ranks.pool.size(); ++w) {
      workers_.emplace_back();
      workers_.back().run = model.gnn().new_run();
    }
  }

  /// Searches for the orders, and judges the rivals beside them. Returns how many lessons there
  /// are.
  std::int64_t prepare() {
    std::vector<std::int64_t> lessons(pieces_.count, 0);
    Matrix<float> weight;
    scorer_.transpose_first_weight(theta_.data(), weight);
    for_each(scorer_, weight,
             [&](std::size_t piece, std::size_t place, const Member& member, const Edges& edges,
                 Worker& worker) {
               if (member.pairs.count() < 2 || member.graph.num_edges() > kMostOccludedEdges)
                 return;
               Lesson& lesson = lessons_[place];
               const auto omega = scorer_.forward(theta_.data(), weight, worker.z,
                                                  worker.projections, edges, worker.scorer);
               member.pairs.mean<float>(omega, lesson.score);
               lesson.place = places_of(lesson.score);
               lesson.wanted = search_order(member.graph, member.pairs, *worker.run, lesson.place);
               for (std::size_t k = 0; k < lesson.place.size(); ++k)
                 lesson.wanted[k] -= lesson.place[k];
               subtract_mean(lesson.wanted);
               ++lessons[piece];
               const std::array<const Explainer*, kRivals> rivals{&grad_, &gradient_, &occlusion_,
                                                                  &gnn_explainer_};
               std::vector<float> of_pair;
               for (std::size_t r = 0; r < kRivals; ++r) {
                 member.pairs.mean<float>(rivals[r]->score(member.graph, *worker.run).edge,
                                          of_pair);
                 lesson.rival_gap[r] = gap_of(member, of_pair, worker);
               }
             });
    ranks_.share(std::span(lessons), pieces_.count);
    return std::accumulate(lessons.begin(), lessons.end(), std::int64_t{0});
  }

  /// Parameters taught the lessons of a half, or all. Empty if the caller asked to stop.
  std::vector<float> teach(Fold fold, std::int64_t epochs, const Progress& progress) {
    OrderNetwork network = new_network();
    const std::size_t width = network.theta().size();
    std::vector<float> theta = network.theta(), gradient(width), parts(pieces_.count * width);
    AdamState<float> adam;
    for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
      run_pieces(
          ranks_, population_, list_, pieces_, network.scorer(), network.weight(), workers_,
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

  /// Judges an attempt with the networks on the lessons of the halves that they were not taught.
  /// Without networks: after the explanation network, on all lessons.
  Judged judge(const Attempt& attempt, std::span<const std::vector<float>> taught_half) {
    std::vector<Judged> judged(pieces_.count);
    for_each_order(attempt, taught_half,
                   [&](std::size_t piece, const Lesson& lesson, const Member& member,
                       const std::vector<float>& order, Worker& worker) {
                     judged[piece].add(gap_of(member, order, worker), lesson.rival_gap);
                   });
    return total(judged);
  }

  /// The same with every lead of kLeads: where a rival is ahead by more, its order counts.
  JudgedLeads judge_leads(const Attempt& attempt, std::span<const std::vector<float>> taught_half) {
    std::array<std::vector<Judged>, kLeads.size()> judged;
    judged.fill(std::vector<Judged>(pieces_.count));
    for_each_order(attempt, taught_half,
                   [&](std::size_t piece, const Lesson& lesson, const Member& member,
                       const std::vector<float>& order, Worker& worker) {
                     WayToRival way(member.graph, member.pairs, member.predicted, *worker.run,
                                    order);
                     for (std::size_t k = 0; k < kLeads.size(); ++k)
                       judged[k][piece].add(way.first_within(kLeads[k]).gap, lesson.rival_gap);
                   });
    JudgedLeads result;
    std::transform(judged.begin(), judged.end(), result.begin(),
                   [&](std::vector<Judged>& one) { return total(one); });
    return result;
  }

 private:
  /// The orders of an attempt, each by a network that was not taught it.
  template <class Body>
  void for_each_order(const Attempt& attempt, std::span<const std::vector<float>> taught_half,
                      Body&& body) {
    OrderNetwork network = new_network();
    const std::size_t rounds = std::max<std::size_t>(1, taught_half.size());
    for (std::size_t half = 0; half < rounds; ++half) {
      if (!taught_half.empty()) network.set_theta(taught_half[half]);
      const Fold fold = taught_half.empty() ? Fold() : Fold(1 - half);
      for_each(network.scorer(), network.weight(),
               [&](std::size_t piece, std::size_t place, const Member& member, const Edges& edges,
                   Worker& worker) {
                 if (!is_in(fold, place)) return;
                 std::vector<float> order = lessons_[place].place;
                 if (!taught_half.empty()) {
                   network.forward(member.graph, member.pairs, worker.z, worker.projections,
                                   edges.row, worker.order, worker.delta);
                   for (std::size_t k = 0; k < order.size(); ++k)
                     order[k] += attempt.strength * worker.delta[k];
                 }
                 refine_order(member.graph, member.pairs, *worker.run, attempt.steps, order);
                 body(piece, lessons_[place], member, order, worker);
               });
    }
  }

  Judged total(std::vector<Judged>& of_piece) const {
    ranks_.share(std::span(of_piece), pieces_.count);
    Judged sum;
    for (const Judged& one : of_piece) sum += one;
    return sum;
  }

  template <class Body>
  void for_each(const EdgeScorer<float>& scorer, const Matrix<float>& weight, Body&& body) {
    run_pieces(
        ranks_, population_, list_, pieces_, scorer, weight, workers_, [](std::size_t) {}, body,
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
    return small_gap_of(member.graph, member.pairs, of_pair, member.predicted, *worker.run);
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

Pieces pieces_of_lessons(std::size_t lessons) {
  // An epoch over tiny instances is short: what every piece costs by itself should be shorter.
  constexpr std::size_t kMembers = 8;
  return Pieces(lessons, kMembers);
}

OrderFit fit_order(const ExplainedModel& model, std::int64_t epochs, std::uint64_t seed,
                   const EdgeScorer<float>& scorer, std::span<const float> theta,
                   const Population& population, std::span<const std::size_t> lessons,
                   const Workers& workers, const Progress& progress) {
  OrderFit result;
  Teaching teaching(model, seed, scorer, theta, population, lessons, workers);
  result.lessons = teaching.prepare();
  if (result.lessons < kFewestLessons) return result;
  std::vector<std::vector<float>> halves;
  if (epochs > 0) {
    for (const Fold fold : {Fold(0), Fold(1), Fold()}) {
      std::vector<float> taught = teaching.teach(fold, epochs, progress);
      result.finished = !taught.empty();
      if (!result.finished) return result;
      if (fold)
        halves.push_back(std::move(taught));
      else
        result.theta = std::move(taught);
    }
  }
  Attempt chosen{1, 0};
  Judged best;
  for (const Attempt& attempt : kAttempts) {
    if (halves.empty() && attempt.strength < 1) continue;
    const Judged judged = teaching.judge(attempt, halves);
    const double gain = best.lessons > 0 ? judged.mean_gap() - best.mean_gap() : 1;
    const double least_gain = chosen.steps == 0      ? 0
                              : best.lead() < kAhead ? kWorthSteps
                                                     : kWorthStepsAhead;
    if (attempt.steps > 0 && gain < least_gain) break;
    if (gain > 0) {
      chosen = attempt;
      best = judged;
    }
    if (best.is_ahead(kErrorsWithSteps)) break;
  }
  if (!best.is_ahead()) {
    const auto judged = teaching.judge_leads(chosen, halves);
    if (const auto lead = least_lead(best, judged)) {
      best = judged[*lead];
      result.rival_lead = kLeads[*lead];
    }
  }
  result.gap = best.mean_gap();
  result.rival_gap = best.best_rival();
  result.steps = chosen.steps;
  // delta is linear in the last layer.
  const auto last = static_cast<std::ptrdiff_t>(OrderNetwork::kHidden + 1);
  if (!result.theta.empty())
    for (auto value = result.theta.end() - last; value != result.theta.end(); ++value)
      *value *= chosen.strength;
  return result;
}

}  // namespace pgexplainer
