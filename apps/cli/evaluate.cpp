// pgexplainer evaluate: how good explanations are, by the ground truth and by what they do to the
// prediction, for one or more methods.
#include <algorithm>
#include <cmath>

#include "apps/cli/cli.h"
#include "apps/cli/explaining.h"
#include "apps/cli/progress_bar.h"
#include "pgexplainer/core/option_json.h"
#include "pgexplainer/explain/methods.h"
#include "pgexplainer/io/explainer_file.h"
#include "pgexplainer/report/comparison.h"
#include "pgexplainer/report/table.h"

namespace pgexplainer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  ExplainingArguments explaining;
  PGExplainerArguments pg_explainer;
  std::string explainer;
  std::vector<std::string> methods = {"pgexplainer"};
  std::int64_t seeds = 1;
  SelectionOptions selection;
  CommonOptions common;
};

std::string in_words(double value) {
  return std::isfinite(value) ? fmt::format("{:.3f}", value) : "-";
}

Table table_of(const std::vector<MethodResult>& results) {
  Table table;
  table.columns = {{"method"},
                   {"AUC", Align::right},
                   {"held out", Align::right},
                   {"per instance", Align::right},
                   {"precision", Align::right},
                   {"fid+", Align::right},
                   {"fid-", Align::right},
                   {"gap", Align::right},
                   {"ms/instance", Align::right}};
  for (const MethodResult& r : results) {
    const std::string spread =
        r.pooled_auc.size() > 1 ? fmt::format(" ± {:.3f}", standard_deviation(r.pooled_auc)) : "";
    table.rows.push_back({{r.method},
                          {in_words(mean(r.pooled_auc)) + spread},
                          {in_words(mean(r.held_out_auc))},
                          {in_words(mean(r.per_instance_auc))},
                          {in_words(r.ground_truth.precision)},
                          {in_words(r.faithfulness.probability.plus)},
                          {in_words(r.faithfulness.probability.minus)},
                          {in_words(r.verdict.own.small_gap)},
                          {fmt::format("{:.3g}", r.milliseconds_per_instance)}});
  }
  return table;
}

/// Whether the ground truth is what the network goes by; nothing if it is, or none is known.
std::string cost_of_truth_in_words(const MethodResult& result) {
  constexpr double kNoise = 0.02;
  const double gap = result.verdict.own.small_gap;
  if (!(result.truth_first_gap < gap - kNoise)) return "";
  return fmt::format(
      "{}: with the true edges first its gap would be {:.3f} instead of {:.3f}: the network goes "
      "by other edges, too, and AUC and faithfulness disagree\n",
      result.method, result.truth_first_gap, gap);
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Throws before any work unless every method is known, named once and can explain the model.
std::vector<std::string> chosen_methods(const Arguments& arguments, const ExplainedModel& model,
                                        const Explainer* fitted) {
  const bool all = arguments.methods == std::vector<std::string>{"all"};
  std::vector<std::string> names;
  for (const std::string& name : all ? method_names() : arguments.methods) {
    const auto made = make_explainer(name, 0);
    const Explainer& explainer = fitted && name == "pgexplainer" ? *fitted : *made;
    const Support support = explainer.supports(model);
    if (!support && all) continue;
    if (!support) throw_bad_input("{} cannot explain this model: {}", name, support.reason);
    if (contains(names, name)) throw_bad_input("--method names {} twice", name);
    names.push_back(name);
  }
  if (contains(names, "pgexplainer")) return names;
  if (fitted) throw_bad_input("--explainer is for pgexplainer, which --method does not name");
  if (const std::string option = arguments.pg_explainer.first_given(); !option.empty())
    throw_bad_input("{} is for pgexplainer, which --method does not name", option);
  return names;
}

void evaluate(const Arguments& arguments) {
  const PGExplainerOptions options = arguments.pg_explainer.options();
  std::unique_ptr<PGExplainer> fitted;
  if (!arguments.explainer.empty()) {
    if (const std::string option = arguments.pg_explainer.first_given(true); !option.empty())
      throw_bad_input("{} is for fitting, but --explainer is fitted already; leave one out",
                      option);
    fitted = std::move(read_explainer(arguments.explainer).explainer);
    if (!arguments.pg_explainer.first_given().empty()) fitted->set_refine(options.refine);
  }
  const auto loaded = load_model_with_data(arguments.explaining, arguments.common.seed);
  const std::vector<Instance>& instances = loaded->instances;
  const std::vector<std::string> names = chosen_methods(arguments, *loaded->model, fitted.get());
  if (!fitted && contains(names, "pgexplainer")) check_options_for(options, instances);
  ThreadPool pool(arguments.common.threads);
  ComparisonOptions comparison;
  comparison.seeds = arguments.seeds;
  comparison.first_seed = arguments.common.seed;
  comparison.selection = arguments.selection;
  comparison.held_out = !fitted && contains(names, "pgexplainer");

  std::vector<MethodResult> results;
  ProgressBar bar("evaluating");
  const Progress progress = bar.callback();
  for (std::size_t m = 0; m < names.size(); ++m) {
    ComparedMethod method{names[m], nullptr, loaded->model.get(), nullptr};
    if (names[m] == "pgexplainer") {
      method.options = options_to_json(options);
      method.fitted = fitted.get();
    }
    const Progress step = [&](std::int64_t, std::int64_t, std::string_view message) {
      return progress(static_cast<std::int64_t>(m), static_cast<std::int64_t>(names.size()),
                      message);
    };
    results.push_back(run_method(method, instances, comparison, pool, step));
  }
  for (const MethodResult& result : results)
    for (const std::string& warning : result.warnings)
      fmt::print(stderr, "warning: {}: {}\n", result.method, warning);
  if (loaded->dataset.edge_gt.empty())
    fmt::print(stderr, "{} has no ground truth (edge_gt): no AUC\n", loaded->dataset.name);
  if (arguments.common.json) {
    if (results.size() == 1) {
      print_json(to_json(results.front()));
      return;
    }
    Json methods = Json::object();
    for (const MethodResult& result : results) methods[result.method] = to_json(result);
    print_json({{"instances", instances.size()}, {"methods", methods}});
    return;
  }
  fmt::print("{}", to_text(table_of(results)));
  for (const MethodResult& result : results)
    if (results.size() == 1 || result.method == "pgexplainer")
      fmt::print("{}: {}\n{}", result.method, in_words(result.verdict),
                 cost_of_truth_in_words(result));
}

}  // namespace

void add_evaluate(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("evaluate", "judge the explanations of one or more methods");
  add_explaining_arguments(*verb, arguments->explaining);
  verb->add_option("--method", arguments->methods,
                   fmt::format("one or more of {}, or all that the model allows",
                               fmt::join(method_names(), ", ")))
      ->delimiter(',')
      ->option_text("(default pgexplainer)");
  verb->add_option("--explainer", arguments->explainer,
                   "a fitted PGExplainer; without it one is fitted on the instances (AUC) and on "
                   "half of them (held out)");
  verb->add_option("--seeds", arguments->seeds, "repeat with so many seeds, from --seed on")
      ->check(CLI::Range(1, 1000000))
      ->option_text("(default 1)");
  add_selection_options(*verb, arguments->selection);
  arguments->pg_explainer.add_to(*verb);
  add_common_options(*verb, arguments->common);
  verb->footer(
      "Examples:\n"
      "  pgexplainer evaluate --data ba-shapes.npz --model model.safetensors --explainer "
      "e.safetensors\n"
      "  pgexplainer evaluate --data tree-grid.npz --model model.safetensors --method all --json\n"
      "  pgexplainer evaluate --data tree-grid.npz --model model.safetensors --preset paper "
      "--seeds 10");
  verb->callback([=] { evaluate(*arguments); });
}

}  // namespace pgexplainer::cli
