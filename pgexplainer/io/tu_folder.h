// Folders in the text format of TUDataset (Morris et al., "TUDataset: a collection of benchmark
// datasets for learning with graphs", 2020); docs/formats.md lists the files.
#pragma once

#include <filesystem>

#include "pgexplainer/datasets/dataset.h"

namespace pgexplainer {

/// Labels are mapped to 0, 1, ... in sorted order; node and edge labels become one-hot columns,
/// attributes follow them; without either every node has the feature 1. Edges are grouped by
/// graph, otherwise in the order of the file. Without split.npz the split is 80/10/10 with seed 0.
/// Mutagenicity without a file of motif edges gets them from its atoms and bonds.
Dataset read_tu_folder(const std::filesystem::path& folder);

/// Writes a new folder. Throws for a node dataset and for edge weights: the format has no place.
void write_tu_folder(const std::filesystem::path& folder, const Dataset& dataset);

}  // namespace pgexplainer
