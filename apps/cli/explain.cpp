// pgexplainer explain: edge scores for predictions, as data and as pictures.
#include <chrono>
#include <filesystem>

#include "apps/cli/cli.h"
#include "apps/cli/explaining.h"
#include "apps/cli/progress_bar.h"
#include "pgexplainer/core/option_json.h"
#include "pgexplainer/explain/methods.h"
#include "pgexplainer/io/atomic_file.h"
#include "pgexplainer/io/explainer_file.h"
#include "pgexplainer/io/explanation_file.h"
#include "pgexplainer/report/dot.h"
#include "pgexplainer/report/explanation_picture.h"
#include "pgexplainer/report/graphml.h"

namespace pgexplainer::cli {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  ExplainingArguments explaining;
  std::string explainer, method, output, pictures;
  std::int64_t max_pictures = 20;
  SelectionOptions selection;
  CommonOptions common;
};

bool is_picture(const fs::path& path) {
  return path.extension() == ".svg" || path.extension() == ".dot" || path.extension() == ".graphml";
}

void write_picture(const fs::path& path, const Dataset& dataset, const Explanation& explanation) {
  const GraphPicture picture = explanation_picture(dataset, explanation);
  AtomicFile file(path);
  file.write(path.extension() == ".dot"       ? to_dot(picture)
             : path.extension() == ".graphml" ? to_graphml(picture)
                                              : to_svg(picture));
  file.commit();
}

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error || !fs::is_directory(path))
    throw_bad_input("--pictures {}: cannot make this folder{}", path.string(),
                    error ? ": " + error.message() : "");
}

std::unique_ptr<Explainer> chosen_explainer(const Arguments& arguments) {
  const bool pg = arguments.method.empty() || arguments.method == "pgexplainer";
  if (!arguments.explainer.empty()) {
    if (!pg)
      throw_bad_input("--explainer is for pgexplainer; --method {} needs none", arguments.method);
    return std::move(read_explainer(arguments.explainer).explainer);
  }
  if (pg)
    throw_bad_input(
        "pgexplainer needs --explainer FILE, made by `pgexplainer fit`; or choose another --method "
        "({})",
        fmt::join(method_names(), ", "));
  return make_explainer(arguments.method, arguments.common.seed);
}

void explain_verb(const Arguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  const fs::path output(arguments.output);
  const auto explainer = chosen_explainer(arguments);
  const auto loaded = load_model_with_data(arguments.explaining, arguments.common.seed);
  const std::vector<Instance>& instances = loaded->instances;
  if (is_picture(output) && instances.size() > 1)
    throw_bad_input(
        "{}: one picture cannot show {} instances; name one with --instances, or give --pictures "
        "DIR",
        arguments.output, instances.size());
  std::unique_ptr<ExplanationWriter> writer;
  if (is_picture(output)) {
    const AtomicFile can_be_written(output);
  } else {
    writer = new_explanation_writer(output);
  }
  ThreadPool pool(arguments.common.threads);
  ExplainOptions options;
  options.selection = arguments.selection;
  std::int64_t drawn = 0, kept_class = 0;
  {
    ProgressBar bar("explaining");
    explain(
        *loaded->model, *explainer, instances, options, pool,
        [&](Explanation&& explanation) {
          kept_class += explanation.prediction.predicted_class() ==
                                explanation.prediction_kept.predicted_class()
                            ? 1
                            : 0;
          if (writer) writer->write(explanation);
          if (is_picture(output)) write_picture(output, loaded->dataset, explanation);
          if (!arguments.pictures.empty() && drawn < arguments.max_pictures) {
            if (drawn == 0) make_folder(arguments.pictures);  // not before something is drawn
            const std::string name = instance_text(explanation.instance) + ".svg";
            write_picture(fs::path(arguments.pictures) / name, loaded->dataset, explanation);
            ++drawn;
          }
        },
        bar.callback());
  }
  if (writer) writer->commit();
  const double seconds = seconds_since(start);
  if (arguments.common.json)
    print_json({{"method", explainer->method()},
                {"instances", instances.size()},
                {"kept_class", kept_class},
                {"pictures", drawn},
                {"seconds", seconds},
                {"file", arguments.output}});
  else
    fmt::print(stderr,
               "{}: {} instances in {:.2f} s; the selected edges alone keep the predicted class of "
               "{}\n",
               arguments.output, instances.size(), seconds, kept_class);
}

}  // namespace

void add_explain(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("explain", "score the edges behind predictions");
  add_explaining_arguments(*verb, arguments->explaining);
  verb->add_option("--explainer", arguments->explainer,
                   "a fitted PGExplainer (.safetensors, from `pgexplainer fit`)");
  verb->add_option("--method", arguments->method,
                   fmt::format("one of {}", fmt::join(method_names(), ", ")))
      ->option_text("(default pgexplainer)");
  verb->add_option("-o,--output", arguments->output,
                   "the file to write: .jsonl, .csv or .npz; of a single instance also .svg, .dot "
                   "or .graphml")
      ->required();
  verb->add_option("--pictures", arguments->pictures, "a folder for one SVG per instance");
  verb->add_option("--max-pictures", arguments->max_pictures, "of the first so many instances")
      ->check(CLI::Range(0, 1000000))
      ->option_text("(default 20)");
  add_option_fields(*verb, arguments->selection);
  add_common_options(*verb, arguments->common);
  verb->footer(
      "Examples:\n"
      "  pgexplainer explain --data ba-shapes.npz --model model.safetensors --explainer "
      "e.safetensors -o scores.jsonl --pictures pictures/\n"
      "  pgexplainer explain --data ba-shapes.npz --model model.safetensors --method gnnexplainer "
      "--instances 400 -o node400.svg");
  verb->callback([=] { explain_verb(*arguments); });
}

}  // namespace pgexplainer::cli
