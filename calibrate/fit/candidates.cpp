// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/candidates.hpp"

#include <fmt/format.h>

#include "base/csv/csv.hpp"
#include "base/units/unit_text.hpp"
#include "hardware/calibration.hpp"

namespace roofcast::calibrate {
namespace {

void collect(const base::Key& group, const std::string& path, std::vector<Candidate>& out) {
  for (const base::Key& key : group.below) {
    const std::string here = path.empty() ? key.name : path + "." + key.name;
    if (key.type == base::Key::Type::group) {
      collect(key, here, out);
    } else if (!path.empty() &&
               (key.type == base::Key::Type::number || key.type == base::Key::Type::quantity)) {
      out.push_back({here, key});
    }
  }
}

}  // namespace

std::string Candidate::text_of(double value) const {
  return key.type == base::Key::Type::quantity ? base::format_quantity(value, key.dimension)
                                               : fmt::format("{:.4g}", value);
}

double Candidate::value_of(const std::string& text) const {
  return key.type == base::Key::Type::quantity ? base::parse_quantity(text, key.dimension).si
                                               : base::parse_number(text).value_or(0.0);
}

const std::vector<Candidate>& all_candidates() {
  static const std::vector<Candidate> all = [] {
    std::vector<Candidate> found;
    collect(base::describe<hardware::Calibration>(), "", found);
    return found;
  }();
  return all;
}

}  // namespace roofcast::calibrate
