// The page and the main table of a reproduction, made from its results alone.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "pgexplainer/report/table.h"

namespace pgexplainer {

/// Among the methods of the results: PGExplainer as in the paper, without an order of the edges for
/// each instance. One pass of the explanation network.
inline constexpr const char* kNetworkAlone = "pgexplainer-network-alone";

/// AUC of every method, ours above the published value, then inference times and the speed-up.
Table main_table(const nlohmann::ordered_json& results);
/// One self-contained HTML page; pictures are read from their folder.
std::string reproduction_page(const nlohmann::ordered_json& results,
                              const std::filesystem::path& pictures);

}  // namespace pgexplainer
