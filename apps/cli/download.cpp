// pgexplainer download NAME -o DIR: a public dataset, verified and unpacked.
#include <memory>

#include "apps/cli/cli.h"
#include "apps/cli/progress_bar.h"
#include "pgexplainer/io/dataset_file.h"
#include "pgexplainer/io/public_dataset.h"

namespace pgexplainer::cli {
namespace {

struct Arguments {
  std::string name, folder, url;
  DownloadOptions download;
  CommonOptions common;
};

void download(const Arguments& arguments) {
  const auto result = [&] {
    ProgressBar bar(arguments.name);
    return fetch_public_dataset(arguments.name, arguments.folder, arguments.url, arguments.download,
                                bar.callback());
  }();
  const Dataset dataset = read_dataset(arguments.folder);
  if (arguments.common.json)
    print_json({{"name", dataset.name},
                {"graphs", dataset.num_graphs()},
                {"nodes", dataset.graph.num_nodes()},
                {"edges", dataset.graph.num_edges()},
                {"folder", arguments.folder},
                {"url", result.url},
                {"was_there", result.was_there}});
  else
    fmt::print(stderr, "{}: {} graphs with {} nodes and {} edges, {} in {}\n", dataset.name,
               dataset.num_graphs(), dataset.graph.num_nodes(), dataset.graph.num_edges(),
               result.was_there ? "already there and intact" : "verified and unpacked",
               arguments.folder);
}

}  // namespace

void add_download(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("download", "fetch a public dataset");
  verb->add_option("NAME", arguments->name, "mutagenicity")->required();
  verb->add_option("-o,--output", arguments->folder, "the folder to create")->required();
  verb->add_option("--url", arguments->url, "another address of the archive (http or https)");
  verb->add_option("--sha256", arguments->download.sha256,
                   "the archive must have this SHA-256; its files are then not compared with the "
                   "contents this version knows");
  verb->add_option("--retries", arguments->download.retries, "after a broken connection")
      ->check(CLI::Range(0, 100))
      ->option_text(fmt::format("(default {})", arguments->download.retries));
  add_common_options(*verb, arguments->common);
  verb->footer(
      "An interrupted download goes on where it stopped. Example:\n"
      "  pgexplainer download mutagenicity -o mutagenicity");
  verb->callback([=] { download(*arguments); });
}

}  // namespace pgexplainer::cli
