#include "pgexplainer/explain/pg_explainer.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/huge_pages.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/core/random.h"
#include "pgexplainer/explain/explained_row.h"
#include "pgexplainer/explain/feature_mask.h"
#include "pgexplainer/explain/paper_objective.h"
#include "pgexplainer/explain/ranking_objective.h"
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

/// An instance of the population, cut out once (Algorithm 1, lines 2-6).
struct Member {
  InstanceGraph graph;
  EdgePairs pairs;
  std::vector<float> p;       ///< what the prediction should stay
  std::size_t predicted = 0;  ///< the model's class
  std::vector<NodeId> rows;   ///< of the population's embeddings, one per node
};

struct Population {
  std::vector<Member> members;  ///< of each instance; those this rank does not work on stay empty
  std::vector<NodeId> nodes;    ///< every node that some member contains
  Matrix<float> z;              ///< their embeddings
};

/// One thread's memory. The members of a piece of work share nodes; each is projected once.
struct Worker {
  std::unique_ptr<GnnRun> run;
  EdgeScorer<float>::Workspace scorer;
  std::vector<float> noise, domega;
  std::vector<NodeId> piece_row;    ///< of each row of the population; kNoNode outside the piece
  std::vector<NodeId> rows;         ///< the rows of the population that the piece has
  std::vector<NodeId> member_rows;  ///< in the piece, of the nodes of all its members in turn
  Matrix<float> z, projections, dprojections;  ///< of each row of the piece

  void gather(const Matrix<float>& population_z, std::span<const Member* const> members) {
    piece_row.resize(at(population_z.rows()), kNoNode);
    rows.clear();
    member_rows.clear();
    for (const Member* member : members)
      for (const NodeId row : member->rows) {
        NodeId& mine = piece_row[at(row)];
        if (mine == kNoNode) {
          mine = static_cast<NodeId>(rows.size());
          rows.push_back(row);
        }
        member_rows.push_back(mine);
      }
    z.resize(static_cast<Index>(rows.size()), population_z.cols());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      z.row(static_cast<Index>(i)) = population_z.row(rows[i]);
      piece_row[at(rows[i])] = kNoNode;
    }
  }
};

/// How a list of instances is cut into pieces of work: by its length alone. Sums over a piece are
/// added in the order of pieces, whoever computed them.
struct Pieces {
  explicit Pieces(std::size_t list_length)
      : length(list_length),
        chunk(std::max((length + kMost - 1) / kMost, kMembers)),
        count((length + chunk - 1) / chunk) {}

  static constexpr std::size_t kMost = 64;    // so many can work at once
  static constexpr std::size_t kMembers = 3;  // at least, for they share nodes
  std::size_t length, chunk, count;

  [[nodiscard]] std::size_t begin(std::size_t piece) const {
    return std::min(length, piece * chunk);
  }
  [[nodiscard]] std::size_t end(std::size_t piece) const { return begin(piece + 1); }
};

/// The instances this rank works on, in order.
std::vector<std::size_t> own_members(const PGExplainerOptions& options, const Workers& workers,
                                     std::size_t count, std::span<const std::size_t> train,
                                     std::span<const std::size_t> check) {
  const bool batches = options.batch_size > 0 && at(options.batch_size) < train.size();
  // Small batches are shuffled, and every rank learns the features for itself: both need all.
  std::vector<std::uint8_t> mine(count, batches || options.features ? 1 : 0);
  mine[train.front()] = 1;  // also a rank without work must learn how wide embeddings are
  for (const auto list : {train, check}) {
    const Pieces pieces(list.size());
    for (std::size_t i = 0; i < list.size(); ++i)
      if (workers.does(i / pieces.chunk)) mine[list[i]] = 1;
  }
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < count; ++i)
    if (mine[i] != 0) members.push_back(i);
  return members;
}

Population gather(const ExplainedModel& model, std::span<const Instance> instances,
                  std::span<const std::size_t> wanted_members, const PGExplainerOptions& options,
                  ThreadPool& pool) {
  Population population;
  population.members.resize(instances.size());
  const auto pieces = static_cast<std::int64_t>(wanted_members.size());
  struct Cutter {
    InstanceCutter cutter;
    std::unique_ptr<GnnRun> run;
  };
  std::vector<std::unique_ptr<Cutter>> cutters(at(pool.size()));
  pool.run(pieces, [&](std::int64_t piece, int worker) {
    auto& own = cutters[at(worker)];
    if (!own) own.reset(new Cutter{model.new_cutter(), model.gnn().new_run()});
    const std::size_t i = wanted_members[at(piece)];
    Member& member = population.members[i];
    own->cutter.cut(instances[i], member.graph);
    member.pairs = EdgePairs(member.graph.reverse);
    const Prediction prediction = predict(member.graph, *own->run, {});
    member.predicted = at(prediction.predicted_class());
    for (const float p : prediction.probability)
      if (!std::isfinite(p))
        throw_bad_input("the model's prediction for instance {} is not a number",
                        member.graph.instance.id);
    // The ranking objective reads the predicted class alone.
    if (options.objective == "ranking" || options.target == "soft") {
      member.p = prediction.probability;
      return;
    }
    member.p.assign(prediction.probability.size(), 0.0F);
    std::size_t wanted = member.predicted;
    if (options.target == "label") {
      wanted = at(model.dataset().y[at(member.graph.instance.id)]);
      if (wanted >= member.p.size())
        throw_bad_input("instance {} has label {}, but the model knows {} classes",
                        member.graph.instance.id, wanted, member.p.size());
    }
    member.p[wanted] = 1.0F;
  });

  std::vector<NodeId> row(at(model.dataset().graph.num_nodes()), kNoNode);
  for (const std::size_t i : wanted_members) {
    Member& member = population.members[i];
    for (const NodeId node : member.graph.nodes) {
      if (row[at(node)] == kNoNode) {
        row[at(node)] = static_cast<NodeId>(population.nodes.size());
        population.nodes.push_back(node);
      }
      member.rows.push_back(row[at(node)]);
    }
  }
  return population;
}

/// Z = GNNE(G_o, X), Eq. (7), of the nodes of the population.
void embed(const ExplainedModel& model, Embedding kind, Population& population) {
  population.z.resize(static_cast<Index>(population.nodes.size()), 0);
  if (model.gnn().task() == Task::graph) {  // each graph for itself: it stays in the cache
    const std::unique_ptr<GnnRun> run = model.gnn().new_run();
    for (const Member& member : population.members) {
      if (member.rows.empty()) continue;
      const Matrix<float>& z = run->embed(member.graph.input(), kind);
      if (population.z.cols() == 0) population.z.resize(population.z.rows(), z.cols());
      for (Index i = 0; i < z.rows(); ++i) population.z.row(member.rows[at(i)]) = z.row(i);
    }
  } else {
    const Matrix<float> z = model.embed(kind);
    population.z.resize(population.z.rows(), z.cols());
    for (std::size_t i = 0; i < population.nodes.size(); ++i)
      population.z.row(static_cast<Index>(i)) = z.row(population.nodes[i]);
  }
  if (!population.z.allFinite()) throw_bad_input("the model's node embeddings are not all numbers");
}

/// What the checked instances say about a fit.
struct Check {
  double gap = 0;          ///< FitReport::keep_remove_gap, as a sum over instances
  double negated_gap = 0;  ///< the same of the opposite ranking
  std::int64_t edges = 0;
  std::int64_t saturated = 0;   ///< edges whose float sigmoid is exactly 0 or 1
  std::int64_t told_apart = 0;  ///< instances whose scores are not all the same
};

/// One run of Algorithm 1 or 2 from one start.
class Fit {
 public:
  Fit(const ExplainedModel& model, const PGExplainerOptions& options, std::uint64_t seed,
      const EdgeScorer<float>& scorer, const Population& population,
      std::span<const std::size_t> train, std::span<const std::size_t> check,
      const Workers& workers)
      : options_(options),
        weights_(paper_weights(options)),
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
        throw_failed("the objective is no longer a number after epoch {}; lower --learning-rate",
                     epoch + 1);
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

  /// How the scores do on the checked instances.
  Check check() {
    const Pieces pieces(check_.size());
    std::vector<Check> parts(pieces.count);
    run_pieces(check_, pieces,
               [&](std::size_t piece, const Member& member, const Edges& edges, Worker& worker) {
                 add_check(member, edges, worker, parts[piece]);
               });
    ranks_.share(std::span(parts), pieces.count);
    Check all;
    for (const Check& part : parts) {
      all.gap += part.gap;
      all.negated_gap += part.negated_gap;
      all.edges += part.edges;
      all.saturated += part.saturated;
      all.told_apart += part.told_apart;
    }
    return all;
  }

 private:
  static constexpr std::uint32_t kCheckEpoch = 0xFFFFFFFFU;

  using Edges = EdgeScorer<float>::Edges;

  /// Projects the nodes of each piece of this rank, then calls body(piece, member, edges, worker)
  /// for its members in turn, and after the last one finish(piece, worker).
  template <class Body, class Finish>
  void run_pieces(std::span<const std::size_t> list, const Pieces& pieces, Body&& body,
                  Finish&& finish) {
    scorer_.transpose_first_weight(theta_.data(), weight_);
    ranks_.run(pieces.count, [&](std::size_t piece, int thread) {
      Worker& worker = workers_[at(thread)];
      std::vector<const Member*> members;
      for (std::size_t i = pieces.begin(piece); i < pieces.end(piece); ++i)
        members.push_back(&population_.members[list[i]]);
      worker.gather(population_.z, members);
      scorer_.project(weight_, worker.z, worker.projections);
      worker.dprojections.setZero(worker.projections.rows(), worker.projections.cols());
      std::span<const NodeId> rows = worker.member_rows;
      for (const Member* member : members) {
        const InstanceGraph& graph = member->graph;
        body(piece, *member,
             Edges{graph.source, graph.target, graph.targets, rows.first(member->rows.size())},
             worker);
        rows = rows.subspan(member->rows.size());
      }
      finish(piece, worker);
    });
  }
  template <class Body>
  void run_pieces(std::span<const std::size_t> list, const Pieces& pieces, Body&& body) {
    run_pieces(list, pieces, body, [](std::size_t, Worker&) {});
  }

  std::span<const float> omega_of(const Edges& edges, Worker& worker) const {
    return scorer_.forward(theta_.data(), weight_, worker.z, worker.projections, edges,
                           worker.scorer);
  }

  void add_check(const Member& member, const Edges& edges, Worker& worker, Check& sum) const {
    if (member.pairs.count() == 0) return;
    const auto omega = omega_of(edges, worker);
    std::vector<float> of_pair, of_edge;
    member.pairs.mean<float>(omega, of_pair);
    member.pairs.spread<float>(of_pair, of_edge);
    const auto [low, high] = std::minmax_element(of_pair.begin(), of_pair.end());
    if (*high - *low > 1e-6F * std::max(1.0F, std::abs(*high))) ++sum.told_apart;
    for (const float w : of_edge) {
      ++sum.edges;
      if (const float s = sigmoid(w); s == 0.0F || s == 1.0F) ++sum.saturated;
    }
    sum.gap += keep_remove_gap(member, of_pair, *worker.run);
    for (float& w : of_pair) w = -w;
    sum.negated_gap += keep_remove_gap(member, of_pair, *worker.run);
  }

  /// How much more of P_c survives when the best-ranked edges are kept than when they are removed,
  /// mean over several shares; needs no ground truth.
  static double keep_remove_gap(const Member& member, const std::vector<float>& of_pair,
                                GnnRun& run) {
    constexpr std::array<double, 5> kShares{0.1, 0.3, 0.5, 0.7, 0.9};
    std::vector<std::size_t> order(of_pair.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return of_pair[a] > of_pair[b]; });
    std::vector<float> mask;
    double gap = 0;
    for (const double share : kShares) {
      const auto kept =
          static_cast<std::size_t>(std::lround(share * static_cast<double>(order.size())));
      std::vector<float> chosen(order.size(), 0.0F);
      for (std::size_t k = 0; k < kept; ++k) chosen[order[k]] = 1.0F;
      member.pairs.spread<float>(chosen, mask);
      const float with = predict(member.graph, run, mask).probability[member.predicted];
      for (float& m : mask) m = 1.0F - m;
      const float without = predict(member.graph, run, mask).probability[member.predicted];
      gap += static_cast<double>(with - without) / static_cast<double>(kShares.size());
    }
    return gap;
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
      adam_step<float>({options_.learning_rate}, gradient, {}, adam_, theta_);
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
    dtheta_.assign(pieces.count * width, 0.0F);
    const float scale =
        options_.reduction == "sum" ? 1.0F : 1.0F / static_cast<float>(batch.size());
    const auto dtheta = [&](std::size_t piece) {
      return gradient ? dtheta_.data() + piece * width : nullptr;
    };
    run_pieces(
        batch, pieces,
        [&](std::size_t piece, const Member& member, const Edges& edges, Worker& worker) {
          loss_[piece] +=
              instance_loss(member, edges, noise_epoch, tau_epoch, scale, worker, dtheta(piece));
        },
        [&](std::size_t piece, Worker& worker) {
          if (gradient) scorer_.project_backward(worker.z, worker.dprojections, dtheta(piece));
        });
    ranks_.share(std::span(loss_), pieces.count);
    ranks_.share(std::span(dtheta_), pieces.count);
    const double loss = std::accumulate(loss_.begin(), loss_.end(), 0.0);
    if (gradient) {
      std::fill(gradient->begin(), gradient->end(), 0.0F);
      for (std::size_t piece = 0; piece < pieces.count; ++piece)
        for (std::size_t k = 0; k < width; ++k) (*gradient)[k] += dtheta_[piece * width + k];
    }
    return loss / (static_cast<double>(scale) * static_cast<double>(batch.size()));
  }

  /// One instance, K samples: Algorithm 1, lines 9-13.
  double instance_loss(const Member& member, const Edges& edges, std::uint32_t noise_epoch,
                       std::int64_t tau_epoch, float scale, Worker& worker, float* dtheta) const {
    if (member.graph.num_edges() == 0) return 0;
    const std::span<const float> omega = omega_of(edges, worker);
    worker.domega.assign(omega.size(), 0.0F);
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
        const double share = options_.share_min *
                             std::pow(options_.share_max / options_.share_min, random.uniform());
        draw_noise(random, at(member.pairs.count()), 0.0, worker.noise);
        loss += ranking_loss<float>(member.pairs, omega, worker.noise, tau(tau_epoch), share,
                                    member.predicted, sample_scale, network, worker.domega);
      } else {
        draw_noise(random, omega.size(), options_.sample_bias, worker.noise);
        loss += paper_loss<float>(
            weights_, {member.graph.source, member.graph.num_nodes(), &member.pairs, member.p},
            omega, worker.noise, static_cast<float>(tau(tau_epoch)), sample_scale, network,
            worker.domega);
      }
    }
    if (!dtheta) return loss;
    scorer_.backward(theta_.data(), worker.z, worker.projections, edges, worker.domega,
                     worker.scorer, dtheta, worker.dprojections);
    return loss;
  }

  /// Different for every instance of a population.
  static std::uint32_t noise_key(const Instance& instance) {
    return static_cast<std::uint32_t>(instance.id) +
           0x9E3779B1U * static_cast<std::uint32_t>(instance.second + 1);
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
};

Embedding parse_embedding(const std::string& word) {
  return word == "last-layer"         ? Embedding::last_layer
         : word == "last-convolution" ? Embedding::last_convolution
                                      : Embedding::classifier_input;
}

/// What a user should know before trusting the scores.
std::vector<std::string> score_warnings(const Check& check) {
  std::vector<std::string> warnings;
  if (check.told_apart == 0)
    warnings.emplace_back(
        "all edges of an instance have the same score: the explanation network has learnt "
        "nothing; try more --epochs, a higher --learning-rate or a lower --size");
  else if (check.gap < check.negated_gap)
    warnings.emplace_back(
        "on held-out instances the lowest-ranked edges preserve the prediction better than the "
        "highest-ranked ones; the ranking may be upside down");
  const double share = static_cast<double>(check.saturated) /
                       static_cast<double>(std::max<std::int64_t>(check.edges, 1));
  if (share > 0.5)
    warnings.push_back(
        fmt::format("the masks of {:.0f} % of the edges are exactly 0 or 1, so only omega can rank "
                    "them; for softer masks lower --learning-rate or --epochs",
                    100.0 * share));
  return warnings;
}

}  // namespace

PGExplainer::PGExplainer(PGExplainerOptions options, std::uint64_t seed)
    : options_(std::move(options)), seed_(seed) {
  check_options(options_);
}

PGExplainer::PGExplainer(PGExplainerOptions options, std::uint64_t seed, Fitted fitted)
    : PGExplainer(std::move(options), seed) {
  fitted_ = std::move(fitted);
  scorer_.emplace(fitted_->embedding_width, fitted_->num_targets, options_.hidden);
  if (scorer_->layout().size() != fitted_->theta.size())
    throw_bad_input("the explanation network has {} parameters, its description asks for {}",
                    fitted_->theta.size(), scorer_->layout().size());
  scorer_->transpose_first_weight(fitted_->theta.data(), weight_);
}

const PGExplainer::Fitted& PGExplainer::fitted() const {
  if (!fitted_) throw_bad_input("the explainer has not been fitted; call fit() first");
  return *fitted_;
}

Support PGExplainer::supports(const ExplainedModel& model) const {
  if (options_.objective == "paper" && options_.target == "label" && model.dataset().y.empty())
    return {"--target label needs labels, and the data has none; use --target soft"};
  if (fitted_ && (fitted_->num_targets == 0) != (model.gnn().task() == Task::graph))
    return {fmt::format("the explainer was fitted for {}, the model classifies {}",
                        fitted_->num_targets == 0 ? "graphs" : "nodes",
                        model.gnn().task() == Task::graph ? "graphs" : "nodes")};
  return {};
}

FitReport PGExplainer::fit(const ExplainedModel& model, std::span<const Instance> instances,
                           const Workers& workers, const Progress& progress) {
  if (const Support support = supports(model); !support) throw_bad_input("{}", support.reason);
  if (instances.empty()) throw_bad_input("there are no instances to fit the explainer on");
  const int num_targets = instances.front().is_link()         ? 2
                          : model.gnn().task() == Task::graph ? 0
                                                              : 1;
  for (const Instance& instance : instances)
    if (instance.is_link() != (num_targets == 2))
      throw_bad_input("links and nodes cannot be explained by one explanation network");
  if (num_targets == 2 && options_.objective == "paper" && options_.target == "label")
    throw_bad_input(
        "--target label needs a label per link, and the data labels nodes; use --target "
        "soft");
  // Some instances only check the fit. One or two could not: then the same ones do both.
  std::vector<std::size_t> train(instances.size());
  std::iota(train.begin(), train.end(), 0U);
  std::vector<std::size_t> check = train;
  const auto held_out = static_cast<std::size_t>(
      std::lround(options_.holdout * static_cast<double>(instances.size())));
  if (held_out >= 3) {
    RandomStream(seed_, RandomPurpose::split).shuffle(check);
    train.assign(check.begin() + static_cast<std::ptrdiff_t>(held_out), check.end());
    check.resize(held_out);
    std::sort(train.begin(), train.end());
    std::sort(check.begin(), check.end());
  }

  const std::vector<std::size_t> own =
      own_members(options_, workers, instances.size(), train, check);
  Population population = gather(model, instances, own, options_, workers.pool);
  EdgeId num_edges = 0;
  for (const Member& member : population.members) num_edges += member.graph.num_edges();
  if (workers.all_say(num_edges == 0))
    throw_bad_input("none of the {} instances has an edge in reach; there is nothing to explain",
                    instances.size());

  // Which embedding serves best depends on the network; held-out instances decide.
  std::vector<std::string> embeddings{options_.embedding};
  if (options_.embedding == "auto") embeddings = {"classifier-input", "last-convolution"};
  FitReport report;
  report.keep_remove_gap = -std::numeric_limits<double>::infinity();
  bool finished = true;
  for (std::size_t kind = 0; finished && kind < embeddings.size(); ++kind) {
    embed(model, parse_embedding(embeddings[kind]), population);
    const EdgeScorer<float> scorer(population.z.cols(), num_targets, options_.hidden);
    for (std::int64_t attempt = 0; attempt <= options_.restarts; ++attempt) {
      const std::uint64_t seed = seed_ + static_cast<std::uint64_t>(attempt) * 0x9E3779B97F4A7C15U;
      Fit fit(model, options_, seed, scorer, population, train, check, workers);
      finished = fit.run(progress);
      const Check checked = fit.check();
      const double gap = checked.gap / static_cast<double>(check.size());
      const bool sound = checked.told_apart > 0 && checked.gap >= checked.negated_gap;
      report.restarts += attempt > 0 ? 1 : 0;
      if (gap > report.keep_remove_gap) {
        fitted_ = Fitted{population.z.cols(), num_targets, embeddings[kind], fit.theta(), {}};
        report.keep_remove_gap = gap;
        report.loss = fit.history();
        report.warnings = score_warnings(checked);
      }
      if (!finished) report.warnings.emplace_back("stopped before the last epoch");
      if (!finished || sound) break;
    }
  }
  if (options_.features) {
    std::vector<const InstanceGraph*> graphs;
    std::vector<std::size_t> predicted;
    for (const Member& member : population.members) {
      graphs.push_back(&member.graph);
      predicted.push_back(member.predicted);
    }
    fitted_->feature_logits =
        fit_feature_mask(model.gnn(), graphs, predicted, {}, seed_, workers.pool);
  }
  scorer_.emplace(fitted_->embedding_width, num_targets, options_.hidden);
  scorer_->transpose_first_weight(fitted_->theta.data(), weight_);
  return report;
}

void PGExplainer::prepare(const ExplainedModel& model, std::span<const Instance> instances) {
  if (const std::size_t features = fitted().feature_logits.size();
      features > 0 && features != at(model.gnn().num_features()))
    throw_bad_input(
        "the explainer scores {} features, the model reads {}; was it fitted to another "
        "model?",
        features, model.gnn().num_features());
  z_.resize(0, 0);
  projections_.resize(0, 0);
  model_ = &model;
  constexpr std::size_t kFew = 32;
  if (model.gnn().task() == Task::graph) return;  // score() embeds each graph for itself
  const auto is_local = [&](const Instance& instance) { return model.is_local(instance); };
  if (instances.size() < kFew && std::all_of(instances.begin(), instances.end(), is_local)) return;
  z_ = model.embed(parse_embedding(fitted().embedding));
  check_width(z_);
  // Worth it when nodes are met more than once, and if it leaves room for the rest.
  const auto memory = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                      static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t bytes = at(z_.rows()) * at(2 * scorer_->hidden_width()) * sizeof(float);
  if (instances.size() < kFew || instances.size() * kFew < at(z_.rows()) || bytes > memory / 4)
    return;
  projections_.resize(z_.rows(), 2 * scorer_->hidden_width());
  advise_huge_pages(projections_.data(), bytes);
  scorer_->project(weight_, z_, projections_);
}

void PGExplainer::check_width(const Matrix<float>& z) const {
  if (z.cols() != fitted().embedding_width)
    throw_bad_input(
        "the explainer reads embeddings of width {}, the model gives {}; was it fitted "
        "to another model?",
        fitted().embedding_width, z.cols());
}

Scores PGExplainer::score(const InstanceGraph& instance, GnnRun& run) const {
  if (static_cast<int>(instance.targets.size()) != fitted().num_targets)
    throw_bad_input("the explainer was fitted for {} explained nodes per instance, not {}",
                    fitted().num_targets, instance.targets.size());
  // Kept between calls: at a few microseconds per instance, fetching memory would show.
  thread_local EdgeScorer<float>::Workspace workspace;
  thread_local Matrix<float> local_z, local_projections;
  EdgeScorer<float>::Edges edges{instance.source, instance.target, instance.targets, {}};
  const auto omega_of = [&](const Matrix<float>& z, const Matrix<float>& projections) {
    return scorer_->forward(fitted().theta.data(), weight_, z, projections, edges, workspace);
  };
  std::span<const float> omega;
  if (projections_.size() > 0) {
    edges.row = instance.nodes;
    omega = omega_of(z_, projections_);
  } else {
    const Matrix<float>* z = &local_z;
    const Embedding kind = parse_embedding(fitted().embedding);
    if (z_.size() > 0) {
      local_z.resize(instance.num_nodes(), z_.cols());
      for (Index i = 0; i < local_z.rows(); ++i) local_z.row(i) = z_.row(instance.nodes[at(i)]);
    } else {
      z = fitted().num_targets == 0 ? &run.embed(instance.input(), kind)
                                    : &model_->embed_around(instance.instance, kind, run);
      check_width(*z);
    }
    scorer_->project(weight_, *z, local_projections);
    omega = omega_of(*z, local_projections);
  }
  Scores scores{{omega.begin(), omega.end()}, fitted().feature_logits};
  if (options_.score == "sigmoid")
    for (float& value : scores.edge) value = sigmoid(value);
  return scores;
}

}  // namespace pgexplainer
