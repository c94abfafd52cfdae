// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/document/renamed.hpp"
#include "cli/answers/estimate_warnings.hpp"
#include "cli/python/bindings.hpp"
#include "cli/python/running.hpp"
#include "cli/tables/metric_cells.hpp"
#include "cli/text/explain.hpp"
#include "cli/text/scenario_text.hpp"
#include "sim/estimate.hpp"
#include "sim/result/causes.hpp"
#include "sim/result/condition.hpp"
#include "sim/result/metrics.hpp"
#include "sim/scenario/sections.hpp"

namespace py = pybind11;

namespace roofcast::cli::python {
namespace {

// An estimate, what it is of, and what it points to.
struct Forecast {
  Document document;
  sim::Scenario scenario;
  sim::ServingEstimate estimate;
};

std::shared_ptr<Forecast> forecast(const Document& document) {
  return computed([&] {
    auto made =
        std::make_shared<Forecast>(Forecast{document, sim::read_scenario(document.node), {}});
    sim::Workspace workspace;
    made->estimate = sim::estimate(sim::view(made->scenario), workspace);
    sim::tell_causes(sim::view(made->scenario), made->estimate);
    return made;
  });
}

// Of all metrics, in their order.
std::vector<double> values(const Forecast& f) {
  std::vector<double> all;
  for (const sim::Metric& metric : sim::metrics()) {
    all.push_back(f.estimate.fits() ? metric.value(f.estimate) : std::nan(""));
  }
  return all;
}

// By name. Without those that say what is still the figure of another chip where nothing is.
std::vector<std::pair<std::string, std::string>> texts(const Forecast& f) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const sim::TextMetric& text : sim::text_metrics()) {
    if (!text.of_parents || f.estimate.parent_figures != nullptr) {
      all.emplace_back(text.name, f.estimate.fits() ? text.value(f.estimate) : std::string_view());
    }
  }
  return all;
}

py::list metrics() {
  py::list all;
  for (const sim::Metric& m : sim::metrics()) {
    all.append(
        py::make_tuple(m.name, m.label, m.unit, m.description, sim::name(m.better), m.bounds));
  }
  return all;
}

}  // namespace

void bind_estimates(py::module_& module) {
  py::class_<Forecast, std::shared_ptr<Forecast>>(module, "Forecast")
      .def_property_readonly("title", [](const Forecast& f) { return title(f.scenario); })
      .def_property_readonly("reason", [](const Forecast& f) { return sim::reason(f.estimate); })
      .def(py::pickle([](const Forecast& f) { return py::make_tuple(f.document); },
                      [](const py::tuple& state) { return forecast(state[0].cast<Document>()); }))
      .def("warnings", [](const Forecast& f) { return warnings_of(f.scenario, f.estimate); })
      .def("values", values)
      .def("texts", texts)
      .def("limited_by",
           [](const Forecast& f, const std::string& metric) {
             return std::string(f.estimate.fits() ? limit_of(f.estimate, metric)
                                                  : std::string_view());
           })
      .def("iterations", [](const Forecast& f) {
        return python_of(
            computed([&f] { return explain_json(sim::view(f.scenario), f.estimate); }));
      });
  module.def("forecast", forecast);
  module.def("metrics", metrics);
  module.def("unknown_metric", sim::unknown_metric);
  module.def("current_name",
             [](const std::string& name) { return std::string(base::current_name(name)); });
}

}  // namespace roofcast::cli::python
