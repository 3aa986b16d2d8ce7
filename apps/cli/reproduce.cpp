// pgexplainer reproduce: the paper's tables and figures in one command.
#include "apps/cli/cli.h"
#include "apps/cli/explaining.h"
#include "apps/cli/progress_bar.h"
#include "pgexplainer/report/reproduction.h"

namespace pgexplainer::cli {
namespace {

struct Arguments {
  std::string output, data_dir;
  std::vector<std::string> datasets;
  bool quick = false;
  CommonOptions common;
};

void reproduce_verb(const Arguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  ReproductionOptions options;
  options.output = arguments.output;
  options.data_dir = arguments.data_dir;
  options.datasets = arguments.datasets;
  options.quick = arguments.quick;
  options.seed = arguments.common.seed;
  options.threads = arguments.common.threads;
  options.version = "pgexplainer " PGEXPLAINER_VERSION ", commit " PGEXPLAINER_COMMIT;
  if (!arguments.data_dir.empty() && !std::filesystem::is_directory(arguments.data_dir))
    throw_bad_input("--data-dir {} is not a folder", arguments.data_dir);
  ReproductionResult result;
  {
    ProgressBar bar("reproducing");
    result = reproduce(options, bar.callback());
  }
  for (const std::string& line : result.skipped) fmt::print(stderr, "{}\n", line);
  if (arguments.common.json)
    print_json(result.results);
  else
    fmt::print("{}", result.summary);
  fmt::print(stderr, "{:.0f} s; open {}/index.html\n", seconds_since(start), arguments.output);
}

}  // namespace

void add_reproduce(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("reproduce", "every table and figure of the paper, as one page");
  verb->add_option("-o,--output", arguments->output, "the folder to write")->required();
  verb->add_option("--data-dir", arguments->data_dir,
                   "a folder with the datasets (ba-shapes.npz, ..., mutagenicity/); without it the "
                   "synthetic ones are generated");
  verb->add_option("--datasets", arguments->datasets, "only these")->delimiter(',');
  verb->add_flag("--quick", arguments->quick, "a small version, in under two minutes");
  add_common_options(*verb, arguments->common);
  verb->footer(
      "A run that was interrupted goes on when the command is repeated. Examples:\n"
      "  pgexplainer reproduce --quick -o report/\n"
      "  pgexplainer reproduce --data-dir data/ -o report/");
  verb->callback([=] { reproduce_verb(*arguments); });
}

}  // namespace pgexplainer::cli
