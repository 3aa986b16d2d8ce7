// Options to and from JSON, by the same list of fields as the command line. Unknown keys are
// errors.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "pgexplainer/core/option_fields.h"

namespace pgexplainer {

template <class Options>
nlohmann::json options_to_json(const Options& options) {
  nlohmann::json json = nlohmann::json::object();
  Options::fields([&](std::string_view name, auto member, Bounds, std::string_view) {
    json[std::string(name)] = options.*member;
  });
  return json;
}

/// The list of fields itself, for front ends: name, default, low, high (of numbers) and help.
template <class Options>
nlohmann::ordered_json option_fields_to_json() {
  const Options options;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  Options::fields([&](std::string_view name, auto member, Bounds bounds, std::string_view help) {
    using Value = std::remove_cvref_t<decltype(options.*member)>;
    nlohmann::ordered_json field = {{"name", name}, {"default", options.*member}, {"help", help}};
    if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>)
      field.update({{"low", bounds.low}, {"high", bounds.high}});
    list.push_back(field);
  });
  return list;
}

/// `where` names the object in errors; keys in `also_known` are left to the caller.
template <class Options>
Options options_from_json(const nlohmann::json& json, const std::string& where,
                          const std::vector<std::string>& also_known = {}) {
  Options options;
  std::vector<std::string> known = also_known;
  Options::fields([&](std::string_view name, auto member, Bounds, std::string_view) {
    known.emplace_back(name);
    const auto found = json.find(name);
    if (found == json.end()) return;
    using Value = std::remove_cvref_t<decltype(options.*member)>;
    const bool fits = std::is_same_v<Value, bool>       ? found->is_boolean()
                      : std::is_integral_v<Value>       ? found->is_number_integer()
                      : std::is_floating_point_v<Value> ? found->is_number()
                                                        : found->is_string() || found->is_array();
    try {
      if (!fits) throw nlohmann::json::type_error::create(302, "", nullptr);
      options.*member = found->template get<Value>();
    } catch (const nlohmann::json::exception&) {
      throw_bad_input("{}: '{}' is {}, which is not of the expected kind", where, name,
                      found->dump());
    }
  });
  for (const auto& item : json.items())
    if (std::find(known.begin(), known.end(), item.key()) == known.end())
      throw_bad_input("{}: unknown key '{}'; known are {}", where, item.key(),
                      fmt::join(known, ", "));
  try {
    check_option_fields(options);
  } catch (const Error& error) {
    throw_bad_input("{}: {}", where, error.what());
  }
  return options;
}

}  // namespace pgexplainer
