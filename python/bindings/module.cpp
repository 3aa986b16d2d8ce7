// The compiled half of the Python package. The other half (python/pgexplainer) gives it the
// manners of Python; nothing else should import it.
#include "pgexplainer/core/error.h"
#include "python/bindings/bindings.h"

namespace pgexplainer::python {
namespace {

PyObject* new_exception(py::module_& module, const char* name, PyObject* base, const char* doc) {
  const std::string qualified = std::string("pgexplainer.") + name;
  PyObject* type = PyErr_NewExceptionWithDoc(qualified.c_str(), doc, base, nullptr);
  module.add_object(name, type);
  return type;
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  static PyObject* bad_input = new_exception(
      module, "Error", PyExc_ValueError, "What was given cannot be used; the message says why.");
  static PyObject* failed =
      new_exception(module, "Failed", PyExc_RuntimeError, "The machine could not do the work.");
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& error) {
      PyErr_SetString(error.kind() == Error::Kind::bad_input ? bad_input : failed, error.what());
    }
  });
  module.attr("__version__") = PGEXPLAINER_VERSION;
  bind_data(module);
  bind_model(module);
  bind_explanation(module);
  bind_explain(module);
  bind_metrics(module);
}

}  // namespace pgexplainer::python
