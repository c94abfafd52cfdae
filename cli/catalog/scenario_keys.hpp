// SPDX-License-Identifier: Apache-2.0
//
// The keys of a scenario as its readers tell them, and the knobs that they are.
#pragma once

#include <string>
#include <vector>

#include "base/document/key.hpp"

namespace roofcast::cli {

base::Key scenario_keys();

struct Knob {
  std::string path;  // "system.chip.hbm.bandwidth", "model.layers[attention].kv_heads"
  base::Key key;
};
// Groups too, each before what is below it.
std::vector<Knob> knobs_of(const base::Key& group);

// What may stand at a key: "a bandwidth, 3.35 TB/s", "a whole number, 1 or more", "ring, ulysses".
std::string value_text(const base::Key& key);

}  // namespace roofcast::cli
