// A dataset as one .npz file; docs/formats.md lists the arrays.
#pragma once

#include <filesystem>

#include "pgexplainer/datasets/dataset.h"
#include "pgexplainer/io/npz.h"

namespace pgexplainer {

/// The name of the dataset is that of the file. Without masks the split is 80/10/10 with seed 0;
/// arrays of other names are ignored. Throws, naming file and array, if the data are not valid.
Dataset read_dataset_npz(const std::filesystem::path& path);
Dataset dataset_from_arrays(const NpzArrays& arrays);

void write_dataset_npz(const std::filesystem::path& path, const Dataset& dataset);

}  // namespace pgexplainer
