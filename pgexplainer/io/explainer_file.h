// Fitted explainers on disk: one .safetensors file with the explanation network's weights and, as
// JSON in the metadata, everything else that explaining needs. A loaded explainer gives the same
// bits as the one that was saved.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "pgexplainer/explain/pg_explainer.h"
#include "pgexplainer/io/safetensors.h"

namespace pgexplainer {

struct ExplainerFile {
  std::unique_ptr<PGExplainer> explainer;
  nlohmann::json fit;  ///< dataset, instances, loss, warnings; null if unknown
};

/// Whether the metadata name our format.
bool is_explainer(const Safetensors& content);
/// Throws, naming the file and the tensor or key, unless everything is there and finite.
ExplainerFile read_explainer(const std::filesystem::path& path);
void write_explainer(const std::filesystem::path& path, const PGExplainer& explainer,
                     const nlohmann::json& fit);

}  // namespace pgexplainer
