// The paper in one run: every table and figure with our numbers beside the published ones.
//
// Work is done in steps, one JSON file each under OUT/steps; a step whose settings and data are
// unchanged is not repeated, so an interrupted run goes on where it stopped.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pgexplainer/core/progress.h"

namespace pgexplainer {

struct ReproductionOptions {
  std::filesystem::path output;
  std::filesystem::path data_dir;  ///< empty: the synthetic datasets are generated
  bool quick = false;
  std::vector<std::string> datasets;  ///< empty = all
  std::uint64_t seed = 0;
  int threads = 0;
  std::string version;  ///< of the program, for the page
};

struct ReproductionResult {
  nlohmann::ordered_json results;    ///< what results.json holds
  std::string summary;               ///< the main table as text
  std::vector<std::string> skipped;  ///< datasets that are not there, and how to get them
};

/// Writes index.html, results.json, main_table.csv and the pictures into the output folder.
ReproductionResult reproduce(const ReproductionOptions& options, const Progress& progress);

}  // namespace pgexplainer
