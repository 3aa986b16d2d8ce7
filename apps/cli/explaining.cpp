#include "apps/cli/explaining.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/dataset_file.h"
#include "pgexplainer/io/gnn_file.h"
#include "pgexplainer/model/link_gnn.h"

namespace pgexplainer::cli {
namespace {

std::int64_t parse_number(std::string_view text, const std::string& spec) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw_bad_input(
        "--instances {}: '{}' is not a number; expected eval, all, 400:700:5, 1,2,3 or links as "
        "3-17,5-9",
        spec, text);
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// start:stop:step. The ends are checked before the list is made: it may be longer than the memory.
std::vector<Instance> parse_range(const std::string& spec, const Dataset& dataset) {
  const std::int64_t count = dataset.num_instances();
  const auto parts = split(spec, ':');
  if (parts.size() > 3)
    throw_bad_input("--instances {}: expected start:stop or start:stop:step", spec);
  const std::int64_t start = parts[0].empty() ? 0 : parse_number(parts[0], spec);
  const std::int64_t stop = parts[1].empty() ? count : parse_number(parts[1], spec);
  const std::int64_t step = parts.size() == 3 ? parse_number(parts[2], spec) : 1;
  if (step < 1) throw_bad_input("--instances {}: the step is {}, expected 1 or more", spec, step);
  if (start < 0 || stop > count)
    throw_bad_input("--instances {}: {} has the instances 0 to {}; the range ends before {}", spec,
                    dataset.name, count - 1, count);
  std::vector<Instance> instances;
  for (std::int64_t id = start; id < stop; id += std::min(step, count)) instances.push_back({id});
  return instances;
}

/// 1,2,3 or 3-17,5-9.
std::vector<Instance> parse_list(const std::string& spec) {
  std::vector<Instance> instances;
  for (const std::string_view part : split(spec, ',')) {
    const auto ends = split(part, '-');
    if (ends.size() > 2 || ends.front().empty())
      throw_bad_input("--instances {}: '{}' is neither a number from 0 on nor a link u-v", spec,
                      part);
    instances.push_back({parse_number(ends[0], spec)});
    if (ends.size() == 2) instances.back().second = parse_number(ends[1], spec);
  }
  return instances;
}

void check_instance(const Instance& instance, const std::string& spec, const Dataset& dataset) {
  const auto check_end = [&](std::int64_t id) {
    if (id < 0 || id >= dataset.num_instances())
      throw_bad_input("--instances {}: {} has no {} {}; it has 0 to {}", spec, dataset.name,
                      dataset.task == Task::graph ? "graph" : "node", id,
                      dataset.num_instances() - 1);
  };
  if (!instance.is_link()) return check_end(instance.id);
  if (dataset.task == Task::graph)
    throw_bad_input(
        "--instances {}: {} is a dataset of graphs, which are named by one number; links join "
        "nodes "
        "of a dataset of nodes",
        spec, dataset.name);
  check_end(instance.id);
  check_end(instance.second);
  if (instance.id == instance.second)
    throw_bad_input("--instances {}: a link joins two different nodes, not {} and itself", spec,
                    instance.id);
}

std::string dashed(std::string_view name) {
  std::string option = "--" + std::string(name);
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

}  // namespace

void add_explaining_arguments(CLI::App& verb, ExplainingArguments& arguments) {
  verb.add_option("--data", arguments.data, "a dataset: .npz, .csv or TU folder")->required();
  verb.add_option("--model", arguments.model,
                  "a trained model: .safetensors, or a PyTorch module saved as TorchScript (.pt)")
      ->required();
  verb.add_option("--instances", arguments.instances,
                  "whose predictions: eval (the dataset's list), all, 400:700:5, 1,2,3, or links "
                  "as 3-17,5-9")
      ->option_text("(default eval)");
  add_option_fields(verb, arguments.cut);
}

void add_selection_options(CLI::App& verb, SelectionOptions& selection) {
  add_option_fields(verb, selection);
  verb.add_option("--topk", selection.top_k, "the same as --top-k")
      ->check(CLI::Range(0.0, 1e15))
      ->excludes("--top-k")
      ->option_text(" ");
}

bool selection_given(const CLI::App& verb) {
  for (const char* option : {"--top-k", "--topk", "--max-selected", "--use-threshold"})
    if (verb.get_option(option)->count() > 0) return true;
  return false;
}

std::unique_ptr<ModelWithData> load_model_with_data(const ExplainingArguments& arguments,
                                                    std::uint64_t seed) {
  auto loaded = std::make_unique<ModelWithData>();
  loaded->dataset = read_dataset(arguments.data);
  loaded->instances = parse_instances(arguments.instances, loaded->dataset);
  std::shared_ptr<const Gnn> gnn = read_gnn(arguments.model, loaded->dataset);
  if (loaded->instances.front().is_link()) gnn = make_link_gnn(std::move(gnn));
  CutOptions cut = arguments.cut;
  cut.seed = seed;
  loaded->model = std::make_unique<ExplainedModel>(std::move(gnn), loaded->dataset, std::move(cut));
  return loaded;
}

std::vector<Instance> parse_instances(const std::string& spec, const Dataset& dataset) {
  std::vector<Instance> instances;
  if (spec == "eval" && !dataset.eval_instances.empty()) {
    for (const std::int64_t id : dataset.eval_instances) instances.push_back({id});
  } else if (spec == "eval" || spec == "all") {
    for (std::int64_t id = 0; id < dataset.num_instances(); ++id) instances.push_back({id});
  } else {
    instances = spec.find(':') != std::string::npos ? parse_range(spec, dataset) : parse_list(spec);
  }
  if (instances.empty()) throw_bad_input("--instances {} names no instance", spec);
  if (spec == "all" || spec.find(':') != std::string::npos) return instances;
  const auto order = [](const Instance& a, const Instance& b) {
    return std::pair(a.id, a.second) < std::pair(b.id, b.second);
  };
  for (const Instance& instance : instances) {
    check_instance(instance, spec, dataset);
    if (instance.is_link() != instances.front().is_link())
      throw_bad_input("--instances {}: nodes and links cannot be explained together", spec);
  }
  std::vector<Instance> sorted = instances;
  std::sort(sorted.begin(), sorted.end(), order);
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    throw_bad_input("--instances {} names {} twice", spec,
                    twice->is_link() ? fmt::format("{}-{}", twice->id, twice->second)
                                     : std::to_string(twice->id));
  return instances;
}

void PGExplainerArguments::add_to(CLI::App& verb) {
  verb_ = &verb;
  verb.add_option("--preset", preset_,
                  fmt::format("settings to start from: {}", fmt::join(preset_names(), ", ")))
      ->option_text("(default: default, or paper with --objective paper)");
  add_option_fields(verb, given_);
}

PGExplainerOptions PGExplainerArguments::options() const {
  const std::string start = !preset_.empty()              ? preset_
                            : given_.objective == "paper" ? "paper"
                                                          : "default";
  PGExplainerOptions options = preset(start);
  PGExplainerOptions::fields([&](std::string_view name, auto member, Bounds, std::string_view) {
    if (verb_->get_option(dashed(name))->count() > 0) options.*member = given_.*member;
  });
  check_options(options);
  return options;
}

std::string PGExplainerArguments::first_given(bool only_for_fitting) const {
  if (!preset_.empty()) return "--preset";
  std::string first;
  PGExplainerOptions::fields([&](std::string_view name, auto, Bounds, std::string_view) {
    if (only_for_fitting && name == "refine") return;
    if (first.empty() && verb_->get_option(dashed(name))->count() > 0) first = dashed(name);
  });
  return first;
}

void check_options_for(const PGExplainerOptions& options, const std::vector<Instance>& instances) {
  if (options.objective == "paper" && options.target == "label" && instances.front().is_link())
    throw_bad_input("the data have no labels of links; use --target soft or --target class");
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace pgexplainer::cli
