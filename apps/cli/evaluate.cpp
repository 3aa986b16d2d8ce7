// pgexplainer evaluate: how good explanations are, by ground truth and by what they do to the
// prediction, for one or more methods.
#include <chrono>
#include <cmath>

#include "apps/cli/cli.h"
#include "apps/cli/explaining.h"
#include "apps/cli/progress_bar.h"
#include "pgexplainer/io/explainer_file.h"
#include "pgexplainer/metrics/evaluation.h"

namespace pgexplainer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  ExplainingArguments explaining;
  PGExplainerArguments pg_explainer;
  std::string explainer;
  std::int64_t repeats = 1;
  SelectionOptions selection;
  CommonOptions common;
};

void evaluate(const Arguments& arguments) {
  const auto loaded = load_model_with_data(arguments.explaining);
  const auto instances = parse_instances(arguments.explaining.instances, loaded->dataset);
  ThreadPool pool(arguments.common.threads);
  std::vector<double> aucs;
  for (std::int64_t r = 0; r < arguments.repeats; ++r) {
    std::unique_ptr<PGExplainer> explainer;
    if (!arguments.explainer.empty()) {
      explainer = std::move(read_explainer(arguments.explainer).explainer);
    } else {
      explainer = std::make_unique<PGExplainer>(arguments.pg_explainer.options(),
                                                arguments.common.seed + static_cast<std::uint64_t>(r));
      const FitReport report = explainer->fit(*loaded->model, instances, pool, {});
      fmt::print(stderr, "loss {:.4f}\n", report.loss.back());
      for (const auto& w : report.warnings) fmt::print(stderr, "warning: {} ({} restarts)\n", w, report.restarts);
    }
    const auto explanations = explain(*loaded->model, *explainer, instances, {}, pool);
    aucs.push_back(compare_with_ground_truth(loaded->dataset, explanations).pooled_auc);
  }
  double mean = 0, var = 0;
  for (double a : aucs) mean += a / aucs.size();
  for (double a : aucs) var += (a - mean) * (a - mean) / aucs.size();
  fmt::print("{:.5f} +- {:.4f} [{:.4f}]\n", mean, std::sqrt(var), fmt::join(aucs, " "));
}

}  // namespace

void add_evaluate(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("evaluate", "judge explanations");
  add_explaining_arguments(*verb, arguments->explaining);
  verb->add_option("--explainer", arguments->explainer, "a fitted explainer");
  verb->add_option("--repeats", arguments->repeats, "seeds");
  arguments->pg_explainer.add_to(*verb);
  add_common_options(*verb, arguments->common);
  verb->callback([=] { evaluate(*arguments); });
}

}  // namespace pgexplainer::cli
