// Explanations as CSV, one line per edge, for spreadsheets and data frames. Holds the edges, their
// scores and the selection alone; docs/formats.md lists the columns.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "pgexplainer/io/explanation_writer.h"

namespace pgexplainer {

/// The lines of one explanation. An ExplanationEncoder.
std::string explanation_csv(const Explanation& explanation, const std::string& file);

/// Writes the header first.
std::unique_ptr<ExplanationWriter> new_explanation_csv_writer(const std::filesystem::path& path,
                                                              WriterJob job);

/// An instance without edges has no line and is not read back; nodes, targets, predictions and
/// feature scores are empty. Throws, naming file, line and column; the lines of an instance must
/// stand together.
std::vector<Explanation> read_explanations_csv(const std::filesystem::path& path);

}  // namespace pgexplainer
