// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/sections.hpp"

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "base/document/fields.hpp"
#include "base/nearest.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/usual_sections.hpp"

namespace roofcast::sim {
namespace {

using base::Node;
using base::Problems;

std::string_view section_of(std::string_view path) { return path.substr(0, path.find('.')); }

bool is_below(std::string_view path, std::string_view above) {
  return path.starts_with(above) && (path.size() == above.size() || path[above.size()] == '.');
}

// What the references of a section follow: those that the document leaves out. A reference below a section may be
// left out later on, when the section is replaced.
std::vector<std::string_view> followed(const Node& document, std::string_view section) {
  std::vector<std::string_view> paths;
  for (const ReferencePoint& point : reference_points()) {
    const bool is_named = point.path == section && document.find(section) != nullptr;
    for (const std::string_view path : point.follows) {
      if (section_of(point.path) == section && !path.empty() && !is_named) {
        paths.push_back(path);
      }
    }
  }
  return paths;
}

// Whether a key that is no section was meant for this one, which check_sections reports.
bool is_misspelt(const Node& document, std::string_view section) {
  const std::vector<std::string> sections(kSectionNames.begin(), kSectionNames.end());
  return document.find(section) == nullptr &&
         std::any_of(document.entries.begin(), document.entries.end(), [&](const base::Entry& e) {
           return std::find(sections.begin(), sections.end(), e.key) == sections.end() &&
                  base::nearest_name(e.key, sections) == section;
         });
}

template <class T>
T read_known(const Node& document, std::string_view section, Problems& problems,
             T (*read)(const Node& document, Problems& problems)) {
  return is_misspelt(document, section) ? T{} : read(document, problems);
}

// The sections but the traffic.
Scenario read_sections(const Node& document, Problems& problems,
                       decltype(read_serving)* read_serving_section) {
  Scenario s;
  for_each_section([&]<class T>(const Section<T>& section) {
    if constexpr (std::is_same_v<T, workloads::Serving>) {
      s.serving = read_known(document, section.name, problems, read_serving_section);
    } else if constexpr (!std::is_same_v<T, workloads::Traffic>) {
      s.*section.member = read_known(document, section.name, problems, section.read);
    }
  });
  return s;
}

}  // namespace

ScenarioView view(const Scenario& scenario) {
  ScenarioView v;
  for_each_section([&](const auto& section) { v.set(scenario.*section.member); });
  return v;
}

void check_sections(const Node& document, Problems& problems) {
  base::Fields fields(document, "", problems);
  for (const std::string_view section : kSectionNames) {
    fields.take(section);
  }
  fields.end();
}

bool decides(const Node& document, std::string_view path, std::string_view section) {
  const auto paths = followed(document, section);
  return section_of(path) == section ||
         std::any_of(paths.begin(), paths.end(), [&](std::string_view followed_path) {
           return is_below(path, followed_path) || is_below(followed_path, path);
         });
}

Node section_alone(const Node& document, std::string_view section) {
  std::vector<std::string_view> names = {section};
  for (const std::string_view path : followed(document, section)) {
    names.push_back(section_of(path));
  }
  for_each_section([&](const auto& each) {
    if (each.name == section) {
      names.insert(names.end(), each.looks_for.begin(), each.looks_for.end());
    }
  });
  Node alone;
  alone.kind = Node::Kind::map;
  alone.place = document.place;
  for (const std::string_view name : names) {
    if (const Node* node = name.empty() ? nullptr : document.find(name)) {
      alone[name] = *node;
    }
  }
  return alone;
}

StreamedScenario read_streamed_scenario(Node document) {
  Problems problems;
  check_sections(document, problems);
  fill_usual_sections(document);
  load_references(document, problems);
  StreamedScenario streamed;
  streamed.stream = read_known(document, "traffic", problems, read_stream);
  streamed.scenario = read_sections(document, problems, read_replicas);
  streamed.scenario.traffic = workloads::mean_traffic(streamed.stream);
  if (streamed.scenario.deployment.pools && streamed.scenario.serving.replicas > 1) {
    problems.add(document.find_path("serving.replicas")->place, "serving.replicas",
                 "are for one kind of replica; each pool of the deployment has its own");
  }
  const workloads::KvOffload& offload = streamed.scenario.serving.kv_offload;
  if (offload.capacity.si() > 0.0 && !offload.bandwidth &&
      !streamed.scenario.platform.system.chip.host_link()) {
    problems.add(document.find_path("serving.kv_offload")->place, "serving.kv_offload",
                 "needs a bandwidth: the chip has no pcie or cpu_link that is known");
  }
  problems.throw_if_any();
  return streamed;
}

Scenario read_scenario(Node document) {
  Problems problems;
  check_sections(document, problems);
  fill_usual_sections(document);
  load_references(document, problems);
  Scenario scenario = read_sections(document, problems, read_serving);
  scenario.traffic = read_known(document, "traffic", problems, read_traffic);
  problems.throw_if_any();
  return scenario;
}

}  // namespace roofcast::sim
