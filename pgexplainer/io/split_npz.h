// The split of a dataset as arrays: train_mask, val_mask, test_mask, and eval_nodes or eval_graphs.
// Part of a dataset .npz, and split.npz of a TU folder.
#pragma once

#include <map>
#include <string>

#include "pgexplainer/datasets/dataset.h"
#include "pgexplainer/io/npz.h"

namespace pgexplainer {

/// Fills the masks and eval_instances of a dataset whose graph and task are known. Without any mask
/// the split is 80/10/10 with seed 0; some masks but not all three is an error.
void read_split(const NpzArrays& arrays, Dataset& dataset);

/// Refers to the dataset, which must outlive the arrays.
std::map<std::string, NpyArray> split_arrays(const Dataset& dataset);

}  // namespace pgexplainer
