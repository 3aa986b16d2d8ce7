// Explanations as JSON Lines, one object per instance and line; docs/formats.md lists the keys.
// Nothing is lost: floats are written with the digits that give them back exactly.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "pgexplainer/io/explanation_writer.h"

namespace pgexplainer {

/// Holds at most one explanation and about a megabyte of text in memory.
std::unique_ptr<ExplanationWriter> new_explanation_json_writer(const std::filesystem::path& path);

/// One explanation as its line, without the line end.
std::string explanation_json(const Explanation& explanation);

/// Throws, naming file, line and key. Keys of other names are ignored.
std::vector<Explanation> read_explanations_json(const std::filesystem::path& path);

}  // namespace pgexplainer
