// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/catalog.hpp"
#include "base/fields.hpp"
#include "base/nearest.hpp"

namespace roofcast::sim {
namespace {

using base::Node;
using base::Problems;

// Where a document may name another one, outer ones first.
struct ReferencePoint {
  std::string_view path;
  base::Catalog catalog;
};
const std::vector<ReferencePoint>& reference_points() {
  static const std::vector<ReferencePoint> points = {
      {"system", hardware::system_catalog()},
      {"model", workloads::model_catalog()},
      {"precision", workloads::precision_catalog()},
      {"system.chip", hardware::chip_catalog()},
      {"system.calibration", hardware::calibration_catalog()},
      {"serving.stack", workloads::stack_catalog()},
  };
  return points;
}

std::vector<std::string_view> split(std::string_view path) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto dot = path.find('.');
    parts.push_back(path.substr(0, dot));
    if (dot == std::string_view::npos) {
      return parts;
    }
    path.remove_prefix(dot + 1);
  }
}

Node* descend(Node& document, std::string_view path) {
  Node* node = &document;
  for (const std::string_view key : split(path)) {
    node = node == nullptr ? nullptr : node->find(key);
  }
  return node;
}

// False when the document cannot be had; the node then stays the scalar it was.
bool load_reference_at(Node& node, std::string_view path, Problems& problems) {
  if (!node.is_scalar()) {
    return true;
  }
  const auto& points = reference_points();
  const auto point = std::find_if(points.begin(), points.end(),
                                  [&](const ReferencePoint& p) { return p.path == path; });
  if (point == points.end()) {
    return true;
  }
  try {
    node = base::load_reference(point->catalog, node, path);
    return true;
  } catch (const base::InputError& error) {
    problems.add_text(error.what());
    return false;
  }
}

// A reference in the section that could not be loaded, which has been reported: without it, what
// else is wrong there cannot be told.
bool lacks_a_reference(const Node& document, std::string_view section) {
  const auto& points = reference_points();
  return std::any_of(points.begin(), points.end(), [&](const ReferencePoint& point) {
    const Node* node = split(point.path).front() == section ? &document : nullptr;
    for (const std::string_view key : split(point.path)) {
      node = node == nullptr ? nullptr : node->find(key);
    }
    return node != nullptr && node->is_scalar();
  });
}

// Without a calibration of its own a system is forecast with the generic one.
void default_calibration(Node& document) {
  Node* system = document.find("system");
  if (system != nullptr && system->is_map() && system->find("calibration") == nullptr) {
    (*system)["calibration"] = base::scalar_node("generic", system->place);
  }
}

bool is_factor(const std::string& text) {
  return text.size() > 1 && text[0] == 'x' &&
         (text[1] == ' ' || text[1] == '.' || (text[1] >= '0' && text[1] <= '9'));
}

// "3.35 TB/s" × 2 = "6.7 TB/s": the unit stays.
bool multiply(Node& target, const std::string& factor_text) {
  std::string_view factor_view(factor_text);
  factor_view.remove_prefix(factor_view.find_first_not_of("x "));
  double factor = 0.0;
  double number = 0.0;
  const auto parsed =
      std::from_chars(factor_view.data(), factor_view.data() + factor_view.size(), factor);
  const char* begin = target.text.data();
  const char* end = begin + target.text.size();
  const auto base = std::from_chars(begin, end, number);
  if (parsed.ec != std::errc() || parsed.ptr != factor_view.data() + factor_view.size() ||
      base.ec != std::errc()) {
    return false;
  }
  target.text = fmt::format("{:.15g}{}", number * factor, std::string_view(base.ptr, end));
  return true;
}

void report_no_number(const Node& group, std::string_view key, std::string_view path,
                      const base::Place& place, Problems& problems) {
  std::vector<std::string> keys;
  for (const base::Entry& entry : group.entries) {
    keys.push_back(entry.key);
  }
  const auto near = base::nearest_name(key, keys);
  problems.add(place, path,
               fmt::format("there is no \"{}\" to multiply{}", key,
                           near ? fmt::format("; did you mean \"{}\"?", *near) : ""));
}

// Whether a key that is no section was meant for this one, which check_sections reports.
bool is_misspelt(const Node& document, std::string_view section) {
  const std::vector<std::string> sections(std::begin(kSections), std::end(kSections));
  return std::any_of(document.entries.begin(), document.entries.end(), [&](const base::Entry& e) {
    return std::find(sections.begin(), sections.end(), e.key) == sections.end() &&
           base::nearest_name(e.key, sections) == section;
  });
}

template <class T, class ReadFunction>
T read_section(const Node& document, std::string_view section, Problems& problems,
               ReadFunction read_function) {
  T value;
  const Node* node = document.find(section);
  if (node == nullptr && is_misspelt(document, section)) {
    return value;
  }
  if (node == nullptr || node->is_null()) {
    problems.add(node == nullptr ? document.place : node->place, "",
                 fmt::format("the section \"{}\" is required", section));
    return value;
  }
  if (lacks_a_reference(document, section)) {
    return value;
  }
  base::Fields fields(*node, std::string(section), problems);
  read_function(fields, value);
  fields.end();
  return value;
}

}  // namespace

ScenarioView view(const Scenario& s) {
  return {&s.platform, &s.model, &s.precision, &s.mapping, &s.serving, &s.traffic};
}

void set_knob(Node& document, std::string_view path, const base::Place& path_place,
              const Node& value, Problems& problems) {
  const auto parts = split(path);
  if (std::find(parts.begin(), parts.end(), "") != parts.end()) {
    problems.add(path_place, path, "is not a dotted path such as deployment.tensor_parallel");
    return;
  }
  Node* node = &document;
  std::string walked;
  for (const std::string_view part : parts) {
    if (!walked.empty() && !load_reference_at(*node, walked, problems)) {
      return;
    }
    if (walked == "system") {
      default_calibration(document);
    }
    if (!node->is_map() && !node->is_null()) {
      problems.add(path_place, path, fmt::format("\"{}\" is not a group of keys", walked));
      return;
    }
    if (node->find(part) == nullptr) {
      if (value.is_scalar() && is_factor(value.text)) {
        report_no_number(*node, part, path, path_place, problems);
        return;
      }
      (*node)[part].place = path_place;
      node->entries.back().key_place = path_place;
    }
    walked += fmt::format("{}{}", walked.empty() ? "" : ".", part);
    node = node->find(part);
  }
  if (!value.is_scalar() || !is_factor(value.text)) {
    *node = value;
  } else if (node->is_scalar() && multiply(*node, value.text)) {
    node->place = value.place;
  } else {
    problems.add(value.place, path,
                 fmt::format("\"{}\" multiplies a number, but there is none here", value.text));
  }
}

void set_knob(Node& document, const std::string& assignment, Problems& problems) {
  const auto source = std::make_shared<const base::Source>(base::Source{"--set", assignment, {}});
  const auto equals = assignment.find('=');
  if (equals == std::string::npos || equals + 1 == assignment.size()) {
    problems.add({source, {}}, "", "expects path=value, for example deployment.tensor_parallel=4");
    return;
  }
  const std::string path = assignment.substr(0, equals);
  const std::string text = assignment.substr(equals + 1);
  try {
    // Lists and maps may be typed too; their places point into the value.
    Node value = base::parse_document("--set " + path, text);
    if (value.is_scalar()) {
      value.place = {source, {0, static_cast<int>(equals) + 1}};
    }
    set_knob(document, path, {source, {}}, value, problems);
  } catch (const base::InputError& error) {
    problems.add_text(error.what());
  }
}

void load_references(Node& document, Problems& problems) {
  for (const ReferencePoint& point : reference_points()) {
    if (point.path.starts_with("system.")) {
      default_calibration(document);
    }
    if (Node* node = descend(document, point.path)) {
      load_reference_at(*node, point.path, problems);
    }
  }
}

Platform read_platform(const Node& document, Problems& problems) {
  const std::size_t before = problems.size();
  Platform platform;
  platform.system = read_section<hardware::System>(
      document, "system", problems,
      [](base::Fields& f, hardware::System& s) { hardware::read(f, s); });
  if (problems.size() == before) {
    platform.machine = models::machine_of(platform.system);
  }
  return platform;
}

workloads::Architecture read_model(const Node& document, Problems& problems) {
  return read_section<workloads::Architecture>(
      document, "model", problems,
      [](base::Fields& f, workloads::Architecture& m) { workloads::read(f, m); });
}

workloads::Precision read_precision(const Node& document, Problems& problems) {
  return read_section<workloads::Precision>(
      document, "precision", problems,
      [](base::Fields& f, workloads::Precision& p) { workloads::read(f, p); });
}

workloads::Mapping read_mapping(const Node& document, Problems& problems) {
  return read_section<workloads::Mapping>(
      document, "deployment", problems,
      [](base::Fields& f, workloads::Mapping& m) { workloads::read(f, m); });
}

workloads::Serving read_serving(const Node& document, Problems& problems) {
  return read_section<workloads::Serving>(
      document, "serving", problems,
      [](base::Fields& f, workloads::Serving& s) { workloads::read(f, s); });
}

workloads::Traffic read_traffic(const Node& document, Problems& problems) {
  return read_section<workloads::Traffic>(
      document, "traffic", problems,
      [](base::Fields& f, workloads::Traffic& t) { workloads::read(f, t); });
}

void check_sections(const Node& document, Problems& problems) {
  base::Fields fields(document, "", problems);
  for (const std::string_view section : kSections) {
    fields.take(section);
  }
  fields.end();
}

Scenario read_scenario(Node document) {
  Problems problems;
  check_sections(document, problems);
  load_references(document, problems);
  Scenario scenario{read_platform(document, problems),  read_model(document, problems),
                    read_precision(document, problems), read_mapping(document, problems),
                    read_serving(document, problems),   read_traffic(document, problems)};
  problems.throw_if_any();
  return scenario;
}

}  // namespace roofcast::sim
