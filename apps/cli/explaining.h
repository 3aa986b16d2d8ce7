// What fit, explain and evaluate share: the model beside its data, the list of instances, and the
// settings of PGExplainer from a preset and single options.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "apps/cli/cli.h"
#include "pgexplainer/explain/explained_model.h"
#include "pgexplainer/explain/explanation.h"
#include "pgexplainer/explain/pg_explainer_options.h"

namespace pgexplainer::cli {

/// --data and --model; --instances; --max-edges and --num-neighbors.
struct ExplainingArguments {
  std::string data, model, instances = "eval";
  CutOptions cut;
};
void add_explaining_arguments(CLI::App& verb, ExplainingArguments& arguments);

/// --top-k, also spelt --topk, and the other fields.
void add_selection_options(CLI::App& verb, SelectionOptions& selection);
/// Whether one of the options that choose edges was given.
bool selection_given(const CLI::App& verb);

/// Keeps the dataset alive for its model.
struct ModelWithData {
  Dataset dataset;
  std::vector<Instance> instances;
  std::unique_ptr<ExplainedModel> model;  ///< of links, if the instances are links
};
std::unique_ptr<ModelWithData> load_model_with_data(const ExplainingArguments& arguments,
                                                    std::uint64_t seed);

/// "eval" (the dataset's own list; all if it has none), "all", "400:700:5" (Python's range, either
/// end may be left out), "1,2,3", or links as "3-17,5-9". Throws if it names none, one twice, one
/// that is not there, or nodes beside links.
std::vector<Instance> parse_instances(const std::string& spec, const Dataset& dataset);

/// --preset and every field of the options; what is given on the command line wins.
class PGExplainerArguments {
 public:
  void add_to(CLI::App& verb);
  [[nodiscard]] PGExplainerOptions options() const;
  /// The first of these options that was given, as "--epochs"; empty = none. Of `refine` a fitted
  /// explainer can make use, too.
  [[nodiscard]] std::string first_given(bool only_for_fitting = false) const;

 private:
  CLI::App* verb_ = nullptr;
  std::string preset_;
  PGExplainerOptions given_;
};

/// Throws if these instances cannot be explained with these options.
void check_options_for(const PGExplainerOptions& options, const std::vector<Instance>& instances);

double seconds_since(std::chrono::steady_clock::time_point start);

}  // namespace pgexplainer::cli
