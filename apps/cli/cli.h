// What the verbs share. A verb is one file with one function, add_<verb>(app), declared below and
// called in main.cpp; it throws what goes wrong, and main.cpp turns that into a message and an exit
// code.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>

#include "pgexplainer/core/option_fields.h"
#include "pgexplainer/parallel/communicator.h"

namespace pgexplainer::cli {

/// Every verb has these.
struct CommonOptions {
  bool json = false;
  std::uint64_t seed = 0;
  int threads = 0;
};

void add_common_options(CLI::App& verb, CommonOptions& common);

/// The processes that do this job together; one, unless a launcher such as mpirun started several.
/// Every rank runs the verb; rank 0 alone prints and writes.
Communicator& communicator();
/// Of main.cpp, before any verb runs.
void set_communicator(Communicator& job);

/// --threads; by default, this rank's share of the cores of its machine. Every rank asks at once.
int num_threads(const CommonOptions& common);

/// Prints one JSON object on stdout.
void print_json(const nlohmann::ordered_json& object);

/// Declares --some-field for every field of an options struct, with its bounds and its default in
/// the help; a vector is given as 20,20,20 and a boolean as --some-field or --no-some-field.
template <class Options>
void add_option_fields(CLI::App& verb, Options& options) {
  Options::fields([&](std::string_view name, auto member, Bounds bounds, std::string_view help) {
    using Value = std::remove_cvref_t<decltype(options.*member)>;
    Value& value = options.*member;
    std::string dashed(name);
    std::replace(dashed.begin(), dashed.end(), '_', '-');
    if constexpr (std::is_same_v<Value, bool>) {
      verb.add_flag(fmt::format("--{0},!--no-{0}", dashed), value, std::string(help))
          ->option_text(fmt::format("({})", value ? "on" : "off"));
    } else {
      CLI::Option* option = verb.add_option("--" + dashed, value, std::string(help));
      option->capture_default_str();
      if constexpr (std::is_arithmetic_v<Value>) {
        const std::string range = fmt::format("{:g} to {:g}", bounds.low, bounds.high);
        option->option_text(fmt::format("({}, default {})", range, option->get_default_str()));
        option->check([bounds, range](const std::string& text) {
          double number = 0;
          return CLI::detail::lexical_cast(text, number) && number >= bounds.low &&
                         number <= bounds.high
                     ? std::string()
                     : fmt::format("{} is not a number from {}", text, range);
        });
      } else {
        if constexpr (!std::is_same_v<Value, std::string>) option->delimiter(',');
        option->option_text(fmt::format("(default {})", option->get_default_str()));
      }
    }
  });
}

void add_bench(CLI::App& app);
void add_download(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_explain(CLI::App& app);
void add_fit(CLI::App& app);
void add_generate(CLI::App& app);
void add_info(CLI::App& app);
void add_reproduce(CLI::App& app);
void add_train(CLI::App& app);

}  // namespace pgexplainer::cli
