// SPDX-License-Identifier: Apache-2.0
//
// The parts of the module roofcast._native, which the package cli/python/roofcast makes Python of. Whatever takes long
// runs without the interpreter's lock.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/document/node.hpp"

namespace pybind11 {
class module_;
class object;
}  // namespace pybind11

namespace roofcast::cli::python {

// A scenario, sweep or roadmap, or a part of one; references not yet loaded.
struct Document {
  base::Node node;
};

// Numbers that are not finite become None.
pybind11::object python_of(const nlohmann::ordered_json& json);
// A scalar that is no number, true or false is a text: "3.35 TB/s".
pybind11::object python_of(const base::Node& node);

void bind_documents(pybind11::module_& module);
void bind_estimates(pybind11::module_& module);
void bind_sweeps(pybind11::module_& module);
void bind_answers(pybind11::module_& module);

}  // namespace roofcast::cli::python
