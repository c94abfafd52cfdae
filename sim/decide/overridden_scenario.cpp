// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/overridden_scenario.hpp"

#include <algorithm>
#include <atomic>

#include "base/threads.hpp"
#include "hardware/chip_changes.hpp"
#include "sim/estimate.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/sections.hpp"
#include "sim/scenario/usual_sections.hpp"

namespace roofcast::sim {
namespace {

std::string_view path_of(std::string_view setting) { return setting.substr(0, setting.find('=')); }

// Whether it names another part, or a section that may.
bool names_a_part(const std::string& setting) {
  const std::string_view path = path_of(setting);
  return reference_at(path) != nullptr || path.find('.') == std::string_view::npos;
}

}  // namespace

OverriddenScenario::OverriddenScenario(const base::Node& document, std::string origin)
    : origin_(std::move(origin)), written_(document) {
  fill_usual_sections(written_);
  loaded_ = written_;
  base::Problems problems;
  load_references(loaded_, problems);
  problems.throw_if_any();
  if (base::Node* chip = loaded_.find_path("system.chip")) {
    hardware::state_energies(*chip);
  }
  without_corrections_ = loaded_;
  if (base::Node* corrections = without_corrections_.find_path("system.calibration.corrections")) {
    *corrections = {};
  }
  scenario_ = read_scenario(loaded_);
}

base::Node OverriddenScenario::overridden(const base::Node& document, Settings settings) const {
  std::stable_sort(settings.begin(), settings.end(), [](const auto& a, const auto& b) {
    return is_set_before(path_of(a), path_of(b));
  });
  base::Node result = document;
  base::Problems problems;
  for (const std::string& setting : settings) {
    set_knob(result, base::Source{origin_, setting, {}}, problems);
  }
  problems.throw_if_any();
  return result;
}

Scenario OverriddenScenario::read(const Settings& settings) const {
  if (std::any_of(settings.begin(), settings.end(), names_a_part)) {
    return read_scenario(overridden(written_, settings));
  }
  Scenario s = read_scenario(overridden(without_corrections_, settings));
  s.platform.system.calibration.corrections = scenario_.platform.system.calibration.corrections;
  s.platform.machine.calibration.corrections = scenario_.platform.machine.calibration.corrections;
  return s;
}

OverriddenEstimate OverriddenScenario::estimate(const Settings& settings) const {
  return estimate(settings, false);
}

OverriddenEstimate OverriddenScenario::explained(const Settings& settings) const {
  return estimate(settings, true);
}

OverriddenEstimate OverriddenScenario::estimate(const Settings& settings, bool causes) const {
  OverriddenEstimate result;
  try {
    const Scenario s = read(settings);
    Workspace workspace;
    result.estimate = sim::estimate(view(s), workspace);
    if (causes) {
      tell_causes(view(s), result.estimate);
    }
  } catch (const base::InputError& error) {
    result.refusal = error.what();
  }
  return result;
}

std::vector<OverriddenEstimate> OverriddenScenario::estimates(
    const std::vector<Settings>& all) const {
  std::vector<OverriddenEstimate> results(all.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&](unsigned) {
    for (std::size_t i = next++; i < all.size(); i = next++) {
      results[i] = estimate(all[i]);
    }
  };
  base::on_threads(static_cast<unsigned>(std::min<std::size_t>(std::max<std::size_t>(all.size(), 1),
                                                               base::thread_count(0))),
                   work);
  return results;
}

}  // namespace roofcast::sim
