// SPDX-License-Identifier: Apache-2.0
#include "calibrate/accuracy/better_hardware.hpp"

#include <fmt/format.h>

#include "base/no_number.hpp"
#include "sim/estimate.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/section_readers.hpp"

namespace roofcast::calibrate {
namespace {

base::Seconds end_to_end(const sim::ServingEstimate& e) {
  return e.task.per_second > 0.0 ? e.task.mean : e.steady.end_to_end;
}

double capacity(const sim::ServingEstimate& e) {
  return e.steady.saturation > 0.0 ? e.steady.saturation : e.steady.requests_per_second;
}

}  // namespace

const sim::Platform& BetterHardware::changed(const RandomScenario& s, std::string_view setting) {
  const sim::Scenario& scenario = s.streamed.scenario;
  const std::lock_guard lock(reading_);
  auto& entry = known_[fmt::format("{} {} {}", scenario.platform.system.id,
                                   scenario.serving.stack.id, setting)];
  if (entry == nullptr) {
    base::Problems problems;
    base::Node document = base::parse_document("random scenario", s.yaml);
    sim::load_references(document, problems);
    sim::set_knob(document, {"better hardware", std::string(setting), {}}, problems);
    entry = std::make_unique<const sim::Platform>(sim::read_platform(document, problems));
    problems.throw_if_any();
  }
  return *entry;
}

std::vector<WithBetter> BetterHardware::with(const RandomScenario& s,
                                             const sim::ServingEstimate& estimate,
                                             sim::Workspace& workspace) {
  std::vector<WithBetter> all;
  for (const std::string_view setting : kBetterHardware) {
    sim::ScenarioView view = sim::view(s.streamed.scenario);
    view.platform = &changed(s, setting);
    const sim::ServingEstimate better = sim::estimate(view, workspace);
    const bool fits = estimate.fits() && better.fits();
    all.push_back(fits ? WithBetter{1.0 - capacity(better) / capacity(estimate),
                                    end_to_end(better) / end_to_end(estimate) - 1.0}
                       : WithBetter{base::kNoNumber, base::kNoNumber});
  }
  return all;
}

}  // namespace roofcast::calibrate
