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

/// From this many edges on, a node dataset keeps what is derived from its graph (Graph::Derived)
/// in the file, to be mapped instead of sorted. Smaller ones stay what they were.
inline constexpr EdgeId kKeepGraphFrom = 1'000'000;
void write_dataset_npz(const std::filesystem::path& path, const Dataset& dataset,
                       EdgeId keep_graph_from = kKeepGraphFrom);

/// Whether the graph of such a file is mapped, not copied. When another program has written the
/// file again, kept arrays may not belong to its edges any more; they are not used then.
bool has_mapped_graph(const NpzArrays& arrays);

}  // namespace pgexplainer
