// SPDX-License-Identifier: Apache-2.0
//
// The numbers of a calibration that rows may place, as its schema tells them.
#pragma once

#include <string>
#include <vector>

#include "base/document/schema.hpp"

namespace roofcast::calibrate {

struct Candidate {
  std::string path;  // "gemm.wave_tail"
  base::Key key;

  std::string text_of(double value) const;         // as YAML
  double value_of(const std::string& text) const;  // SI
};

// Of all groups, in the order of the schema.
const std::vector<Candidate>& all_candidates();

}  // namespace roofcast::calibrate
