// SPDX-License-Identifier: Apache-2.0
#include "cli/kernels/kernel_platform.hpp"

#include <fmt/format.h>

#include "cli/text/scenario_text.hpp"
#include "hardware/system.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/section_readers.hpp"

namespace roofcast::cli {
namespace {

using base::Node;

base::Place place_of(const char* option, const std::string& text) {
  return {std::make_shared<const base::Source>(base::Source{option, text, {}}), {}};
}

const std::string& text_at(const Node& document, std::string_view path) {
  static const std::string none;
  const Node* node = document.find_path(path);
  return node != nullptr && node->is_scalar() ? node->text : none;
}

// The first system of the catalog that has the chip.
std::string system_with(const std::string& chip) {
  for (const std::string& id : base::catalog_ids(hardware::system_catalog())) {
    if (text_at(base::load_entry(hardware::system_catalog(), id), "chip") == chip) {
      return id;
    }
  }
  return {};
}

// A chip that no system has, alone.
Node alone(const Node& chip) {
  const auto has = [&](const char* port) {
    const Node* node = chip.find(port);
    return node != nullptr && node->is_map();
  };
  const char* link = has("nvlink") ? "nvlink" : has("links") ? "switch" : "pcie";
  return base::parse_document(
      "one chip", fmt::format("name: one chip\nchips: 1\n"
                              "scale_up: {{link: {}, domain: 1, in_network_reduction: false, "
                              "source: nothing to connect}}\n"
                              "latency: {{scale_up: 1 us, source: nothing to connect}}\n",
                              link));
}

}  // namespace

base::Node kernel_document(const PlatformNames& names) {
  base::Problems problems;
  if (!names.chip.empty() && !names.system.empty()) {
    problems.add_text("error: --chip or --system, not both\n");
  }
  if (names.chip.empty() && names.system.empty()) {
    problems.add_text("error: --chip or --system is needed\n");
  }
  problems.throw_if_any();
  Node document;
  document["serving"]["stack"] = base::scalar_node(names.stack, place_of("--stack", names.stack));
  if (!names.system.empty()) {
    document["system"] = base::scalar_node(names.system, place_of("--system", names.system));
  } else {
    const Node named = base::scalar_node(names.chip, place_of("--chip", names.chip));
    Node part;
    part["system"]["chip"] = named;
    sim::load_references(part, problems);
    problems.throw_if_any();
    const Node& chip = *part.find_path("system.chip");
    const std::string& measured_on = text_at(chip, "measured_on.server");
    const std::string server = measured_on.empty() ? system_with(names.chip) : measured_on;
    document["system"] = server.empty()
                             ? alone(chip)
                             : base::load_reference(hardware::system_catalog(),
                                                    base::scalar_node(server, named.place), "");
    sim::set_knob(document, "system.chip", named.place, named, problems);
  }
  refuse_two_of_one_knob(set_options(names.set), problems);
  for (const std::string& assignment : names.set) {
    const std::string knob = assignment.substr(0, assignment.find('='));
    if (!is_kernel_knob(knob)) {
      const bool of_system = knob.starts_with("chip.") || knob.starts_with("calibration.");
      problems.add(
          {std::make_shared<const base::Source>(base::Source{"--set", assignment, {}}), {}}, "",
          fmt::format("a kernel has the knobs of system and serving.stack, and no \"{}\"{}", knob,
                      of_system ? fmt::format("; did you mean \"system.{}\"?", knob) : ""));
    }
    sim::set_knob(document, {"--set", assignment, {}}, problems);
  }
  for (const std::string& assignment : names.varied) {
    sim::set_knob(document, {"--vary", assignment, {}}, problems);
  }
  problems.throw_if_any();
  sim::load_references(document, problems);
  problems.throw_if_any();
  return document;
}

bool is_kernel_knob(const std::string& path) {
  return path.starts_with("system.") || path.starts_with("serving.stack.");
}

sim::Platform kernel_platform(const PlatformNames& names) {
  base::Problems problems;
  const Node document = kernel_document(names);
  sim::Platform platform = sim::read_platform(document, problems);
  problems.throw_if_any();
  return platform;
}

}  // namespace roofcast::cli
