// Explanations in the format that the name of the file asks for.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "pgexplainer/io/explanation_writer.h"

namespace pgexplainer {

/// .jsonl or .json: JSON Lines, everything; .npz: arrays, everything; .csv: edges and scores alone.
/// Throws for other names.
std::unique_ptr<ExplanationWriter> new_explanation_writer(const std::filesystem::path& path,
                                                          WriterJob job = {});

/// What write() of that writer encodes with.
ExplanationEncoder explanation_encoder(const std::filesystem::path& path);

/// The same choice by name.
std::vector<Explanation> read_explanations(const std::filesystem::path& path);

}  // namespace pgexplainer
