// Explanation methods by name: one line per method in methods.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "pgexplainer/explain/explainer.h"

namespace pgexplainer {

/// The names --method takes.
std::vector<std::string> method_names();

/// Options are those of the method, by the names of its fields (null = defaults). Throws on an
/// unknown method, listing the known ones, and on unknown options.
std::unique_ptr<Explainer> make_explainer(std::string_view method, std::uint64_t seed,
                                          const nlohmann::json& options = nullptr);

/// The options of a method, as option_fields_to_json lists them.
nlohmann::ordered_json method_option_fields(std::string_view method);

}  // namespace pgexplainer
