#include <typeinfo>

#include "assay/error.h"
#include "convert.h"

namespace assay::python {
namespace {

constexpr const char* kCodes[] = {"usage", "io", "parse", "unsupported", "shape", "backend", "limit", "cancelled"};

// Errors keep what they say beside their line, as attributes.
void translate(const std::exception_ptr& thrown, void* type) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const nb::object made = nb::handle(static_cast<PyObject*>(type))(error.line());
    made.attr("code") = kCodes[static_cast<size_t>(error.code())];
    made.attr("setting") = error.setting();
    made.attr("remedy") = error.remedy();
    PyErr_SetObject(static_cast<PyObject*>(type), made.ptr());
  }
}

// Where a value is taken out of a Python object of another type, or out of text that UTF-8 cannot hold.
void translate_cast(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_cast&) {
    PyErr_SetString(PyExc_TypeError, "a value has another type than expected here, or is text that is not UTF-8");
  }
}

}  // namespace
}  // namespace assay::python

NB_MODULE(_native, module) {  // NOLINT
  using namespace assay::python;
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
    throw nb::import_error("assay works in the main interpreter only, not in a sub-interpreter");
  }
  forget_threads_in_children();
  nb::set_leak_warnings(false);  // what a script holds to its end is no news
  module.attr("__version__") = ASSAY_VERSION;
  PyObject* const error = PyErr_NewException("assay.exception.PolygraphyException", PyExc_Exception, nullptr);
  module.attr("Error") = nb::steal(error);
  nb::register_exception_translator(translate, error);
  nb::register_exception_translator(translate_cast);
  bind_arrays(module);
  bind_models(module);
  bind_edits(module);
  bind_graphs(module);
  bind_backends(module);
  bind_sessions(module);
  bind_compare(module);
  bind_memory(module);
}
