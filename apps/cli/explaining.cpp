#include "apps/cli/explaining.h"

#include <algorithm>
#include <charconv>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/dataset_file.h"
#include "pgexplainer/io/model_file.h"

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

std::string dashed(std::string_view name) {
  std::string option = "--" + std::string(name);
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

}  // namespace

void add_explaining_arguments(CLI::App& verb, ExplainingArguments& arguments) {
  verb.add_option("--data", arguments.data, "a dataset: .npz, .csv or TU folder")->required();
  verb.add_option("--model", arguments.model, "a trained model (.safetensors)")->required();
  verb.add_option("--instances", arguments.instances,
                  "whose predictions: eval (the dataset's list), all, 400:700:5, 1,2,3, or links "
                  "as 3-17,5-9")
      ->option_text("(default eval)");
}

std::unique_ptr<ModelWithData> load_model_with_data(const ExplainingArguments& arguments) {
  auto loaded = std::make_unique<ModelWithData>();
  loaded->dataset = read_dataset(arguments.data);
  loaded->model = std::make_unique<ExplainedModel>(make_gnn(read_model(arguments.model).model),
                                                   loaded->dataset);
  return loaded;
}

std::vector<Instance> parse_instances(const std::string& spec, const Dataset& dataset) {
  std::vector<Instance> instances;
  const bool listed = spec == "eval" && !dataset.eval_instances.empty();
  if (listed) {
    for (const std::int64_t id : dataset.eval_instances) instances.push_back({id});
  } else if (spec == "eval" || spec == "all") {
    for (std::int64_t id = 0; id < dataset.num_instances(); ++id) instances.push_back({id});
  } else if (spec.find(':') != std::string::npos) {
    const auto parts = split(spec, ':');
    if (parts.size() > 3)
      throw_bad_input("--instances {}: expected start:stop or start:stop:step", spec);
    const std::int64_t start = parts[0].empty() ? 0 : parse_number(parts[0], spec);
    const std::int64_t stop =
        parts[1].empty() ? dataset.num_instances() : parse_number(parts[1], spec);
    const std::int64_t step = parts.size() == 3 ? parse_number(parts[2], spec) : 1;
    if (step < 1) throw_bad_input("--instances {}: the step is {}, expected 1 or more", spec, step);
    for (std::int64_t id = start; id < stop; id += step) instances.push_back({id});
  } else {
    for (const std::string_view part : split(spec, ',')) {
      const auto ends = split(part, '-');
      if (ends.size() > 2)
        throw_bad_input("--instances {}: '{}' is neither a number nor a link u-v", spec, part);
      instances.push_back({parse_number(ends[0], spec)});
      if (ends.size() == 2) instances.back().second = parse_number(ends[1], spec);
    }
  }
  for (const Instance& instance : instances)
    if (instance.id < 0 || (!instance.is_link() && instance.id >= dataset.num_instances()))
      throw_bad_input("--instances {}: {} has no instance {}; it has 0 to {}", spec, dataset.name,
                      instance.id, dataset.num_instances() - 1);
  if (instances.empty()) throw_bad_input("--instances {} names no instance", spec);
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

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace pgexplainer::cli
