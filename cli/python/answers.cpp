// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/csv/csv.hpp"
#include "base/document/problems.hpp"
#include "cli/answers/briefs.hpp"
#include "cli/answers/sensitivities.hpp"
#include "cli/answers/solved.hpp"
#include "cli/python/bindings.hpp"
#include "cli/python/running.hpp"
#include "cli/question/recommend_question.hpp"
#include "cli/recommend/recommended_row.hpp"
#include "cli/recommend/training_search_text.hpp"
#include "cli/simulate/drawn_runs.hpp"
#include "cli/tables/request_rows.hpp"
#include "cli/text/roadmap_text.hpp"
#include "cli/text/scenario_text.hpp"
#include "cli/text/simulation_answer.hpp"
#include "sim/decide/overridden_scenario.hpp"
#include "sim/recommend/recommendation.hpp"
#include "sim/recommend/training_search.hpp"
#include "sim/scenario/sections.hpp"

namespace py = pybind11;

namespace roofcast::cli::python {
namespace {

using Json = nlohmann::ordered_json;
using Texts = std::vector<std::string>;

template <class Work>
py::object answer_of(const Work& work) {
  return python_of(answered(work));
}

py::object solved(const Document& document, const Texts& set, const Texts& vary, const Texts& until,
                  const std::string& minimize, const std::string& maximize, bool no_replay) {
  return answer_of([&] {
    return solve_json(solve({document.node, set, vary, until, minimize, maximize, no_replay}));
  });
}

py::object sensitivities(const Document& document, const SensitivityQuestion& question) {
  return answer_of([&] {
    const sim::OverriddenScenario scenario(document.node, "vary");
    sim::Workspace workspace;
    const sim::ServingEstimate estimate = sim::estimate(sim::view(scenario.scenario()), workspace);
    return estimate.fits() ? sensitivity_json(sensitivity(question, scenario, estimate))
                           : Json{{"fits", false}, {"reason", sim::reason(estimate)}};
  });
}

py::object compared(const Document& document, bool no_replay) {
  return answer_of([&] {
    const sim::Roadmap roadmap = sim::read_roadmap(document.node);
    return roadmap_json(roadmap, sim::run_roadmap(roadmap, {.replay = !no_replay}));
  });
}

std::string briefed(const Document& document, const std::string& name, const std::string& metric,
                    bool no_replay) {
  return answered([&] {
    return markdown(without_citations(brief(document.node, {name, metric, "", no_replay, true})));
  });
}

// The answer, and the requests as a CSV has them.
std::pair<py::object, std::string> simulated(const Document& document,
                                             std::optional<std::uint32_t> seed,
                                             std::size_t warm_up) {
  std::ostringstream rows;
  py::object answer = answer_of([&] {
    SimulationAnswer a;
    a.warm_up = warm_up;
    a.scenario = sim::read_streamed_scenario(document.node);
    if (a.scenario.scenario.training.trains()) {
      throw base::InputError("error: a scenario that trains is estimated, not simulated\n");
    }
    workloads::RequestStream& stream = a.scenario.stream;
    stream.seed = seed.value_or(stream.seed);
    a.requests = workloads::draw_requests(stream);
    a.simulation = sim::simulate(sim::view(a.scenario.scenario), a.requests,
                                 workloads::is_open(stream) ? 0 : stream.concurrency);
    base::CsvWriter csv(rows, request_columns(stream));
    write_requests(csv, a.simulation, stream, a.requests);
    csv.close();
    return json_of(a);
  });
  return {std::move(answer), rows.str()};
}

py::object drawn(const Document& document, std::size_t runs, std::uint32_t seed) {
  return answer_of([&] {
    const sim::Scenario scenario = sim::read_scenario(document.node);
    if (!scenario.run.enabled()) {
      throw base::InputError("error: only a scenario with the section run has runs to draw\n");
    }
    return json_of(draw_runs(scenario, runs, seed));
  });
}

// What `recommend --json` prints, and the scenario of the answer, if there is one.
std::pair<py::object, std::optional<Document>> recommended(const Document& document,
                                                           const AskedRecommendation& asked,
                                                           bool no_replay) {
  auto [json, best] = answered([&]() -> std::pair<Json, std::optional<Document>> {
    if (trains(document.node)) {
      const sim::TrainingQuestion q = training_question_of(asked, document.node, {});
      const sim::TrainingSearch search = sim::search_trainings(q, 0);
      return {training_search_json(q, search),
              search.best.empty() ? std::nullopt
                                  : std::optional(Document{sim::with_choice(
                                        search.candidates[search.best.front().candidate].document,
                                        search.best.front().choice)})};
    }
    Heading heading;
    const sim::Question q = question_of(asked, document.node, heading);
    const sim::Recommendation r = sim::recommend(q, {0, !no_replay, nullptr});
    describe(q, r, heading);
    return {recommend_json(q, heading, r),
            r.found() ? std::optional(Document{scenario_of(r, *r.answers.front())}) : std::nullopt};
  });
  return {python_of(json), std::move(best)};
}

}  // namespace

void bind_answers(py::module_& module) {
  module.def("solve", solved);
  module.def("sensitivity", [](const Document& document, const Texts& metrics, const Texts& vary,
                               double step, double gain, std::size_t rows, std::uint64_t seed) {
    return sensitivities(document, {metrics, vary, {step, gain}, {rows, seed}});
  });
  module.def("compare", compared);
  module.def(
      "recommend",
      [](const Document& document, std::int64_t gpus, const Texts& lists, const std::string& rate,
         const std::string& clients, const Texts& where, const std::string& minimize,
         const std::string& maximize, const std::string& pools, const Texts& set, bool no_replay) {
        AskedRecommendation asked{{}, where, minimize, maximize, pools};
        asked.said.gpus = gpus;
        asked.said.system = lists.at(0);
        asked.said.precision = lists.at(1);
        asked.said.stack = lists.at(2);
        asked.said.rate = rate;
        asked.said.clients = clients;
        asked.said.set = set;
        return recommended(document, asked, no_replay);
      });
  module.def("brief", briefed);
  module.def("simulate", simulated);
  module.def("draw_runs", drawn);
}

}  // namespace roofcast::cli::python
