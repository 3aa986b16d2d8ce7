#include "apps/cli/cli.h"

namespace pgexplainer::cli {

void add_common_options(CLI::App& verb, CommonOptions& common) {
  verb.add_flag("--json", common.json, "print one JSON object on stdout");
  verb.add_option("--seed", common.seed, "same seed, same result")
      ->check([](const std::string& text) {  // CLI11 would wrap -1 round
        return text.starts_with('-') ? fmt::format("{} is negative", text) : std::string();
      })
      ->option_text(fmt::format("(default {})", common.seed));
  verb.add_option("--threads", common.threads, "threads; the result does not depend on them")
      ->check(CLI::Range(0, 4096))
      ->option_text("(default 0: one per core)");
}

void print_json(const nlohmann::ordered_json& object) { fmt::print("{}\n", object.dump()); }

}  // namespace pgexplainer::cli
