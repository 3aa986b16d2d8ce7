// Layers by their PyG names: {"type": "GCNConv", "name": "conv1", "out_channels": 20, ...}.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pgexplainer/nn/layer.h"

namespace pgexplainer {

/// Throws on an unknown type or key, naming `where`. `position` tells the dropout layers of a
/// network apart.
template <class T>
std::unique_ptr<Layer<T>> make_layer(const nlohmann::json& description, const std::string& where,
                                     Index in_channels, std::uint32_t position,
                                     ParameterLayout& layout);

/// Every type that make_layer knows.
std::vector<std::string> layer_types();

}  // namespace pgexplainer
