#include "pgexplainer/explain/verdict.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <numeric>

#include "pgexplainer/core/error.h"
#include "pgexplainer/explain/explainer.h"
#include "pgexplainer/explain/gradient_saliency.h"
#include "pgexplainer/explain/node_gradient.h"
#include "pgexplainer/explain/random_scores.h"

namespace pgexplainer {
namespace {

// A ranking that does not beat its opposite by this much, or has a lower score of its tail, has in
// our measurements seldom found what matters.
constexpr double kLeastGap = 0.05, kLeastTailScore = 0.25;

constexpr std::size_t kAllButTail = 17;  // the size of 90 %
static_assert(KeepRemove::share(kAllButTail) > 0.89 && KeepRemove::share(kAllButTail) < 0.91);

enum Ranking : std::size_t { kOwn, kCommon, kRandom, kDegree, kGradient, kGrad, kRankings };
constexpr std::array<const char*, kRankings> kNames{"explanation", "common order", "random",
                                                    "degree",      "gradient",     "grad"};

/// Edges between nodes of many edges first.
std::vector<float> degree_scores(const InstanceGraph& graph) {
  std::vector<float> degree(at(graph.num_nodes()), 0.0F), score;
  for (const NodeId node : graph.target) degree[at(node)] += 1.0F;
  for (std::size_t e = 0; e < graph.source.size(); ++e)
    score.push_back(degree[at(graph.source[e])] + degree[at(graph.target[e])]);
  return score;
}

struct Judged {
  std::array<KeepRemove, kRankings> effect;
  bool has_edges = false, without_edges = false;
  double set_apart = 0;
  std::int64_t predicted = 0;
  double probability = 0;  // of the predicted class, with all edges
};

/// Few edges that hold and break many predictions.
std::size_t telling_size(const KeepRemove& effect, double instances) {
  std::size_t best = 0;
  double most = -1;
  for (std::size_t i = 0; i < KeepRemove::kSizes; ++i) {
    const double told = (effect.held[i] + effect.broken[i]) / instances - KeepRemove::share(i);
    if (told > most) {
      most = told;
      best = i;
    }
  }
  return best;
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100.0 * share); }

/// How many predictions the explanations decide, one way or the other.
double told(const RankingEffect& effect) { return effect.held + effect.broken; }

std::vector<std::string> reasons_of(const Verdict& v) {
  if (v.instances == 0) return {"no judged instance has an edge"};
  std::vector<std::string> reasons;
  if (v.common.gap < kLeastGap)
    reasons.emplace_back(
        v.common.gap < -kLeastGap
            ? "the lowest-ranked edges keep the prediction better than the highest-ranked ones"
            : "the highest-ranked edges keep the prediction hardly better than the lowest-ranked "
              "ones");
  else if (v.tail_score() < kLeastTailScore)
    reasons.push_back(fmt::format(
        "the last tenth of the ranking matters, too: without it the predicted class loses {} of "
        "probability, and the scores set {} of the edges apart",
        percent(v.common.tail_loss), percent(v.set_apart)));
  for (const RankingEffect& other : v.others)
    if (other.ranking == kNames[kRandom] && told(v.own) < told(other) + kLeastGap)
      reasons.emplace_back("random edges do as well at this size");
  return reasons;
}

/// The other ranking that decides clearly more predictions at this size, if there is one.
std::string better_ranking(const Verdict& v) {
  const auto best = std::max_element(
      v.others.begin(), v.others.end(),
      [](const RankingEffect& a, const RankingEffect& b) { return told(a) < told(b); });
  return best != v.others.end() && told(*best) > told(v.own) + kLeastGap ? best->ranking : "";
}

}  // namespace

double share_set_apart(std::vector<float> scores) {
  std::sort(scores.begin(), scores.end(), std::greater<>());
  const auto n = static_cast<double>(scores.size());
  const double mean = std::accumulate(scores.begin(), scores.end(), 0.0) / n;
  double above = 0, most = 0, share = 1;  // the sum of the upper group
  for (std::size_t k = 1; k < scores.size(); ++k) {
    above += static_cast<double>(scores[k - 1]) - mean;
    const auto count = static_cast<double>(k);
    const double between = above * above * n / (count * (n - count));
    if (between > most) {
      most = between;
      share = count / n;
    }
  }
  return share;
}

Verdict judge(const ExplainedModel& model, std::span<const Explanation> explanations,
              ThreadPool& pool, std::span<const Explanation> in_common_order) {
  const RandomScores random(0);
  const NodeGradient gradient({});
  const GradientSaliency grad({});
  struct Worker {
    InstanceCutter cutter;
    std::unique_ptr<GnnRun> run;
    InstanceGraph graph;
  };
  std::vector<std::unique_ptr<Worker>> workers(at(pool.size()));
  std::vector<Judged> judged(explanations.size());
  pool.run(static_cast<std::int64_t>(explanations.size()), [&](std::int64_t i, int thread) {
    auto& own = workers[at(thread)];
    if (!own) own.reset(new Worker{model.new_cutter(), model.gnn().new_run(), {}});
    const Explanation& explanation = explanations[at(i)];
    InstanceGraph& graph = own->graph;
    own->cutter.cut(explanation.instance, graph);
    const Explanation& common = in_common_order.empty() ? explanation : in_common_order[at(i)];
    if (graph.edges != explanation.edges || graph.edges != common.edges)
      throw_bad_input("the explanation of instance {} does not score every edge; judge needs all",
                      explanation.instance.id);
    Judged& result = judged[at(i)];
    const EdgePairs pairs(graph.reverse);
    if (pairs.count() == 0) return;
    result.has_edges = true;
    const Prediction full = predict(graph, *own->run, {});
    result.predicted = full.predicted_class();
    result.probability = full.probability[at(result.predicted)];
    const std::vector<float> nothing(graph.edges.size(), 0.0F);
    result.without_edges = predict(graph, *own->run, nothing).predicted_class() == result.predicted;
    const std::array<std::vector<float>, kRankings> score{explanation.score,
                                                          common.score,
                                                          random.score(graph, *own->run).edge,
                                                          degree_scores(graph),
                                                          gradient.score(graph, *own->run).edge,
                                                          grad.score(graph, *own->run).edge};
    std::vector<float> of_pair;
    for (std::size_t r = 0; r < kRankings; ++r) {
      pairs.mean<float>(score[r], of_pair);
      if (r == kCommon) result.set_apart = share_set_apart(of_pair);
      result.effect[r] = keep_and_remove(graph, pairs, of_pair, at(result.predicted), *own->run);
    }
  });

  Verdict verdict;
  std::array<KeepRemove, kRankings> effect;
  double probability = 0;
  std::map<std::int64_t, std::array<std::int64_t, 2>> of_class;  // predicted, and without edges
  for (const Judged& one : judged) {
    if (!one.has_edges) continue;
    ++verdict.instances;
    for (std::size_t r = 0; r < kRankings; ++r) effect[r] += one.effect[r];
    probability += one.probability;
    verdict.set_apart += one.set_apart;
    ++of_class[one.predicted][0];
    if (one.without_edges) ++of_class[one.predicted][1];
  }
  const double n = std::max(1.0, static_cast<double>(verdict.instances));
  verdict.set_apart /= n;
  for (const auto& [label, counts] : of_class) {
    verdict.without_edges += static_cast<double>(counts[1]) / n;
    if (2 * counts[1] > counts[0]) verdict.classes_without_edges.push_back(label);
  }
  const std::size_t size = telling_size(effect[kOwn], n);
  verdict.size = KeepRemove::share(size);
  for (std::size_t r = 0; r < kRankings; ++r) {
    const RankingEffect one{kNames[r],
                            effect[r].held[size] / n,
                            effect[r].broken[size] / n,
                            effect[r].small_gap() / n,
                            effect[r].gap() / n,
                            (probability - effect[r].kept[kAllButTail]) / n};
    if (r == kOwn)
      verdict.own = one;
    else if (r == kCommon)
      verdict.common = one;
    else
      verdict.others.push_back(one);
  }
  verdict.reasons = reasons_of(verdict);
  verdict.reliable = verdict.reasons.empty();
  return verdict;
}

std::string in_words(const Verdict& v) {
  if (v.instances == 0) return "do not rely on this: no judged instance has an edge";
  std::string words = fmt::format("{} of the edges hold {} of predictions; without them {} break",
                                  percent(v.size), percent(v.own.held), percent(v.own.broken));
  for (const RankingEffect& other : v.others)
    if (other.ranking == "random" || other.ranking == "gradient")
      words += fmt::format("; {} edges: {} and {}", other.ranking, percent(other.held),
                           percent(other.broken));
  if (!v.classes_without_edges.empty())
    words += fmt::format(
        ". {} of predictions need no edge: the network gives class {} to a graph without edges, "
        "and its edges are ranked by what would change that",
        percent(v.without_edges), fmt::join(v.classes_without_edges, ", "));
  if (const std::string better = better_ranking(v); !better.empty())
    words += fmt::format(
        ". The ranking by {} does better at this size; --refine 50 orders each instance for itself",
        better);
  if (v.size > 0.7) words += ". No small part of the edges is enough";
  if (v.reliable) return words;
  return fmt::format(
      "do not rely on this: {} ({}). Try more instances or --epochs, another --necessity, or a "
      "method that explains each instance for itself, as --method occlusion",
      fmt::join(v.reasons, "; "), words);
}

nlohmann::ordered_json to_json(const Verdict& v) {
  const auto effect = [](const RankingEffect& e) {
    return nlohmann::ordered_json{{"held", e.held},
                                  {"broken", e.broken},
                                  {"small_gap", e.small_gap},
                                  {"gap", e.gap},
                                  {"tail_loss", e.tail_loss}};
  };
  nlohmann::ordered_json others = nlohmann::ordered_json::object();
  for (const RankingEffect& other : v.others) others[other.ranking] = effect(other);
  return {{"reliable", v.reliable},
          {"score", v.score()},
          {"words", in_words(v)},
          {"instances", v.instances},
          {"size", v.size},
          {"set_apart", v.set_apart},
          {"explanation", effect(v.own)},
          {"common_order", effect(v.common)},
          {"others", others},
          {"without_edges", v.without_edges},
          {"classes_without_edges", v.classes_without_edges},
          {"reasons", v.reasons}};
}

}  // namespace pgexplainer
