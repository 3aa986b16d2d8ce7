// Explanations as JSON Lines, one object per instance and line; docs/formats.md lists the keys.
// Nothing is lost: floats are written with the digits that give them back exactly.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pgexplainer/io/explanation_writer.h"

namespace pgexplainer {

/// One explanation as its line, line end included. An ExplanationEncoder.
std::string explanation_json(const Explanation& explanation, const std::string& file);

/// Throws, naming file, line and key. Keys of other names are ignored.
std::vector<Explanation> read_explanations_json(const std::filesystem::path& path);

}  // namespace pgexplainer
