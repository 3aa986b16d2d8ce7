#include "apps/cli/cli.h"

namespace pgexplainer::cli {

void add_common_options(CLI::App& verb, CommonOptions& common) {
  verb.add_flag("--json", common.json, "print one JSON object on stdout");
  verb.add_option("--seed", common.seed, "same seed, same result")
      ->check(CLI::NonNegativeNumber)
      ->option_text(fmt::format("(default {})", common.seed));
  verb.add_option("--threads", common.threads, "threads; the result does not depend on them")
      ->check(CLI::Range(0, 4096))
      ->option_text("(default 0: one per core)");
}

void print_json(const nlohmann::ordered_json& object) { fmt::print("{}\n", object.dump()); }

}  // namespace pgexplainer::cli
