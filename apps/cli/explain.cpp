// pgexplainer explain: edge scores for predictions, as data and as pictures.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <optional>
#include <span>

#include "apps/cli/cli.h"
#include "apps/cli/explaining.h"
#include "apps/cli/progress_bar.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/core/option_json.h"
#include "pgexplainer/explain/methods.h"
#include "pgexplainer/io/atomic_file.h"
#include "pgexplainer/io/explainer_file.h"
#include "pgexplainer/io/explanation_file.h"
#include "pgexplainer/io/sha256.h"
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
  std::string shard;
  std::optional<std::int64_t> refine;
  bool resume = false, all_edges = false;
  bool selected_only = false;  // the edges are chosen by options, and not all are to be written
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
    ExplainerFile file = read_explainer(arguments.explainer);
    const nlohmann::json verdict =
        file.fit.is_object() ? file.fit.value("verdict", nlohmann::json()) : nlohmann::json();
    if (verdict.is_object() && !verdict.value("reliable", true) && communicator().is_root())
      fmt::print(stderr, "warning: {}: {}\n", arguments.explainer, verdict.value("words", ""));
    if (arguments.refine) file.explainer->set_refine(*arguments.refine);
    return std::move(file.explainer);
  }
  if (pg)
    throw_bad_input(
        "pgexplainer needs --explainer FILE, made by `pgexplainer fit`; or choose another --method "
        "({})",
        fmt::join(method_names(), ", "));
  if (arguments.refine)
    throw_bad_input("--refine is for pgexplainer; --method {} does not know it", arguments.method);
  return make_explainer(arguments.method, arguments.common.seed);
}

/// Part i of n of the list, --shard i/n: the parts one after the other are the list.
std::span<const Instance> shard_of(const std::string& shard, std::span<const Instance> instances) {
  if (shard.empty()) return instances;
  std::size_t i = 0, n = 0;
  const char* const end = shard.data() + shard.size();
  auto parsed = std::from_chars(shard.data(), end, i);
  if (parsed.ec == std::errc() && parsed.ptr != end && *parsed.ptr == '/')
    parsed = std::from_chars(parsed.ptr + 1, end, n);
  if (parsed.ec != std::errc() || parsed.ptr != end || i >= n || n > 1'000'000'000)
    throw_bad_input("--shard {}: expected i/n with i from 0 to n - 1, as 0/4, 1/4, 2/4, 3/4",
                    shard);
  const auto border = [&](std::size_t part) {  // size * part / n, which may not fit
    return instances.size() / n * part + instances.size() % n * part / n;
  };
  return instances.subspan(border(i), border(i + 1) - border(i));
}

/// Everything that the bytes of the output depend on. (Not --max-edges and --num-neighbors: see
/// resumed_totals.)
std::string job_of(const Arguments& arguments, const Explainer& explainer, const Dataset& dataset) {
  const nlohmann::json job = {
      {"data", fmt::format("{:016x}", fingerprint(dataset))},
      {"model", sha256_of_file(arguments.explaining.model)},
      {"explainer", arguments.explainer.empty() ? "" : sha256_of_file(arguments.explainer)},
      {"refine", arguments.refine ? nlohmann::json(*arguments.refine) : nlohmann::json()},
      {"method", explainer.method()},
      {"seed", arguments.common.seed},
      {"instances", arguments.explaining.instances},
      {"shard", arguments.shard},
      {"selection", options_to_json(arguments.selection)},
      {"selected_only", arguments.selected_only}};
  return job.dump();
}

nlohmann::json notes_of(const ExplainTotals& totals, const CutOptions& cut) {
  return {{"instances", totals.instances},
          {"kept_class", totals.kept_class},
          {"sampled", totals.sampled},
          {"cut", options_to_json(cut)}};
}

/// Where an interrupted run stood. A hub may have ended it: what is done stays right when the limit
/// is raised or sampling begins.
ExplainTotals resumed_totals(const nlohmann::json& notes, const CutOptions& cut,
                             const std::string& output) {
  if (notes.is_null()) return {};
  const auto before = options_from_json<CutOptions>(notes.at("cut"), output);
  const bool same = before.max_edges == cut.max_edges && before.num_neighbors == cut.num_neighbors;
  if (!same && (!before.num_neighbors.empty() || cut.max_edges < before.max_edges))
    throw_bad_input(
        "{}: the run to resume had --max-edges {}, --num-neighbors {}; repeat them exactly, or "
        "start anew without --resume",
        output, before.max_edges, fmt::join(before.num_neighbors, ","));
  return {notes.at("instances"), notes.at("kept_class"), notes.at("sampled")};
}

/// Explains, draws and writes; what was written before an error can be gone on with.
ExplainTotals write_explanations(const Arguments& arguments, Explainer& explainer,
                                 const ModelWithData& loaded, std::span<const Instance> instances,
                                 const Workers& workers) {
  const fs::path output(arguments.output);
  std::unique_ptr<ExplanationWriter> writer;
  if (is_picture(output)) {
    const AtomicFile can_be_written(output);
  } else if (workers.communicator.is_root()) {
    writer = new_explanation_writer(
        output, {job_of(arguments, explainer, loaded.dataset), arguments.resume});
  }
  const ExplanationEncoder encode = is_picture(output) ? nullptr : explanation_encoder(output);
  ExplainTotals before;
  if (writer) before = resumed_totals(writer->notes(), arguments.explaining.cut, arguments.output);
  before.instances =
      std::stoll(workers.communicator.all_gather(std::to_string(before.instances)).front());
  ExplainTotals totals = before;
  std::chrono::steady_clock::time_point saved{};  // long ago: the first block leaves a checkpoint
  const auto checkpoint = [&] {
    writer->checkpoint(notes_of(totals, arguments.explaining.cut));
    saved = std::chrono::steady_clock::now();
  };
  ExplainOptions options;
  options.selection = arguments.selection;
  try {
    ProgressBar bar("explaining");
    explain(
        *loaded.model, explainer, instances.subspan(at(before.instances)), options, workers,
        [&](std::size_t position, Explanation&& explanation) {
          if (!encode) write_picture(output, loaded.dataset, explanation);
          if (!arguments.pictures.empty() &&
              before.instances + static_cast<std::int64_t>(position) < arguments.max_pictures) {
            make_folder(arguments.pictures);  // not before something is drawn
            const std::string name = instance_text(explanation.instance) + ".svg";
            write_picture(fs::path(arguments.pictures) / name, loaded.dataset, explanation);
          }
          if (arguments.selected_only) keep_selected(explanation);
          return encode ? encode(explanation, arguments.output) : std::string();
        },
        [&](std::string_view bytes, const ExplainTotals& now) {
          if (writer) writer->append(bytes);
          totals = {before.instances + now.instances, before.kept_class + now.kept_class,
                    before.sampled + now.sampled};
          if (writer && seconds_since(saved) > 5.0) checkpoint();
        },
        bar.callback(before.instances));
  } catch (const Error& error) {
    if (!writer || totals.instances == 0) throw;
    checkpoint();
    throw Error(error.kind(), fmt::format("{}; repeat the command with --resume to go on after {} "
                                          "instances",
                                          error.what(), totals.instances));
  }
  if (writer) writer->commit();
  return totals;
}

void explain_verb(const Arguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  const auto explainer = chosen_explainer(arguments);
  const auto loaded = load_model_with_data(arguments.explaining, arguments.common.seed);
  const auto instances = shard_of(arguments.shard, loaded->instances);
  if (is_picture(arguments.output) && instances.size() != 1)
    throw_bad_input(
        "{}: one picture cannot show {} instances; name one with --instances, or give --pictures "
        "DIR",
        arguments.output, instances.size());
  ThreadPool pool(num_threads(arguments.common));
  const Workers workers(pool, communicator());
  const ExplainTotals totals =
      write_explanations(arguments, *explainer, *loaded, instances, workers);
  if (!workers.communicator.is_root()) return;
  const std::int64_t drawn =
      arguments.pictures.empty() ? 0 : std::min(arguments.max_pictures, totals.instances);
  const double seconds = seconds_since(start);
  if (arguments.common.json)
    print_json({{"method", explainer->method()},
                {"instances", totals.instances},
                {"kept_class", totals.kept_class},
                {"sampled", totals.sampled},
                {"pictures", drawn},
                {"seconds", seconds},
                {"file", arguments.output}});
  else
    fmt::print(stderr,
               "{}: {} instances in {:.2f} s; the selected edges alone keep the predicted class of "
               "{}{}\n",
               arguments.output, totals.instances, seconds, totals.kept_class,
               totals.sampled > 0
                   ? fmt::format("; {} were explained on a sample of their edges", totals.sampled)
                   : "");
}

}  // namespace

void add_explain(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("explain", "score the edges behind predictions");
  add_explaining_arguments(*verb, arguments->explaining);
  verb->add_option("--explainer", arguments->explainer,
                   "a fitted PGExplainer (.safetensors, from `pgexplainer fit`)");
  verb->add_option(
          "--refine", arguments->refine,
          "so many steps that put the edges of each instance in the order its own prediction asks "
          "for, more faithful and slower; -1 = as many as the fit found necessary, often none")
      ->option_text("(default: as the explainer was fitted, -1)");
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
  add_selection_options(*verb, arguments->selection);
  verb->add_flag("--all-edges", arguments->all_edges,
                 "write all edges, also when --topk or another option chooses some");
  verb->add_option("--shard", arguments->shard,
                   "i/n: only part i (from 0) of n parts of the instances; the files of all parts "
                   "one after the other are the whole");
  verb->add_flag("--resume", arguments->resume, "go on from the checkpoint of an interrupted run");
  add_common_options(*verb, arguments->common);
  verb->footer(
      "Examples:\n"
      "  pgexplainer explain --data ba-shapes.npz --model model.safetensors --explainer "
      "e.safetensors -o scores.jsonl --pictures pictures/\n"
      "  pgexplainer explain --data ba-shapes.npz --model model.safetensors --method gnnexplainer "
      "--instances 400 -o node400.svg\n"
      "  pgexplainer explain --data big.npz --model model.safetensors --explainer e.safetensors "
      "--instances all --topk 6 --shard 0/8 --resume -o part0.jsonl");
  verb->callback([=] {
    arguments->selected_only = selection_given(*verb) && !arguments->all_edges;
    explain_verb(*arguments);
  });
}

}  // namespace pgexplainer::cli
