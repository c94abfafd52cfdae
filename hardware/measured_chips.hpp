// SPDX-License-Identifier: Apache-2.0
//
// The measured chips of the catalog, and what was measured on each under a stack: parameters, corrections and errors of
// hardware/calibrated/<chip>.<stack>.yaml.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/calibration.hpp"
#include "hardware/chip_distance.hpp"

namespace roofcast::hardware {

// What the host takes for a launch.
inline constexpr std::string_view kEager = "launch.eager";

struct Parameter {
  double value = 0.0;  // SI
  bool has_unit = false;
};
using Parameters = std::map<std::string, Parameter>;  // by path

// A measured chip with the stacks under which it was measured.
struct ReferenceChip {
  std::string id;
  std::string text;  // its document
  ChipKind kind;
  ChipKind of_any_die;
  std::vector<std::string> stacks;
};
const std::vector<ReferenceChip>& measured_chips();

struct Measurement {
  const ReferenceChip* chip = nullptr;
  std::string stack;
  Parameters parameters;
  std::vector<KindError> errors;
  bool times_host = false;  // kEager was fitted, not taken from generic

  std::string id() const { return chip->id + "." + stack; }
  // Null where the kind is not among the errors.
  const KindError* error_of(std::string_view kind) const;
};
// Read when it is first asked for.
const Measurement& measurement_of(const ReferenceChip& chip, const std::string& stack);

}  // namespace roofcast::hardware
