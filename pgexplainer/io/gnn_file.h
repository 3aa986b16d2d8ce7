// A trained network from a file, whoever runs it: ours (.safetensors, io/model_file.h) or libtorch
// (TorchScript, torch/torch_script_gnn.h), told apart by the content.
#pragma once

#include <filesystem>
#include <memory>

#include "pgexplainer/model/gnn.h"
#include "pgexplainer/torch/torch_script_gnn.h"

namespace pgexplainer {

/// A TorchScript module is tried on the dataset. Throws if the file is neither kind, or if it is
/// TorchScript and the plug-in that runs it is not installed.
std::shared_ptr<const Gnn> read_gnn(const std::filesystem::path& path, const Dataset& dataset);

/// Whether the file holds a TorchScript module. Throws, and says how to save the module, if it is
/// not TorchScript but something else of PyTorch's, its weights for example.
bool is_torch_script(const std::filesystem::path& path);
TorchScriptInfo read_torch_script_info(const std::filesystem::path& path);

}  // namespace pgexplainer
