#include "pgexplainer/report/comparison.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/core/random.h"
#include "pgexplainer/explain/methods.h"
#include "pgexplainer/metrics/stability.h"
#include "pgexplainer/metrics/truth_first.h"

namespace pgexplainer {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool learns(const std::string& method) { return method == "pgexplainer"; }
bool draws_random_numbers(const std::string& method) {
  return learns(method) || method == "gnnexplainer" || method == "random";
}

/// Two halves of the instances, at random.
std::pair<std::vector<Instance>, std::vector<Instance>> halves(std::span<const Instance> instances,
                                                               std::uint64_t seed) {
  std::vector<Instance> all(instances.begin(), instances.end());
  RandomStream(seed, RandomPurpose::split, 1).shuffle(all);
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  return {{all.begin(), middle}, {middle, all.end()}};
}

/// Cutting and scoring on this thread, mean over as many instances as fit into a second.
double time_per_instance(const ExplainedModel& model, const Explainer& explainer,
                         std::span<const Instance> instances) {
  InstanceCutter cutter = model.new_cutter();
  InstanceGraph graph;
  const auto run = model.gnn().new_run();
  const auto once = [&](const Instance& instance) {
    cutter.cut(instance, graph);
    static_cast<void>(explainer.score(graph, *run));
  };
  once(instances.front());  // the first call makes room
  const auto start = Clock::now();
  std::int64_t count = 0;
  for (const Instance& instance : instances) {
    once(instance);
    ++count;
    if (seconds_since(start) > 1.0) break;
  }
  return 1000.0 * seconds_since(start) / static_cast<double>(count);
}

Json to_json(const Fidelity& fidelity) {
  return {{"plus", number_or_null(fidelity.plus)}, {"minus", number_or_null(fidelity.minus)}};
}

}  // namespace

double mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? std::numeric_limits<double>::quiet_NaN()
                        : sum / static_cast<double>(values.size());
}

double standard_deviation(std::span<const double> values) {
  const double middle = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - middle) * (value - middle);
  return values.empty() ? std::numeric_limits<double>::quiet_NaN()
                        : std::sqrt(sum / static_cast<double>(values.size()));
}

MethodResult run_method(const ComparedMethod& method, std::span<const Instance> instances,
                        const ComparisonOptions& options, ThreadPool& pool,
                        const Progress& progress) {
  if (instances.empty()) throw_bad_input("there are no instances to explain");
  const ExplainedModel& model = *method.model;
  const Dataset& dataset = model.dataset();
  MethodResult result;
  result.method = method.method;
  const std::int64_t seeds =
      method.fitted == nullptr && draws_random_numbers(method.method) ? options.seeds : 1;
  std::vector<std::vector<float>> scores_by_seed;
  const bool fits = method.fitted == nullptr && learns(method.method);
  const ExplainOptions explain_options{options.selection, true};
  for (std::int64_t s = 0; s < seeds; ++s) {
    const std::uint64_t seed = options.first_seed + static_cast<std::uint64_t>(s);
    std::unique_ptr<Explainer> made;
    if (!method.fitted) made = make_explainer(method.method, seed, method.options);
    Explainer& explainer = method.fitted ? *method.fitted : *made;
    if (const Support support = explainer.supports(model); !support)
      throw_bad_input("{} cannot explain this model: {}", method.method, support.reason);
    const auto start = Clock::now();
    if (fits) {
      const FitReport report = explainer.fit(model, instances, pool, {});
      for (const std::string& warning : report.warnings)
        result.warnings.push_back(fmt::format("seed {}: {}", seed, warning));
    }
    result.fit_seconds += seconds_since(start) / static_cast<double>(seeds);
    auto explanations = explain(model, explainer, instances, explain_options, pool);
    const GroundTruthAgreement agreement = compare_with_ground_truth(dataset, explanations);
    result.seeds.push_back(seed);
    result.pooled_auc.push_back(agreement.pooled_auc);
    result.per_instance_auc.push_back(agreement.per_instance_auc);
    result.own_motif_auc.push_back(agreement.own_motif_auc);
    std::vector<float>& all = scores_by_seed.emplace_back();
    for (const Explanation& explanation : explanations)
      all.insert(all.end(), explanation.score.begin(), explanation.score.end());
    if (options.held_out && instances.size() >= 4 && (fits || s == 0)) {
      // All methods are judged on the half that those who learn have not seen.
      const auto [one, other] = halves(instances, seed);
      std::unique_ptr<Explainer> half;
      if (fits) {
        half = make_explainer(method.method, seed, method.options);
        static_cast<void>(half->fit(model, one, pool, {}));
      }
      Explainer& judged = fits ? *half : explainer;
      const auto unseen = explain(model, judged, other, explain_options, pool);
      if (fits) {
        const GroundTruthAgreement held_out = compare_with_ground_truth(dataset, unseen);
        result.held_out_auc.push_back(held_out.pooled_auc);
        result.held_out_own_motif_auc.push_back(held_out.own_motif_auc);
      }
      if (s == 0 && options.faithfulness) {
        result.verdict = judge(model, judged, other, unseen, pool);
        result.truth_first_gap = truth_first_gap(model, unseen, pool);
      }
    }
    if (s == 0) {
      result.ground_truth = agreement;
      if (options.timing)
        result.milliseconds_per_instance = time_per_instance(model, explainer, instances);
      if (options.faithfulness) {
        result.faithfulness = measure_faithfulness(model, explanations, seed, pool);
        if (result.verdict.instances == 0) {
          result.verdict = judge(model, explainer, instances, explanations, pool);
          result.truth_first_gap = truth_first_gap(model, explanations, pool);
        }
      }
      result.explanations = std::move(explanations);
    }
    if (!report_progress(progress, s + 1, seeds, method.method))
      throw_failed("interrupted while judging {}", method.method);
  }
  const auto edges = static_cast<std::int64_t>(scores_by_seed.front().size());
  result.stability = stability(scores_by_seed, std::max<std::int64_t>(1, edges / 10)).spearman;
  return result;
}

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json to_json(const MethodResult& result) {
  const auto seeds_or_null = [](std::span<const double> values) {
    Json list = Json::array();
    for (const double value : values) list.push_back(number_or_null(value));
    return list;
  };
  Json auc = {{"pooled", number_or_null(mean(result.pooled_auc))},
              {"per_instance", number_or_null(mean(result.per_instance_auc))},
              {"own_motif", number_or_null(mean(result.own_motif_auc))},
              {"std", number_or_null(standard_deviation(result.pooled_auc))},
              {"seeds", seeds_or_null(result.pooled_auc)}};
  if (!result.held_out_auc.empty()) {
    auc["held_out"] = number_or_null(mean(result.held_out_auc));
    auc["held_out_std"] = number_or_null(standard_deviation(result.held_out_auc));
    auc["held_out_own_motif"] = number_or_null(mean(result.held_out_own_motif_auc));
  }
  const GroundTruthAgreement& truth = result.ground_truth;
  const Faithfulness& faith = result.faithfulness;
  Json curve = Json::array();
  for (const SparsityPoint& point : faith.curve)
    curve.push_back({{"sparsity", point.sparsity},
                     {"label", to_json(point.label)},
                     {"probability", to_json(point.probability)}});
  return {{"method", result.method},
          {"auc", auc},
          {"instances", result.explanations.size()},
          {"edges", truth.edges},
          {"positives", truth.positives},
          {"selected",
           {{"accuracy", number_or_null(truth.accuracy)},
            {"precision", number_or_null(truth.precision)},
            {"recall", number_or_null(truth.recall)}}},
          {"fidelity",
           {{"label", to_json(faith.label)},
            {"probability", to_json(faith.probability)},
            {"robust_label", to_json(faith.robust.label)},
            {"robust_probability", to_json(faith.robust.probability)},
            {"unfaithfulness", number_or_null(faith.unfaithfulness)},
            {"characterization", number_or_null(faith.characterization)},
            {"by_sparsity", curve}}},
          {"verdict", to_json(result.verdict)},
          {"truth_first_gap", number_or_null(result.truth_first_gap)},
          {"connectedness", number_or_null(faith.connectedness)},
          {"stability", number_or_null(result.stability)},
          {"fit_seconds", result.fit_seconds},
          {"milliseconds_per_instance", result.milliseconds_per_instance},
          {"warnings", result.warnings}};
}

}  // namespace pgexplainer
