// SPDX-License-Identifier: Apache-2.0
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/python/bindings.hpp"
#include "cli/python/running.hpp"
#include "sim/confirm/replayed_rows.hpp"
#include "sim/decide/shown_columns.hpp"
#include "sim/decide/sweep_points.hpp"
#include "sim/decide/sweep_run.hpp"

namespace py = pybind11;

namespace roofcast::cli::python {
namespace {

enum class Replays { none, recommended, all };

struct SweepRun {
  sim::SweepPoints points;
  sim::ResultTable table;
  sim::ReplayedRows replays;
};

// As `roofcast sweep` does it, but for files.
std::shared_ptr<SweepRun> swept(const Document& document, unsigned threads, Replays replays) {
  sim::SweepPoints points(sim::read_sweep(document.node));
  std::vector<sim::ServingEstimate> estimates;
  sim::ResultTable table =
      sim::run_sweep(points, threads, nullptr, replays == Replays::all ? &estimates : nullptr);
  auto made = std::make_shared<SweepRun>(SweepRun{std::move(points), std::move(table), {}});
  if (replays == Replays::all) {
    made->replays =
        sim::replay_all(made->points, made->table, {.threads = threads, .estimates = estimates});
  } else {
    sim::refuse_without_value(made->points, made->table);
    sim::refuse_objectives_without_value(made->points, made->table);
    made->replays = sim::replay_recommended(
        made->points, made->table, {.threads = threads, .replay = replays == Replays::recommended});
  }
  return made;
}

std::shared_ptr<SweepRun> run(const Document& document, unsigned threads, Replays replays) {
  return answered([&] { return swept(document, threads, replays); });
}

// Those of the command's CSV.
std::vector<std::string> columns(const SweepRun& s) {
  return sim::shown_columns(s.points.sweep(), s.table.names());
}

std::vector<std::pair<std::string, std::vector<std::string>>> axes(const SweepRun& s) {
  std::vector<std::pair<std::string, std::vector<std::string>>> all;
  for (const sim::Axis& axis : s.points.sweep().axes) {
    std::vector<std::string> labels;
    for (const sim::AxisValue& value : axis.values) {
      labels.push_back(value.label);
    }
    all.emplace_back(axis.name, std::move(labels));
  }
  return all;
}

// The axes that are a knob each; those of bundles have names of the user's.
std::vector<std::string> knobs(const SweepRun& s) {
  std::vector<std::string> names;
  for (const sim::Axis& axis : s.points.sweep().axes) {
    if (std::all_of(axis.values.begin(), axis.values.end(), [&](const sim::AxisValue& value) {
          return value.set.size() == 1 && value.set.front().path == axis.name;
        })) {
      names.push_back(axis.name);
    }
  }
  return names;
}

py::array_t<double> numbers(const SweepRun& s, const std::string& name) {
  const sim::ResultColumn& column = s.table.column(name);
  py::array_t<double> all(static_cast<py::ssize_t>(s.table.rows()));
  double* to = all.mutable_data();
  compute([&] {
    for (std::size_t row = 0; row < s.table.rows(); ++row) {
      to[row] = column.number(row);
    }
  });
  return all;
}

// The different texts of a column, and which of them each row has.
std::pair<std::vector<std::string>, py::array_t<std::int32_t>> texts(const SweepRun& s,
                                                                     const std::string& name) {
  const sim::ResultColumn& column = s.table.column(name);
  std::vector<std::string> different;
  py::array_t<std::int32_t> codes(static_cast<py::ssize_t>(s.table.rows()));
  std::int32_t* to = codes.mutable_data();
  compute([&] {
    std::unordered_map<const std::string*, std::int32_t> code_of;  // a column keeps each text once
    for (std::size_t row = 0; row < s.table.rows(); ++row) {
      const std::string& text = column.text(row);
      const auto [known, is_new] =
          code_of.try_emplace(&text, static_cast<std::int32_t>(different.size()));
      if (is_new) {
        different.push_back(text);
      }
      to[row] = known->second;
    }
  });
  return {std::move(different), std::move(codes)};
}

}  // namespace

void bind_sweeps(py::module_& module) {
  py::enum_<Replays>(module, "Replays")
      .value("none", Replays::none)
      .value("recommended", Replays::recommended)
      .value("all", Replays::all);
  py::class_<SweepRun, std::shared_ptr<SweepRun>>(module, "SweepRun")
      .def_property_readonly("question",
                             [](const SweepRun& s) { return s.points.sweep().question; })
      .def_property_readonly("rows", [](const SweepRun& s) { return s.table.rows(); })
      .def_property_readonly("replays",
                             [](const SweepRun& s) {
                               return std::vector{s.replays.confirmed, s.replays.differs,
                                                  s.replays.broken, s.replays.estimated};
                             })
      .def("columns", columns)
      .def("axes", axes)
      .def("knobs", knobs)
      .def("has_numbers",
           [](const SweepRun& s, const std::string& name) {
             return s.table.column(name).has_numbers();
           })
      .def("numbers", numbers)
      .def("texts", texts)
      .def("scenario", [](const SweepRun& s, std::size_t point) {
        if (point >= s.points.size()) {
          throw py::index_error("a sweep has no such point");
        }
        return Document{s.points.document(point)};
      });
  module.def("sweep", run);
}

}  // namespace roofcast::cli::python
