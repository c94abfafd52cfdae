// SPDX-License-Identifier: Apache-2.0
//
// The one way to override a knob: a dotted path into a scenario document, through references.
//
// system.chip.hbm.bandwidth reaches into the chip that the system names. Assignments, sweep axes and derived
// parts all go through set_knob and share its messages.
//
// Among the entries of a list, model.layers[attention].kv_heads reaches those of a kind: whose mixer or
// ffn has that name.
//
// system.chip.tensor.* is every number of a group, to be multiplied.
//
// deployment.prefill.system.chip.hbm.bandwidth changes the system of one pool. A pool without one of its own gets a copy
// of the scenario's, where the scenario is at hand.
#pragma once

#include <string_view>

#include "base/document/node.hpp"
#include "base/document/problems.hpp"

namespace roofcast::sim {

// Sets a knob: loads the references the path goes through, then replaces the value. A value "x1.35"
// or "x 0.5" multiplies the number that is there. Problems of the path are reported at
// `path_place`, where the user wrote it.
void set_knob(base::Node& document, std::string_view path, const base::Place& path_place,
              const base::Node& value, base::Problems& problems);

// "path=value": the text of `assignment`, whose name messages say.
void set_knob(base::Node& document, const base::Source& assignment, base::Problems& problems);

}  // namespace roofcast::sim
