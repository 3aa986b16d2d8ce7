// What the parts of the Python module share: options and reports cross the border as JSON, arrays
// as NumPy views of the library's own memory.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <nlohmann/json.hpp>
#include <span>
#include <vector>

namespace pgexplainer::python {

namespace py = pybind11;

/// None, bool, numbers, text, lists, tuples and dicts, also NumPy's. Throws for other objects.
nlohmann::json to_json(py::handle object);
py::object to_python(const nlohmann::ordered_json& json);

/// A read-only view of memory that `owner` keeps alive.
template <class T>
py::array view(std::span<const T> values, std::vector<py::ssize_t> shape, py::handle owner) {
  if (values.empty()) return py::array_t<T>(shape);
  py::array_t<T> array(std::move(shape), values.data(), owner);
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}
template <class T>
py::array view(const std::vector<T>& values, py::handle owner) {
  return view(std::span<const T>(values), {static_cast<py::ssize_t>(values.size())}, owner);
}
/// Zeros and ones, as booleans.
inline py::array bool_view(const std::vector<std::uint8_t>& values, py::handle owner) {
  static_assert(sizeof(bool) == 1);
  return view(std::span(reinterpret_cast<const bool*>(values.data()), values.size()),
              {static_cast<py::ssize_t>(values.size())}, owner);
}

/// Hands memory over to an array.
template <class Container>
py::array_t<typename Container::value_type> take(Container&& values,
                                                 std::vector<py::ssize_t> shape) {
  auto* owned = new Container(std::forward<Container>(values));
  const py::capsule owner(owned, [](void* memory) { delete static_cast<Container*>(memory); });
  return py::array_t<typename Container::value_type>(std::move(shape), owned->data(), owner);
}

void bind_data(py::module_& module);
void bind_model(py::module_& module);
void bind_explanation(py::module_& module);
void bind_explain(py::module_& module);
void bind_metrics(py::module_& module);

}  // namespace pgexplainer::python
