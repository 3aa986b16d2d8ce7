// pgexplainer fit: trains the explanation network over a population of instances.
#include <algorithm>
#include <chrono>
#include <numeric>

#include "apps/cli/cli.h"
#include "apps/cli/explaining.h"
#include "apps/cli/progress_bar.h"
#include "pgexplainer/core/option_json.h"
#include "pgexplainer/io/atomic_file.h"
#include "pgexplainer/io/explainer_file.h"

namespace pgexplainer::cli {
namespace {

struct Arguments {
  ExplainingArguments explaining;
  PGExplainerArguments pg_explainer;
  std::string output;
  CommonOptions common;
};

/// Features of the population, the most important first: [name or column, score].
nlohmann::ordered_json ranked_features(const PGExplainer& explainer, const Dataset& dataset) {
  const std::vector<float>& score = explainer.fitted().feature_logits;
  std::vector<std::size_t> order(score.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return score[a] > score[b]; });
  auto ranked = nlohmann::ordered_json::array();
  for (const std::size_t f : order) {
    const bool named = f < dataset.node_type_names.size();
    ranked.push_back(
        {named ? nlohmann::ordered_json(dataset.node_type_names[f]) : nlohmann::ordered_json(f),
         score[f]});
  }
  return ranked;
}

void fit(const Arguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  const bool root = communicator().is_root();
  if (root) {
    const AtomicFile can_be_written(arguments.output);
  }
  PGExplainer explainer(arguments.pg_explainer.options(), arguments.common.seed);
  const auto loaded = load_model_with_data(arguments.explaining, arguments.common.seed);
  const std::vector<Instance>& instances = loaded->instances;
  check_options_for(explainer.options(), instances);
  ThreadPool pool(num_threads(arguments.common));
  const Workers workers(pool, communicator());
  FitReport report;
  {
    ProgressBar bar("fitting");
    report = explainer.fit(*loaded->model, instances, workers, bar.callback());
  }
  if (!workers.all_say(!interrupted())) throw_failed("interrupted; no explainer was written");
  if (!root) return;
  const nlohmann::ordered_json verdict =
      report.verdict ? to_json(*report.verdict) : nlohmann::ordered_json();
  const nlohmann::json rival_lead =
      report.rival_lead ? nlohmann::json(*report.rival_lead) : nlohmann::json();
  write_explainer(arguments.output, explainer,
                  {{"dataset", loaded->dataset.name},
                   {"model", arguments.explaining.model},
                   {"instances", instances.size()},
                   {"loss", report.loss},
                   {"restarts", report.restarts},
                   {"necessity", report.necessity},
                   {"sharpened", report.sharpened},
                   {"refine", report.refine},
                   {"rival_lead", rival_lead},
                   {"verdict", verdict},
                   {"warnings", report.warnings}});
  const double seconds = seconds_since(start);
  const nlohmann::ordered_json features = ranked_features(explainer, loaded->dataset);
  if (arguments.common.json) {
    nlohmann::ordered_json summary = {{"seconds", seconds},
                                      {"loss", report.loss.back()},
                                      {"epochs", report.loss.size()},
                                      {"instances", instances.size()},
                                      {"restarts", report.restarts},
                                      {"necessity", report.necessity},
                                      {"sharpened", report.sharpened},
                                      {"refine", report.refine},
                                      {"rival_lead", rival_lead},
                                      {"verdict", verdict},
                                      {"warnings", report.warnings},
                                      {"file", arguments.output}};
    if (!features.empty()) summary["features"] = features;
    print_json(summary);
  } else {
    const std::string sharpened =
        report.sharpened == 0 ? "" : fmt::format(", {} more with whole edges,", report.sharpened);
    fmt::print(stderr, "{}: {} epochs{} over {} instances in {:.1f} s, loss {:.4f}\n",
               arguments.output, report.loss.size(), sharpened, instances.size(), seconds,
               report.loss.back());
    if (report.refine > 0)
      fmt::print(stderr,
                 "explaining takes {} steps of refinement per instance (--refine 0 takes none, and "
                 "is faster)\n",
                 report.refine);
    if (report.rival_lead)
      fmt::print(
          stderr,
          "explaining takes the order of occlusion or gradients where it is more faithful by "
          "more than {} (--refine 0 never does, and is faster)\n",
          *report.rival_lead);
    if (report.verdict)
      fmt::print(stderr, "{} {}: {}\n", report.verdict->instances,
                 report.held_out ? "held-out instances" : "instances, none held out",
                 in_words(*report.verdict));
    if (!features.empty()) fmt::print(stderr, "features, the most important first:\n");
    for (const auto& feature : features)
      fmt::print(stderr, "  {:<8} {:+.3f}\n",
                 feature[0].is_string() ? feature[0].get<std::string>() : feature[0].dump(),
                 feature[1].get<double>());
  }
  for (const std::string& warning : report.warnings) fmt::print(stderr, "warning: {}\n", warning);
}

}  // namespace

void add_fit(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("fit", "train the explanation network of PGExplainer");
  add_explaining_arguments(*verb, arguments->explaining);
  verb->add_option("-o,--output", arguments->output, "the explainer to write (.safetensors)")
      ->required();
  arguments->pg_explainer.add_to(*verb);
  add_common_options(*verb, arguments->common);
  verb->footer(
      "Examples:\n"
      "  pgexplainer fit --data ba-shapes.npz --model model.safetensors -o explainer.safetensors\n"
      "  pgexplainer fit --data mutagenicity/ --model gin.safetensors --instances 0:1000 \\\n"
      "      --objective paper --size 0.01 -o explainer.safetensors\n"
      "  pgexplainer fit --data ba-shapes.npz --model model.safetensors --preset mean-size -o "
      "e.safetensors");
  verb->callback([=] { fit(*arguments); });
}

}  // namespace pgexplainer::cli
