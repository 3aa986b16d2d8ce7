// A node dataset as a CSV of edges and, beside it, a CSV of nodes; docs/formats.md lists the
// columns.
#pragma once

#include <filesystem>

#include "pgexplainer/datasets/dataset.h"

namespace pgexplainer {

/// Without a node file (an empty path) the nodes are 0 to the largest number in the edge file, all
/// with label 0 and the feature 1. Without a split column the split is 80/10/10 with seed 0.
Dataset read_edge_list(const std::filesystem::path& edges_csv,
                       const std::filesystem::path& nodes_csv = {});

/// Throws for a graph dataset: the format holds one graph.
void write_edge_list(const std::filesystem::path& edges_csv, const std::filesystem::path& nodes_csv,
                     const Dataset& dataset);

}  // namespace pgexplainer
