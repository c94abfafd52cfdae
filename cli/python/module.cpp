// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cmath>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "base/cancellation.hpp"
#include "base/document/notes.hpp"
#include "base/document/problems.hpp"
#include "cli/program/usage.hpp"
#include "cli/provenance/version.hpp"
#include "cli/python/bindings.hpp"
#include "cli/python/running.hpp"

namespace py = pybind11;

namespace roofcast::cli::python {
namespace {

// roofcast.Error(text, [(file, line, column, path, message, excerpt), ...])
void set_error(const base::InputError& error) {
  py::list problems;
  for (const base::Problem& p : error.problems()) {
    problems.append(py::make_tuple(p.file, p.line, p.column, p.path, p.message, p.excerpt));
  }
  const py::object type = py::module_::import("roofcast").attr("Error");
  PyErr_SetObject(type.ptr(), type(std::string(error.what()), problems).ptr());
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) {
      std::rethrow_exception(thrown);
    }
  } catch (const base::InputError& error) {
    set_error(error);
  } catch (const base::Cancelled&) {  // by Ctrl-C it is another exception
    PyErr_SetString(PyExc_RuntimeError, "roofcast: the interpreter ends");
  }
}

}  // namespace

py::object python_of(const nlohmann::ordered_json& json) {
  if (json.is_object()) {
    py::dict all;
    for (const auto& [key, value] : json.items()) {
      all[py::str(key)] = python_of(value);
    }
    return all;
  }
  if (json.is_array()) {
    py::list all;
    for (const auto& value : json) {
      all.append(python_of(value));
    }
    return all;
  }
  if (json.is_string()) {
    return py::str(json.get_ref<const std::string&>());
  }
  if (json.is_boolean()) {
    return py::bool_(json.get<bool>());
  }
  if (json.is_number_integer()) {
    return py::int_(json.get<std::int64_t>());
  }
  if (json.is_number_float() && std::isfinite(json.get<double>())) {
    return py::float_(json.get<double>());
  }
  return py::none();
}

}  // namespace roofcast::cli::python

PYBIND11_MODULE(_native, module) {
  using namespace roofcast;
  py::register_exception_translator(cli::python::translate);
  module.def("version", cli::version);
  module.attr("most_threads") = cli::kMostThreads;
  module.def("take_notes", base::take_notes);
  module.def("end_all", cli::python::end_all);
  cli::python::bind_documents(module);
  cli::python::bind_estimates(module);
  cli::python::bind_sweeps(module);
  cli::python::bind_answers(module);
}
