// SPDX-License-Identifier: Apache-2.0
#include "hardware/kernel_versions.hpp"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "base/version.hpp"

namespace roofcast::hardware {

namespace {

// All that were measured, newest first.
std::vector<base::Version> measured_versions(const Calibration& calibration) {
  std::vector<base::Version> all = {*base::parse_version(calibration.version)};
  for (const OlderVersion& older : calibration.older_versions) {
    all.push_back(*base::parse_version(older.version));
  }
  return all;
}

// `newer` in place of those of the same operators.
void replace(std::shared_ptr<const Corrections>& corrections, const Corrections& newer) {
  auto all = corrections ? *corrections : Corrections();
  for (const CorrectionGrid& grid : newer.grids()) {
    all.add(grid);
  }
  corrections = std::make_shared<const Corrections>(std::move(all));
}

// Changes the calibrations whose corrections are used beside its own.
template <class Change>
void for_relatives(Calibration& c, Change change) {
  for (Relative& relative : c.relatives) {
    auto changed = std::make_shared<Calibration>(*relative.of);
    change(*changed);
    relative.of = std::move(changed);
  }
}

}  // namespace

void take_version(Calibration& c, std::string_view stack, std::string_view version) {
  const auto wanted = base::parse_version(version);
  if (!wanted || !base::parse_version(c.version) || c.stack != stack) {
    c.name += fmt::format(" ({} {} was not measured)", stack, version);
    return;
  }
  for_relatives(c, [&](Calibration& other) { take_version(other, stack, version); });
  const std::size_t nearest = base::nearest_version(*wanted, measured_versions(c));
  for (std::size_t i = 0; i < nearest; ++i) {
    if (const auto& older = c.older_versions[i].corrections) {
      replace(c.corrections, *older);
    }
  }
  if (nearest > 0) {
    c.version = c.older_versions[nearest - 1].version;
  }
  c.older_versions.erase(c.older_versions.begin(),
                         c.older_versions.begin() + static_cast<std::ptrdiff_t>(nearest));
  const bool exact = base::parse_version(c.version) == wanted;
  c.name += fmt::format(", kernels of {}{}", c.version,
                        exact ? "" : fmt::format(", the nearest measured to {}", version));
}

void tune(Calibration& c) {
  if (c.tuned) {
    replace(c.corrections, *c.tuned);
  }
  for_relatives(c, [](Calibration& other) { tune(other); });
}

}  // namespace roofcast::hardware
