#include "pgexplainer/explain/pg_explainer.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/huge_pages.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/core/random.h"
#include "pgexplainer/explain/explainer_fit.h"
#include "pgexplainer/explain/feature_mask.h"
#include "pgexplainer/explain/gradient_saliency.h"
#include "pgexplainer/explain/least_change.h"
#include "pgexplainer/explain/node_gradient.h"
#include "pgexplainer/explain/order_fit.h"
#include "pgexplainer/explain/refinement.h"
#include "pgexplainer/explain/rival_order.h"
#include "pgexplainer/nn/layer.h"
#include "pgexplainer/nn/strip.h"
#include "pgexplainer/nn/vector_math.h"

namespace pgexplainer {
namespace {

Embedding embedding_of(const PGExplainerOptions& options) {
  return parse_embedding("option embedding", options.embedding);
}

/// What a user should know before trusting the scores.
std::vector<std::string> score_warnings(const FitCheck& check) {
  std::vector<std::string> warnings;
  if (check.told_apart == 0)
    warnings.emplace_back(
        "all edges of an instance have the same score: the explanation network has learnt "
        "nothing; try more --epochs, a higher --lr or a lower --size");
  const double share = static_cast<double>(check.saturated) /
                       static_cast<double>(std::max<std::int64_t>(check.edges, 1));
  if (share > 0.5)
    warnings.push_back(
        fmt::format("the masks of {:.0f} % of the edges are exactly 0 or 1, so only omega can rank "
                    "them; for softer masks lower --lr or --epochs",
                    100.0 * share));
  return warnings;
}

/// At most this many held-out instances are judged, evenly chosen.
std::vector<Instance> judged_instances(std::span<const Instance> instances,
                                       std::span<const std::size_t> held_out) {
  constexpr std::size_t kMost = 1000;
  std::vector<Instance> judged;
  const std::size_t count = std::min(kMost, held_out.size());
  for (std::size_t i = 0; i < count; ++i)
    judged.push_back(instances[held_out[i * held_out.size() / count]]);
  return judged;
}

}  // namespace

PGExplainer::PGExplainer(PGExplainerOptions options, std::uint64_t seed)
    : options_(std::move(options)), seed_(seed) {
  check_options(options_);
}

PGExplainer::PGExplainer(PGExplainerOptions options, std::uint64_t seed, Fitted fitted)
    : PGExplainer(std::move(options), seed) {
  fitted_ = std::move(fitted);
  use_fitted();
}

void PGExplainer::use_fitted() {
  scorer_.emplace(fitted_->embedding_width, fitted_->num_targets, options_.hidden);
  if (scorer_->layout().size() != fitted_->theta.size())
    throw_bad_input("the explanation network has {} parameters, its description asks for {}",
                    fitted_->theta.size(), scorer_->layout().size());
  scorer_->transpose_first_weight(fitted_->theta.data(), weight_);
  order_.reset();
  if (!fitted_->order.empty())
    order_.emplace(fitted_->embedding_width, fitted_->num_targets, fitted_->num_levels,
                   fitted_->order);
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

  const bool ranking = options_.objective == "ranking";
  const bool orders = ranking && (options_.order_epochs > 0 || options_.refine < 0);
  std::vector<std::size_t> lessons;
  if (orders) lessons = choose_lessons(train);
  const std::vector<std::size_t> own = own_members(options_, workers, instances.size(),
                                                   {{train, Pieces(train.size())},
                                                    {check, Pieces(check.size())},
                                                    {lessons, pieces_of_lessons(lessons.size())}});
  Population population = gather_population(model, instances, own, options_, workers.pool);
  EdgeId num_edges = 0;
  for (const Member& member : population.members) num_edges += member.graph.num_edges();
  if (workers.all_say(num_edges == 0))
    throw_bad_input("none of the {} instances has an edge in reach; there is nothing to explain",
                    instances.size());

  embed(model, embedding_of(options_), population, workers.pool);
  const EdgeScorer<float> scorer(population.z.cols(), num_targets, options_.hidden);
  // The scores should be as faithful as gradients, a small part of P_c aside; else the most
  // faithful stay. Graphs in company go on with whole edges until they are; all others take as
  // little necessity as it needs.
  constexpr double kHardlyLess = 0.02;
  const bool sharpens = ranking && options_.sharpen > 0 && !population.company.graphs.empty();
  const std::span<const double> weights =
      std::span(options_.necessity).first(ranking && !sharpens ? options_.necessity.size() : 1);
  const auto effect_on_all = [&](const Explainer& method) {
    KeepRemove effect = effect_of(method, model.gnn(), population, train, workers);
    effect += effect_of(method, model.gnn(), population, check, workers);
    return effect.small_gap();
  };
  double wanted = std::numeric_limits<double>::infinity();
  if (sharpens || weights.size() > 1)
    wanted = std::max(effect_on_all(NodeGradient({})), effect_on_all(GradientSaliency({}))) -
             kHardlyLess * static_cast<double>(train.size() + check.size());
  FitReport report;
  report.held_out = held_out >= 3;
  double best = -std::numeric_limits<double>::infinity();
  bool finished = true, sound = false;
  for (std::int64_t attempt = 0; finished && !sound && attempt <= options_.restarts; ++attempt) {
    const std::uint64_t seed = seed_ + static_cast<std::uint64_t>(attempt) * 0x9E3779B97F4A7C15U;
    report.restarts += attempt > 0 ? 1 : 0;
    for (std::size_t k = 0; finished && k < weights.size(); ++k) {
      if (sound && best >= wanted) break;
      const auto steps = [&](std::int64_t done, std::int64_t epochs, std::string_view message) {
        const auto tried = static_cast<std::int64_t>(k);
        return progress(tried * epochs + done, static_cast<std::int64_t>(weights.size()) * epochs,
                        message);
      };
      const ExplainerFit fit =
          fit_explainer(model, options_, weights[k], wanted, seed, scorer, population, train, check,
                        workers, progress ? Progress(steps) : Progress());
      finished = fit.finished;
      if (fit.gap() <= best) continue;
      best = fit.gap();
      sound = fit.held_out.told_apart > 0 && fit.held_out.effect.gap() >= 0;
      fitted_ = Fitted{population.z.cols(), num_targets, fit.theta, {}};
      report.necessity = weights[k];
      report.sharpened = fit.sharpened;
      report.loss = fit.loss;
      report.warnings = score_warnings(fit.held_out);
    }
  }
  if (finished && orders) {
    OrderFit order = fit_order(model, options_.order_epochs, seed_, scorer, fitted_->theta,
                               population, lessons, workers, progress);
    finished = order.finished;
    fitted_->order = std::move(order.theta);
    fitted_->num_levels = OrderNetwork::levels_of(model.gnn());
    fitted_->refine = order.steps;
    fitted_->rival_lead = order.rival_lead;
  }
  report.refine = refine_steps();
  report.rival_lead = rival_lead();
  if (!finished) report.warnings.emplace_back("stopped before the last epoch");
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
  use_fitted();
  if (options_.verdict && finished) {
    const std::vector<Instance> judged = judged_instances(instances, check);
    report.verdict =
        judge(model, *this, judged, explain(model, *this, judged, {}, workers.pool), workers.pool);
  }
  return report;
}

void PGExplainer::set_refine(std::int64_t steps) {
  options_.refine = steps;
  check_options(options_);
}

std::int64_t PGExplainer::refine_steps() const {
  return options_.refine < 0 ? fitted().refine : options_.refine;
}

std::optional<double> PGExplainer::rival_lead() const {
  return options_.refine < 0 ? fitted().rival_lead : std::nullopt;
}

bool PGExplainer::orders_instances() const { return order_ || refine_steps() > 0 || rival_lead(); }

std::unique_ptr<Explainer> PGExplainer::in_common_order() const {
  if (!orders_instances()) return nullptr;
  PGExplainerOptions options = options_;
  options.refine = 0;
  Fitted network = fitted();
  network.order.clear();
  return std::make_unique<PGExplainer>(std::move(options), seed_, std::move(network));
}

bool PGExplainer::reads_structure_alone() const {
  return fitted().num_targets > 0 && !orders_instances();
}

void PGExplainer::prepare(const ExplainedModel& model, std::span<const Instance> instances,
                          ThreadPool& pool) {
  if (const std::size_t features = fitted().feature_logits.size();
      features > 0 && features != at(model.gnn().num_features()))
    throw_bad_input(
        "the explainer scores {} features, the model reads {}; was it fitted to another "
        "model?",
        features, model.gnn().num_features());
  if (order_ && fitted().num_levels != OrderNetwork::levels_of(model.gnn()))
    throw_bad_input(
        "the explainer was fitted to a model whose nodes reach {} hops, this one's reach {}; was "
        "it "
        "fitted to another model?",
        fitted().num_levels - 1, model.gnn().num_hops());
  z_.resize(0, 0);
  projections_.resize(0, 0);
  order_projections_.resize(0, 0);
  model_ = &model;
  constexpr std::size_t kFew = 32;
  if (model.gnn().task() == Task::graph) return;  // score() embeds each graph for itself
  embeds_around_ = false;
  // One instance of a small graph: score() embeds what it reads, without asking how far it reaches.
  if (instances.size() == 1 && model.dataset().graph.num_nodes() <= kRowsPerBlock) return;
  const auto is_local = [&](const Instance& instance) { return model.is_local(instance); };
  embeds_around_ =
      instances.size() < kFew && std::all_of(instances.begin(), instances.end(), is_local);
  if (embeds_around_) return;
  z_ = model.embed(embedding_of(options_), &pool);
  check_width(z_);
  // Worth it when nodes are met more than once, and if it leaves room for the rest.
  if (instances.size() < kFew || instances.size() * kFew < at(z_.rows())) return;
  const auto memory = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                      static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto bytes = [&](const EdgeScorer<float>& scorer) {
    return at(z_.rows()) * at(2 * scorer.hidden_width()) * sizeof(float);
  };
  if (bytes(*scorer_) + (order_ ? bytes(order_->scorer()) : 0) > memory / 3) return;
  const auto project = [&](const EdgeScorer<float>& scorer, const Matrix<float>& weight,
                           Matrix<float>& projections) {
    projections.resize(z_.rows(), 2 * scorer.hidden_width());
    advise_huge_pages(projections.data(), bytes(scorer));
    scorer.project(weight, z_, projections, &pool);
  };
  project(*scorer_, weight_, projections_);
  if (order_) project(order_->scorer(), order_->weight(), order_projections_);
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
  thread_local Matrix<float> local_z, local_projections, local_order_projections;
  const Matrix<float>*z = &z_, *projections = &projections_, *order = &order_projections_;
  EdgeScorer<float>::Edges edges{instance.source, instance.target, instance.targets, {}};
  if (projections_.size() > 0) {
    edges.row = instance.nodes;
  } else {
    z = &local_z;
    projections = &local_projections;
    order = &local_order_projections;
    const Embedding kind = embedding_of(options_);
    if (z_.size() > 0) {
      gather_rows<float>(z_, instance.nodes, local_z);
    } else {
      if (fitted().num_targets == 0)
        z = &run.embed(instance.input(), kind);
      else if (embeds_around_)
        z = &model_->embed_around(instance.instance, kind, run);
      else
        local_z = model_->embed_rows(kind, instance.nodes);
      check_width(*z);
    }
    scorer_->project(weight_, *z, local_projections);
    if (order_) order_->scorer().project(order_->weight(), *z, local_order_projections);
  }
  const std::span<const float> omega =
      scorer_->forward(fitted().theta.data(), weight_, *z, *projections, edges, workspace);
  Scores scores{{omega.begin(), omega.end()}, fitted().feature_logits};
  put_in_order(instance, *z, *order, edges.row, run, scores.edge);
  if (options_.score == "sigmoid")
    for_each_lanes<float>(scores.edge.size(), [&](std::size_t e, auto n) {
      store_lanes(logistic_of(load_lanes(scores.edge.data() + e, n)), scores.edge.data() + e, n);
    });
  return scores;
}

void PGExplainer::put_in_order(const InstanceGraph& instance, const Matrix<float>& z,
                               const Matrix<float>& order_projections, std::span<const NodeId> row,
                               GnnRun& run, std::vector<float>& score) const {
  if (!orders_instances()) return;
  const EdgePairs pairs(instance.reverse);
  std::vector<float> of_pair;
  pairs.mean<float>(score, of_pair);
  const std::vector<float> common = places_of(of_pair);
  std::vector<float> place = common;
  if (order_) {
    thread_local OrderNetwork::Workspace workspace;
    thread_local std::vector<float> delta;
    order_->forward(instance, pairs, z, order_projections, row, workspace, delta);
    for (std::size_t k = 0; k < place.size(); ++k) place[k] += delta[k];
  }
  refine_order(instance, pairs, run, refine_steps(), place);
  if (const auto lead = rival_lead())
    place = give_way(instance, pairs, run, *lead, std::move(place));
  // The order network alone is for millions: what it says is taken as it is.
  if (refine_steps() > 0 || rival_lead())
    place = least_change(instance, pairs, run, common, std::move(place));
  pairs.spread<float>(in_order_of(place, std::move(of_pair)), score);
}

}  // namespace pgexplainer
