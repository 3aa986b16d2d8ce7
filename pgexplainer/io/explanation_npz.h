// Explanations as one .npz, the lists of all instances end to end with pointers to where each
// begins; docs/formats.md lists the arrays.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "pgexplainer/io/explanation_writer.h"

namespace pgexplainer {

/// Collects the arrays in memory, about 21 bytes per edge, until commit(): the format states their
/// lengths first. Throws if instances differ in their number of classes or explained features.
std::unique_ptr<ExplanationWriter> new_explanation_npz_writer(const std::filesystem::path& path);

/// Throws, naming file and array. Arrays of other names are ignored.
std::vector<Explanation> read_explanations_npz(const std::filesystem::path& path);

}  // namespace pgexplainer
