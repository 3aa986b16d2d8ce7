// Networks by a word: --arch paper, gcn, sage, gin, ...
#pragma once

#include <string>
#include <vector>

#include "pgexplainer/core/option_fields.h"
#include "pgexplainer/model/model_spec.h"

namespace pgexplainer {

struct ArchitectureOptions {
  std::string arch = "paper";
  std::vector<std::int64_t> hidden = {20, 20, 20};
  std::vector<std::string> pool = {"max"};
  std::string jk;
  std::string norm = "none";
  double dropout = 0.0;
  std::int64_t heads = 1;

  template <class Visitor>
  static void fields(Visitor&& field) {
    field("arch", &ArchitectureOptions::arch, Bounds{},
          "paper, gcn, sum, graph, sage, gin, gine, gat, gatv2, transformer, or a JSON file that "
          "describes the layers");
    field("hidden", &ArchitectureOptions::hidden, Bounds{1, 65536},
          "width of each message-passing layer");
    field("pool", &ArchitectureOptions::pool, Bounds{},
          "graph task: any of max, mean, add, concatenated");
    field("jk", &ArchitectureOptions::jk, Bounds{},
          "cat: the classifier reads all layers; max: their largest entries; last: the last one "
          "(default: cat for paper on nodes, else last)");
    field("norm", &ArchitectureOptions::norm, Bounds{}, "after each layer: none, batch, layer, l2");
    field("dropout", &ArchitectureOptions::dropout, Bounds{0, 0.95}, "before the classifier");
    field("heads", &ArchitectureOptions::heads, Bounds{1, 1024}, "attention heads, averaged");
  }
};

/// The network of these options for this data. `arch` is one of the words above, not a file.
///
/// "paper" is the network of Appendix B as the authors' code builds it: three layers ReLU(l2norm(A
/// h W + b)) with the raw adjacency; for nodes an affine batch norm, shared, after layers 1 and 2,
/// and a classifier on all three layers; for graphs neither, and max pooling.
ModelSpec make_architecture(const ArchitectureOptions& options, const Dataset& dataset);

}  // namespace pgexplainer
