// Models on disk: a .safetensors file with the weights under PyG's state_dict names; the metadata
// hold the format's version, the description of the layers (model/model_spec.h) and how the model
// was trained.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "pgexplainer/io/safetensors.h"
#include "pgexplainer/model/native_gnn.h"

namespace pgexplainer {

struct ModelFile {
  std::shared_ptr<NativeGnn<float>> model;
  nlohmann::json training;  ///< options, history, accuracies; null if unknown
};

/// Throws, naming the tensor, unless there is exactly one finite tensor of the right shape for
/// every parameter (num_batches_tracked is ignored).
std::shared_ptr<NativeGnn<float>> model_from_tensors(const ModelSpec& spec,
                                                     const std::map<std::string, Tensor>& tensors,
                                                     const std::string& where);

/// Whether the metadata name our format.
bool is_model(const Safetensors& content);
ModelFile read_model(const std::filesystem::path& path);
/// Weights saved elsewhere (safetensors of a PyG state_dict) for a network described by `spec`.
std::shared_ptr<NativeGnn<float>> read_model_weights(const std::filesystem::path& path,
                                                     const ModelSpec& spec);
void write_model(const std::filesystem::path& path, const NativeGnn<float>& model,
                 const nlohmann::json& training);

/// A description of layers in a JSON file; its in_channels, num_classes and task may be left out:
/// they are the data's.
ModelSpec read_model_spec(const std::filesystem::path& path, const Dataset& dataset);

/// A float tensor of this shape.
Tensor make_tensor(std::span<const float> values, std::vector<std::int64_t> shape);

}  // namespace pgexplainer
