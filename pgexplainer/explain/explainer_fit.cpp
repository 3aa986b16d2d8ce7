#include "pgexplainer/explain/explainer_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/core/random.h"
#include "pgexplainer/explain/explained_row.h"
#include "pgexplainer/explain/paper_objective.h"
#include "pgexplainer/explain/population_pieces.h"
#include "pgexplainer/explain/ranking_objective.h"
#include "pgexplainer/explain/sampled_objective.h"
#include "pgexplainer/nn/adam.h"

namespace pgexplainer {
namespace {

PaperWeights paper_weights(const PGExplainerOptions& o) {
  PaperWeights w;
  w.size = o.size;
  w.size_term = o.size_term == "mean"    ? PaperWeights::Size::mean
                : o.size_term == "omega" ? PaperWeights::Size::omega
                                         : PaperWeights::Size::sum;
  w.entropy = o.entropy;
  w.entropy_term =
      o.entropy_term == "mean" ? PaperWeights::Entropy::mean : PaperWeights::Entropy::nodes_squared;
  w.budget = o.budget;
  w.budget_weight = o.budget_weight;
  w.connectivity = o.connectivity;
  w.connectivity_term = o.connectivity_term == "sum" ? PaperWeights::Connectivity::sum
                                                     : PaperWeights::Connectivity::mean;
  w.symmetric = o.symmetric;
  return w;
}

/// One thread's memory.
struct Worker : PieceWorker {
  InstanceGraph both;  ///< a member and its company
  std::vector<float> noise, domega;
};

/// One run of Algorithm 1 or 2 from one start.
class Fit {
 public:
  Fit(const ExplainedModel& model, const PGExplainerOptions& options, double necessity,
      std::uint64_t seed, const EdgeScorer<float>& scorer, const Population& population,
      std::span<const std::size_t> train, std::span<const std::size_t> check,
      const Workers& workers)
      : options_(options),
        weights_(paper_weights(options)),
        necessity_(necessity),
        seed_(seed),
        scorer_(scorer),
        population_(population),
        train_(train.begin(), train.end()),
        check_(check.begin(), check.end()),
        ranks_(workers),
        theta_(initial_values<float>(scorer.layout(), seed)) {
    theta_.back() = static_cast<float>(options.init_bias);  // the last layer's bias
    for (int w = 0; w < workers.pool.size(); ++w) {
      workers_.emplace_back();
      workers_.back().run = model.gnn().new_run();
    }
  }

  [[nodiscard]] const std::vector<float>& theta() const { return theta_; }
  [[nodiscard]] const std::vector<double>& history() const { return history_; }

  /// False if the caller asked to stop.
  bool run(const Progress& progress) {
    std::vector<float> best = theta_;
    double best_loss = std::numeric_limits<double>::infinity();
    std::int64_t best_epoch = 0;
    for (std::int64_t epoch = 0; epoch < options_.epochs; ++epoch) {
      history_.push_back(run_epoch(epoch));
      if (!std::isfinite(history_.back()))
        throw_failed("the objective is no longer a number after epoch {}; lower --lr", epoch + 1);
      if (options_.patience > 0) {
        // The same noise every time, so that epochs compare.
        const double loss = batch_loss(check_, kCheckEpoch, options_.epochs - 1, nullptr);
        if (loss < best_loss) {
          best_loss = loss;
          best_epoch = epoch;
          best = theta_;
        } else if (epoch - best_epoch >= options_.patience) {
          break;
        }
      }
      if (!ranks_.all_say(report_progress(progress, epoch + 1, options_.epochs,
                                          fmt::format("loss {:.4f}", history_.back()))))
        return false;
    }
    if (options_.patience > 0) theta_ = best;
    return true;
  }

  /// Some more epochs, with whole edges; tau is a share of how far apart scores are at first. False
  /// if the caller asked to stop.
  bool sharpen(std::int64_t epochs, const FitCheck& trained, const Progress& progress) {
    if (!sampling_tau_) {
      sampling_tau_ =
          kSharpenTau *
          std::sqrt(trained.variation / std::max<double>(1, static_cast<double>(trained.pairs)));
      adam_ = {};
    }
    for (std::int64_t k = 0; k < epochs; ++k) {
      run_epoch(options_.epochs + sharpened_);
      ++sharpened_;
      if (!ranks_.all_say(report_progress(progress, sharpened_, options_.sharpen, "whole edges")))
        return false;
    }
    return true;
  }

  /// How the scores do on some members.
  FitCheck check(std::span<const std::size_t> list) {
    const Pieces pieces(list.size());
    std::vector<FitCheck> parts(pieces.count);
    for_each_member(
        list, [](std::size_t) {},
        [&](std::size_t piece, std::size_t, const Member& member, const Edges& edges,
            Worker& worker) { add_check(member, edges, worker, parts[piece]); },
        [](std::size_t, Worker&) {});
    ranks_.share(std::span(parts), pieces.count);
    FitCheck all;
    for (const FitCheck& part : parts) {
      all.effect += part.effect;
      all.edges += part.edges;
      all.saturated += part.saturated;
      all.told_apart += part.told_apart;
      all.pairs += part.pairs;
      all.variation += part.variation;
    }
    return all;
  }

 private:
  static constexpr std::uint32_t kCheckEpoch = 0xFFFFFFFFU;
  static constexpr double kSharpenTau = 0.3;
  static constexpr std::int64_t kSharpenSamples = 4;  // per instance and step

  using Edges = EdgeScorer<float>::Edges;

  template <class Start, class Body, class Finish>
  void for_each_member(std::span<const std::size_t> list, Start&& start, Body&& body,
                       Finish&& finish) {
    scorer_.transpose_first_weight(theta_.data(), weight_);
    run_pieces(ranks_, population_, list, Pieces(list.size()), scorer_, weight_, workers_, start,
               body, finish);
  }

  std::span<const float> omega_of(const Edges& edges, Worker& worker) const {
    return scorer_.forward(theta_.data(), weight_, worker.z, worker.projections, edges,
                           worker.scorer);
  }

  [[nodiscard]] bool sharpens() const {
    return options_.sharpen > 0 && !population_.company.graphs.empty();
  }
  [[nodiscard]] bool chooses_among_fits() const {
    return options_.restarts > 0 || sharpens() ||
           (options_.objective == "ranking" && options_.necessity.size() > 1);
  }

  void add_check(const Member& member, const Edges& edges, Worker& worker, FitCheck& sum) const {
    if (member.pairs.count() == 0) return;
    const auto omega = omega_of(edges, worker);
    std::vector<float> of_pair, of_edge;
    member.pairs.mean<float>(omega, of_pair);
    member.pairs.spread<float>(of_pair, of_edge);
    const auto [low, high] = std::minmax_element(of_pair.begin(), of_pair.end());
    if (*high - *low > 1e-6F * std::max(1.0F, std::abs(*high))) ++sum.told_apart;
    sum.pairs += member.pairs.count();
    const double mean =
        std::accumulate(of_pair.begin(), of_pair.end(), 0.0) / static_cast<double>(of_pair.size());
    for (const float w : of_pair) {
      const double deviation = static_cast<double>(w) - mean;
      sum.variation += deviation * deviation;
    }
    for (const float w : of_edge) {
      ++sum.edges;
      if (const float s = sigmoid(w); s == 0.0F || s == 1.0F) ++sum.saturated;
    }
    if (!chooses_among_fits()) return;
    sum.effect +=
        keep_and_remove(member.graph, member.pairs, of_pair, member.predicted, *worker.run);
  }

  /// tau of an epoch, Appendix B.
  [[nodiscard]] double tau(std::int64_t epoch) const {
    const auto t = static_cast<double>(epoch);
    return temperature(options_.tau_start, options_.tau_end,
                       options_.schedule == "epoch" ? t : t / static_cast<double>(options_.epochs));
  }

  /// Every batch: loss, gradient, one step of Adam. Returns the mean loss of an instance.
  double run_epoch(std::int64_t epoch) {
    std::vector<std::size_t> order = train_;
    std::size_t batch = order.size();
    if (options_.batch_size > 0 && at(options_.batch_size) < order.size()) {
      batch = at(options_.batch_size);
      RandomStream(seed_, RandomPurpose::shuffle, static_cast<std::uint32_t>(epoch)).shuffle(order);
    }
    double sum = 0;
    std::vector<float> gradient(theta_.size());
    for (std::size_t begin = 0; begin < order.size(); begin += batch) {
      const auto part = std::span(order).subspan(begin, std::min(batch, order.size() - begin));
      sum += batch_loss(part, static_cast<std::uint32_t>(epoch), epoch, &gradient) *
             static_cast<double>(part.size());
      if (options_.clip_value > 0) {
        const auto limit = static_cast<float>(options_.clip_value);
        for (float& g : gradient) g = std::clamp(g, -limit, limit);
      }
      adam_step<float>({options_.lr}, gradient, {}, adam_, theta_);
    }
    return sum / static_cast<double>(order.size());
  }

  /// Eq. (9) over a batch: the mean loss of an instance, and the gradient if wanted. Work is cut
  /// into pieces by the batch alone, whose gradients are added in order on every rank.
  double batch_loss(std::span<const std::size_t> batch, std::uint32_t noise_epoch,
                    std::int64_t tau_epoch, std::vector<float>* gradient) {
    const Pieces pieces(batch.size());
    const std::size_t width = gradient ? theta_.size() : 0;
    loss_.assign(pieces.count, 0.0);
    dtheta_.resize(pieces.count * width);
    const float scale =
        options_.reduction == "sum" ? 1.0F : 1.0F / static_cast<float>(batch.size());
    const auto dtheta = [&](std::size_t piece) {
      return gradient ? dtheta_.data() + piece * width : nullptr;
    };
    for_each_member(
        batch, [&](std::size_t piece) { std::fill_n(dtheta(piece), width, 0.0F); },
        [&](std::size_t piece, std::size_t, const Member& member, const Edges& edges,
            Worker& worker) {
          loss_[piece] +=
              instance_loss(member, edges, noise_epoch, tau_epoch, scale, worker, dtheta(piece));
        },
        [&](std::size_t piece, Worker& worker) {
          if (gradient) scorer_.project_backward(worker.z, worker.dprojections, dtheta(piece));
        });
    ranks_.share(std::span(loss_), pieces.count);
    ranks_.share(std::span(dtheta_), pieces.count);
    const double loss = std::accumulate(loss_.begin(), loss_.end(), 0.0);
    if (gradient) add_pieces(ranks_.pool, dtheta_, pieces.count, *gradient);
    return loss / (static_cast<double>(scale) * static_cast<double>(batch.size()));
  }

  /// One instance, K samples: Algorithm 1, lines 9-13.
  double instance_loss(const Member& member, const Edges& edges, std::uint32_t noise_epoch,
                       std::int64_t tau_epoch, float scale, Worker& worker, float* dtheta) const {
    if (member.graph.num_edges() == 0) return 0;
    const std::span<const float> omega = omega_of(edges, worker);
    worker.domega.assign(omega.size(), 0.0F);
    const double loss = sampling_tau_
                            ? sampled_loss(member, omega, noise_epoch, scale, worker)
                            : soft_loss(member, omega, noise_epoch, tau_epoch, scale, worker);
    if (!dtheta) return loss;
    scorer_.backward(theta_.data(), worker.z, worker.projections, edges, worker.domega,
                     worker.scorer, dtheta, worker.dprojections);
    return loss;
  }

  double sampled_loss(const Member& member, std::span<const float> omega, std::uint32_t noise_epoch,
                      float scale, Worker& worker) const {
    ExplainedRow network(member.graph, *worker.run);
    const auto samples = static_cast<std::uint32_t>(kSharpenSamples * options_.samples);
    double loss = 0;
    for (std::uint32_t k = 0; k < samples; ++k) {
      RandomStream random(seed_, RandomPurpose::whole_edges, noise_epoch * samples + k,
                          noise_key(member.graph.instance));
      RankingTerms terms = draw_shares(random);
      terms.tau = *sampling_tau_;
      worker.noise.resize(2 * at(member.pairs.count()));
      random.uniforms(worker.noise);
      loss +=
          sampled_ranking_loss<float>(member.pairs, omega, worker.noise, terms, member.predicted,
                                      scale / static_cast<float>(samples), network, worker.domega);
    }
    return loss;
  }

  RankingTerms draw_shares(RandomStream& random) const {
    RankingTerms terms;
    terms.keep_share =
        log_uniform(options_.keep_share_min, options_.keep_share_max, random.uniform());
    terms.remove_share =
        log_uniform(options_.remove_share_min, options_.remove_share_max, random.uniform());
    return terms;
  }

  double soft_loss(const Member& member, std::span<const float> omega, std::uint32_t noise_epoch,
                   std::int64_t tau_epoch, float scale, Worker& worker) const {
    ExplainedRow network(member.graph, *worker.run);
    const bool ranking = options_.objective == "ranking";
    const float sample_scale =
        ranking || options_.sample_mean ? scale / static_cast<float>(options_.samples) : scale;
    double loss = 0;
    for (std::int64_t k = 0; k < options_.samples; ++k) {
      RandomStream random(seed_, RandomPurpose::concrete,
                          noise_epoch * static_cast<std::uint32_t>(options_.samples) +
                              static_cast<std::uint32_t>(k),
                          noise_key(member.graph.instance));
      if (ranking) {
        RankingTerms terms = draw_shares(random);
        terms.tau = tau(tau_epoch);
        terms.remove_weight =
            remove_weight(necessity_, options_.necessity_floor, member.without_edges);
        draw_noise(random, at(member.pairs.count()), 0.0, worker.noise);
        const InstanceGraph* company =
            population_.company.graphs.empty()
                ? nullptr
                : population_.company.other_than(member.predicted, random.uniform());
        if (company) {
          terms.in_company = true;
          InCompany beside(member.graph, *company, *worker.run, worker.both);
          loss += ranking_loss<float>(member.pairs, omega, worker.noise, terms, member.predicted,
                                      sample_scale, network, beside, worker.domega);
        } else {
          loss += ranking_loss<float>(member.pairs, omega, worker.noise, terms, member.predicted,
                                      sample_scale, network, worker.domega);
        }
      } else {
        draw_noise(random, omega.size(), options_.sample_bias, worker.noise);
        loss += paper_loss<float>(
            weights_, {member.graph.source, member.graph.num_nodes(), &member.pairs, member.p},
            omega, worker.noise, static_cast<float>(tau(tau_epoch)), sample_scale, network,
            worker.domega);
      }
    }
    return loss;
  }

  /// Different for every instance of a population.
  static std::uint32_t noise_key(const Instance& instance) {
    return static_cast<std::uint32_t>(instance.id) +
           0x9E3779B1U * static_cast<std::uint32_t>(instance.second + 1);
  }

  static double log_uniform(double low, double high, double u) {
    return low * std::pow(high / low, u);
  }

  /// logit(epsilon), epsilon uniform in [bias, 1 - bias].
  static void draw_noise(RandomStream& random, std::size_t count, double bias,
                         std::vector<float>& noise) {
    noise.resize(count);
    random.uniforms(noise);
    const auto low = static_cast<float>(bias);
    for_each_lanes<float>(count, [&](std::size_t i, auto n) {
      const FloatLanes epsilon = (1.0F - 2.0F * low) * load_lanes<float>(noise.data() + i, n) + low;
      store_lanes<float>(log_of(epsilon / (1.0F - epsilon)), noise.data() + i, n);
    });
  }

  const PGExplainerOptions& options_;
  PaperWeights weights_;
  double necessity_;
  std::uint64_t seed_;
  const EdgeScorer<float>& scorer_;
  const Population& population_;
  std::vector<std::size_t> train_, check_;
  const Workers& ranks_;
  std::vector<float> theta_;
  AdamState<float> adam_;
  std::vector<Worker> workers_;
  Matrix<float> weight_;       // the first layer's, transposed, of the present theta
  std::vector<double> loss_;   // of each piece
  std::vector<float> dtheta_;  // of each piece, one after the other
  std::vector<double> history_;
  std::optional<double> sampling_tau_;  // once the edges are whole
  std::int64_t sharpened_ = 0;
};

}  // namespace

std::vector<std::size_t> own_members(const PGExplainerOptions& options, const Workers& workers,
                                     std::size_t count, std::initializer_list<DealtList> lists) {
  const std::span<const std::size_t> train = lists.begin()->members;
  const bool batches = options.batch_size > 0 && at(options.batch_size) < train.size();
  // Small batches are shuffled, and every rank learns the features for itself: both need all.
  std::vector<std::uint8_t> mine(count, batches || options.features ? 1 : 0);
  mine[train.front()] = 1;  // also a rank without work must learn how wide embeddings are
  for (const auto& [list, pieces] : lists)
    for (std::size_t i = 0; i < list.size(); ++i)
      if (workers.does(i / pieces.chunk)) mine[list[i]] = 1;
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < count; ++i)
    if (mine[i] != 0) members.push_back(i);
  return members;
}

ExplainerFit fit_explainer(const ExplainedModel& model, const PGExplainerOptions& options,
                           double necessity, double wanted, std::uint64_t seed,
                           const EdgeScorer<float>& scorer, const Population& population,
                           std::span<const std::size_t> train, std::span<const std::size_t> check,
                           const Workers& workers, const Progress& progress) {
  constexpr std::int64_t kAtOnce = 10;  // epochs before the next check
  Fit fit(model, options, necessity, seed, scorer, population, train, check, workers);
  ExplainerFit result;
  result.finished = fit.run(progress);
  result.trained = fit.check(train);
  result.held_out = fit.check(check);
  result.theta = fit.theta();
  result.loss = fit.history();
  const FitCheck first = result.trained;
  if (population.company.graphs.empty() || first.told_apart == 0) return result;
  for (std::int64_t done = 0; result.finished && result.gap() < wanted && done < options.sharpen;) {
    const std::int64_t epochs = std::min(kAtOnce, options.sharpen - done);
    result.finished = fit.sharpen(epochs, first, progress);
    done += epochs;
    const ExplainerFit sharper{fit.theta(), result.loss,      result.finished,
                               done,        fit.check(train), fit.check(check)};
    if (sharper.gap() > result.gap()) result = sharper;
  }
  return result;
}

KeepRemove effect_of(const Explainer& method, const Gnn& gnn, const Population& population,
                     std::span<const std::size_t> list, const Workers& workers) {
  const Pieces pieces(list.size());
  std::vector<KeepRemove> parts(pieces.count);
  std::vector<std::unique_ptr<GnnRun>> runs(at(workers.pool.size()));
  workers.run(pieces.count, [&](std::size_t piece, int thread) {
    auto& run = runs[at(thread)];
    if (!run) run = gnn.new_run();
    std::vector<float> of_pair;
    for (std::size_t i = pieces.begin(piece); i < pieces.end(piece); ++i) {
      const Member& member = population.members[list[i]];
      if (member.pairs.count() == 0) continue;
      member.pairs.mean<float>(method.score(member.graph, *run).edge, of_pair);
      parts[piece] += keep_and_remove(member.graph, member.pairs, of_pair, member.predicted, *run);
    }
  });
  workers.share(std::span(parts), pieces.count);
  KeepRemove all;
  for (const KeepRemove& part : parts) all += part;
  return all;
}

}  // namespace pgexplainer
