// Explanations as one .npz, the lists of all instances end to end with pointers to where each
// begins; docs/formats.md lists the arrays.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "pgexplainer/io/explanation_writer.h"

namespace pgexplainer {

/// One explanation as it lies on the disk until commit(). An ExplanationEncoder.
std::string explanation_record(const Explanation& explanation, const std::string& file);

/// Before commit() the explanations are on the disk; commit() collects the arrays in memory, some
/// 70 bytes per edge, as the format states their lengths first. It throws if instances differ in
/// their number of classes or explained features.
std::unique_ptr<ExplanationWriter> new_explanation_npz_writer(const std::filesystem::path& path,
                                                              WriterJob job);

/// Throws, naming file and array. Arrays of other names are ignored.
std::vector<Explanation> read_explanations_npz(const std::filesystem::path& path);

}  // namespace pgexplainer
