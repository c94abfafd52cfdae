// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/document/catalog.hpp"
#include "base/document/problems.hpp"
#include "cli/catalog/catalogs.hpp"
#include "cli/python/bindings.hpp"
#include "cli/text/scenario_text.hpp"
#include "sim/scenario/named_files.hpp"
#include "sim/scenario/references.hpp"

namespace py = pybind11;

namespace roofcast::cli::python {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// 010 is a text, whose meaning nobody may guess.
bool begins_as_number(std::string_view text) {
  text.remove_prefix(text.starts_with('-') ? 1 : 0);
  return !text.empty() && is_digit(text[0]) &&
         !(text.size() > 1 && text[0] == '0' && is_digit(text[1]));
}

py::object number_or_text(const std::string& text) {
  const char* const end = text.data() + text.size();
  if (begins_as_number(text)) {
    if (std::all_of(text.begin() + 1, text.end(), is_digit)) {
      return py::int_(py::str(text));
    }
    double number = 0.0;
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc{} && rest == end) {
      return py::float_(number);
    }
  }
  return py::str(text);
}

py::object scalar(const base::Node& node) {
  if (node.quoted) {
    return py::str(node.text);
  }
  if (node.text == "true" || node.text == "false") {
    return py::bool_(node.text == "true");
  }
  return number_or_text(node.text);
}

// A copy that reads the same files wherever it is written.
base::Node anywhere(const Document& d) {
  base::Node node = d.node;
  sim::make_paths_absolute(node, "");
  return node;
}

// A copy of a document, also in another process: its text, its name and where its paths start.
py::tuple state_of(const Document& d) {
  const auto& source = d.node.place.source;
  return py::make_tuple(
      base::to_yaml(anywhere(d)), source == nullptr ? "" : source->name,
      (std::filesystem::current_path() / (source == nullptr ? "" : source->directory)).string());
}

Document restored(const py::tuple& state) {
  return {base::parse_document(std::make_shared<const base::Source>(base::Source{
      state[1].cast<std::string>(), state[0].cast<std::string>(), state[2].cast<std::string>()}))};
}

// What is at a path, through references. Throws InputError.
base::Node at(const base::Node& document, const std::string& path) {
  if (const base::Node* written = document.find_path(path)) {
    return *written;
  }
  base::Node loaded = document;
  base::Problems problems;
  sim::load_references(loaded, problems);
  problems.throw_if_any();
  const base::Node* found = loaded.find_path(path);
  if (found == nullptr) {
    problems.add({}, path, "the scenario says nothing of this");
    problems.throw_if_any();
  }
  return *found;
}

base::Node entry(const std::string& kind, const std::string& id, bool whole) {
  const DocumentKind& known = kind_named(kind);
  base::Node document = base::load_entry(known.catalog(), id);
  const bool resolves = !known.place.empty() && (whole || known.catalog().is_foreign(document));
  return resolves ? resolved(document, known.place) : document;
}

}  // namespace

py::object python_of(const base::Node& node) {
  switch (node.kind) {
    case base::Node::Kind::null:
      break;
    case base::Node::Kind::scalar:
      return scalar(node);
    case base::Node::Kind::sequence: {
      py::list all;
      for (const base::Node& item : node.items) {
        all.append(python_of(item));
      }
      return all;
    }
    case base::Node::Kind::map: {
      py::dict all;
      for (const base::Entry& e : node.entries) {
        all[py::str(e.key)] = python_of(e.value);
      }
      return all;
    }
  }
  return py::none();
}

void bind_documents(py::module_& module) {
  py::class_<Document>(module, "Document")
      .def_static("load",
                  [](const std::string& file) { return Document{base::load_document(file)}; })
      .def_static("parse",
                  [](const std::string& text, const std::string& name) {
                    return Document{base::parse_document(name, text)};
                  })
      .def("overridden",
           [](Document d, const std::vector<std::string>& set) {
             base::Problems problems;
             set_knobs(d.node, set, problems);
             problems.throw_if_any();
             return d;
           })
      .def("with_part",
           [](Document d, const std::string& key, const Document& part) {
             d.node[key] = part.node;
             return d;
           })
      .def("get",
           [](const Document& d, const std::string& path) { return python_of(at(d.node, path)); })
      .def("python", [](const Document& d) { return python_of(anywhere(d)); })
      .def("yaml", [](const Document& d) { return base::to_yaml(anywhere(d)); })
      .def(py::pickle([](const Document& d) { return state_of(d); },
                      [](const py::tuple& state) { return restored(state); }));
  module.def("entry", [](const std::string& kind, const std::string& id, bool whole) {
    return Document{entry(kind, id, whole)};
  });
  module.def("ids",
             [](const std::string& kind) { return base::catalog_ids(kind_named(kind).catalog()); });
  module.def("kinds", kind_names);
  module.def("use_catalog", base::use_user_catalog);
}

}  // namespace roofcast::cli::python
