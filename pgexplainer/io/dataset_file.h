// A dataset in whatever format is there: .npz, a TU folder, or .csv.
#pragma once

#include <filesystem>

#include "pgexplainer/datasets/dataset.h"

namespace pgexplainer {

/// A folder is read as TU text files, NAME.npz as arrays, NAME.csv as an edge list with the node
/// file NAME.nodes.csv if there is one.
Dataset read_dataset(const std::filesystem::path& path);

/// The same choice by name; a name without an ending becomes a TU folder.
void write_dataset(const std::filesystem::path& path, const Dataset& dataset);

}  // namespace pgexplainer
