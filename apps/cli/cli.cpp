#include "apps/cli/cli.h"

#include <sched.h>
#include <unistd.h>

#include <array>
#include <thread>

namespace pgexplainer::cli {
namespace {

OneProcess alone;
Communicator* ranks = &alone;

}  // namespace

Communicator& communicator() { return *ranks; }

void set_communicator(Communicator& job) { ranks = &job; }

int num_threads(const CommonOptions& common) {
  if (common.threads > 0 || ranks->size() == 1) return common.threads;
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const std::vector<std::string> hosts = ranks->all_gather(host.data());
  const auto neighbours = std::count(hosts.begin(), hosts.end(), host.data());
  const auto share = static_cast<int>(std::thread::hardware_concurrency() / neighbours);
  // More threads than the launcher gave this process cores would only wait for each other.
  cpu_set_t cores;
  const int given = sched_getaffinity(0, sizeof(cores), &cores) == 0 ? CPU_COUNT(&cores) : share;
  return std::max(1, std::min(share, given));
}

void add_common_options(CLI::App& verb, CommonOptions& common) {
  verb.add_flag("--json", common.json, "print one JSON object on stdout");
  verb.add_option("--seed", common.seed, "same seed, same result")
      ->check([](const std::string& text) {  // CLI11 would wrap -1 round
        return text.starts_with('-') ? fmt::format("{} is negative", text) : std::string();
      })
      ->option_text(fmt::format("(default {})", common.seed));
  verb.add_option("--threads", common.threads, "threads; the result does not depend on them")
      ->check(CLI::Range(0, 4096))
      ->option_text(
          "(default 0: one per core; under mpirun the cores divided by the ranks of a machine)");
}

void print_json(const nlohmann::ordered_json& object) { fmt::print("{}\n", object.dump()); }

}  // namespace pgexplainer::cli
