// SPDX-License-Identifier: Apache-2.0
#include "hardware/kernel_versions.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "base/version.hpp"

namespace roofcast::hardware {

namespace {

// All that were measured, newest first; none where it is of no stack.
std::vector<std::string> measured_versions(const Calibration& calibration) {
  std::vector<std::string> all;
  if (!calibration.version.empty()) {
    all.push_back(calibration.version);
  }
  for (const OlderVersion& older : calibration.older_versions) {
    all.push_back(older.version);
  }
  return all;
}

}  // namespace

void take_version(Calibration& c, std::string_view stack, std::string_view version) {
  const auto wanted = base::parse_version(version);
  const std::vector<std::string> known = measured_versions(c);
  if (!wanted || known.empty() || c.stack != stack) {
    c.name += fmt::format(" ({} {} was not measured)", stack, version);
    return;
  }
  std::size_t nearest = 0;
  for (std::size_t i = 1; i < known.size(); ++i) {
    if (is_nearer(*wanted, *base::parse_version(known[i]), *base::parse_version(known[nearest]))) {
      nearest = i;
    }
  }
  Corrections corrections = c.corrections ? *c.corrections : Corrections();
  for (std::size_t i = 0; i < nearest; ++i) {
    for (const CorrectionGrid& grid : c.older_versions[i].corrections.grids()) {
      corrections.add(grid);
    }
  }
  if (!corrections.grids().empty()) {
    c.corrections = std::make_shared<const Corrections>(std::move(corrections));
  }
  c.version = known[nearest];
  c.older_versions.erase(c.older_versions.begin(),
                         c.older_versions.begin() + static_cast<std::ptrdiff_t>(nearest));
  const bool exact = base::parse_version(c.version) == wanted;
  c.name += fmt::format(", kernels of {}{}", c.version,
                        exact ? "" : fmt::format(", the nearest measured to {}", version));
}

}  // namespace roofcast::hardware
