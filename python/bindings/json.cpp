#include "pgexplainer/core/error.h"
#include "python/bindings/bindings.h"

namespace pgexplainer::python {

nlohmann::json to_json(py::handle object) {
  if (object.is_none()) return nullptr;
  if (py::isinstance<py::bool_>(object)) return object.cast<bool>();
  if (py::isinstance<py::int_>(object)) {
    try {
      return object.cast<std::int64_t>();
    } catch (const py::cast_error&) {
      return object.cast<double>();  // too large for any option, as the bounds will say
    }
  }
  if (py::isinstance<py::float_>(object)) return object.cast<double>();
  if (py::isinstance<py::str>(object)) return object.cast<std::string>();
  if (py::isinstance<py::dict>(object)) {
    nlohmann::json json = nlohmann::json::object();
    for (const auto& item : py::reinterpret_borrow<py::dict>(object)) {
      const auto key = py::str(item.first).cast<std::string>();
      try {
        json[key] = to_json(item.second);
      } catch (const Error& error) {
        throw_bad_input("{}: {}", key, error.what());
      }
    }
    return json;
  }
  if (py::isinstance<py::list>(object) || py::isinstance<py::tuple>(object)) {
    nlohmann::json json = nlohmann::json::array();
    for (const py::handle item : object) json.push_back(to_json(item));
    return json;
  }
  if (py::hasattr(object, "tolist")) return to_json(object.attr("tolist")());  // NumPy, torch
  throw_bad_input("{} is not a number, a text, a list or a dict",
                  py::repr(object).cast<std::string>());
}

py::object to_python(const nlohmann::ordered_json& json) {
  switch (json.type()) {
    case nlohmann::ordered_json::value_t::boolean:
      return py::bool_(json.get<bool>());
    case nlohmann::ordered_json::value_t::number_integer:
      return py::int_(json.get<std::int64_t>());
    case nlohmann::ordered_json::value_t::number_unsigned:
      return py::int_(json.get<std::uint64_t>());
    case nlohmann::ordered_json::value_t::number_float:
      return py::float_(json.get<double>());
    case nlohmann::ordered_json::value_t::string:
      return py::str(json.get_ref<const std::string&>());
    case nlohmann::ordered_json::value_t::array: {
      py::list list;
      for (const auto& item : json) list.append(to_python(item));
      return list;
    }
    case nlohmann::ordered_json::value_t::object: {
      py::dict dict;
      for (const auto& item : json.items()) dict[py::str(item.key())] = to_python(item.value());
      return dict;
    }
    default:
      return py::none();
  }
}

}  // namespace pgexplainer::python
