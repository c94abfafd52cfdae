// SPDX-License-Identifier: Apache-2.0
//
// The sections of a scenario's document: one table that whoever reads, sweeps or checks scenarios shares.
#pragma once

#include <array>
#include <string_view>
#include <tuple>

#include "base/document/node.hpp"
#include "base/document/problems.hpp"
#include "sim/scenario/accuracy.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/section_readers.hpp"

namespace roofcast::sim {

template <class T>
struct Section {
  using Value = T;
  std::string_view name;
  T (*read)(const base::Node& document, base::Problems& problems);
  T Scenario::*member;
  // Its reader looks whether the document has these: what trains need not serve.
  std::array<std::string_view, 2> looks_for = {};
};

inline constexpr std::tuple kSections{
    Section<Platform>{"system", read_platform, &Scenario::platform},
    Section<workloads::Architecture>{"model", read_model, &Scenario::model},
    Section<workloads::Precision>{"precision", read_precision, &Scenario::precision},
    Section<Deployment>{"deployment", read_deployment, &Scenario::deployment},
    Section<workloads::Serving>{"serving", read_serving, &Scenario::serving, {"training", "rl"}},
    Section<workloads::Traffic>{"traffic", read_traffic, &Scenario::traffic, {"training", "rl"}},
    Section<workloads::Accuracy>{"accuracy", read_accuracy, &Scenario::accuracy},
    Section<workloads::Training>{"training", read_training, &Scenario::training},
    Section<workloads::PostTraining>{
        "rl", read_post_training, &Scenario::post_training, {"training"}},
    Section<workloads::TrainingRun>{"run", read_training_run, &Scenario::run, {"training"}},
    Section<hardware::Prices>{"prices", read_prices, &Scenario::prices},
    Section<workloads::Numerics>{"numerics", read_numerics, &Scenario::numerics},
};

template <class Visit>
void for_each_section(Visit visit) {
  std::apply([&](const auto&... section) { (visit(section), ...); }, kSections);
}

inline constexpr auto kSectionNames =
    std::apply([](const auto&... section) { return std::array{section.name...}; }, kSections);

ScenarioView view(const Scenario& scenario);

// Reports keys that are no section.
void check_sections(const base::Node& document, base::Problems& problems);

// Whether a value at `path` decides how a section is read: of the section itself, or of what its references follow
// where the document does not name them (sim/scenario/references.hpp).
bool decides(const base::Node& document, std::string_view path, std::string_view section);

// A section of the document with those that its reader needs.
base::Node section_alone(const base::Node& document, std::string_view section);

// These throw InputError with every problem.
Scenario read_scenario(base::Node document);  // to be estimated

// To be simulated.
struct StreamedScenario {
  Scenario scenario;  // its traffic has the stream's mean lengths
  workloads::RequestStream stream;
};
StreamedScenario read_streamed_scenario(base::Node document);

}  // namespace roofcast::sim
