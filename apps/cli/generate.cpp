// pgexplainer generate NAME -o F.npz: a synthetic dataset of the paper with its ground truth.
#include <memory>

#include "apps/cli/cli.h"
#include "pgexplainer/datasets/ba_2motifs.h"
#include "pgexplainer/datasets/ba_community.h"
#include "pgexplainer/datasets/ba_shapes.h"
#include "pgexplainer/datasets/tree_cycles.h"
#include "pgexplainer/datasets/tree_grid.h"
#include "pgexplainer/io/dataset_npz.h"

namespace pgexplainer::cli {
namespace {

void save(const Dataset& dataset, const std::string& file, bool json) {
  write_dataset_npz(file, dataset);
  if (json)
    print_json({{"name", dataset.name},
                {"nodes", dataset.graph.num_nodes()},
                {"edges", dataset.graph.num_edges()},
                {"graphs", dataset.num_graphs()},
                {"classes", dataset.num_classes()},
                {"file", file}});
  else
    fmt::print(stderr, "{}: {} nodes, {} edges (both directions counted), {} classes, in {}\n",
               dataset.name, dataset.graph.num_nodes(), dataset.graph.num_edges(),
               dataset.num_classes(), file);
}

template <class Options>
void add_dataset(CLI::App& generate, const char* name, const char* help,
                 Dataset (*make)(const Options&, std::uint64_t)) {
  struct Arguments {
    std::string output;
    CommonOptions common;
    Options sizes;
  };
  CLI::App* verb = generate.add_subcommand(name, help);
  const auto arguments = std::make_shared<Arguments>();
  verb->add_option("-o,--output", arguments->output, "the .npz file to write")->required();
  add_common_options(*verb, arguments->common);
  add_option_fields(*verb, arguments->sizes);
  verb->callback([=] {
    save(make(arguments->sizes, arguments->common.seed), arguments->output, arguments->common.json);
  });
}

}  // namespace

void add_generate(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("generate", "make a synthetic dataset with ground truth");
  verb->require_subcommand(1);
  verb->footer(
      "pgexplainer generate NAME --help lists its sizes. Examples:\n"
      "  pgexplainer generate ba-shapes -o ba-shapes.npz --seed 1\n"
      "  pgexplainer generate tree-grid -o big.npz --tree-levels 18 --num-motifs 50000");
  add_dataset(*verb, "ba-shapes", "houses on a Barabasi-Albert graph", generate_ba_shapes);
  add_dataset(*verb, "ba-community", "two joined BA-Shapes graphs", generate_ba_community);
  add_dataset(*verb, "tree-cycles", "cycles on a binary tree", generate_tree_cycles);
  add_dataset(*verb, "tree-grid", "grids on a binary tree", generate_tree_grid);
  add_dataset(*verb, "ba-2motifs", "graphs with a house or a cycle", generate_ba_2motifs);
}

}  // namespace pgexplainer::cli
