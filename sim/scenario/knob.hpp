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
//
// A part (system, chip, model, precision, calibration, stack) may be derived from another of its kind,
// which may itself be derived:
//
//   base: h100_sxm                # an id or a path
//   name: A Hopper that was not built
//   tensor.bf16: x1.35            # dotted changes below the part; factors multiply what is there
//   hbm: {bandwidth: 6 TB/s}      # groups change key by key
//   source: what the changes are based on
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/catalog.hpp"
#include "base/document/node.hpp"
#include "base/document/problems.hpp"

namespace roofcast::sim {

// Where a document may name another one.
struct ReferencePoint {
  std::string_view path;
  base::Catalog catalog;
  std::string_view when_absent = {};  // what is meant then; empty: the key is required
  // Where it is absent: names what is meant, by what is at the paths that it follows. False when that cannot be had.
  bool (*fill)(base::Node& document, std::string_view path, base::Problems& problems) = nullptr;
  std::array<std::string_view, 2> follows = {};  // empty: no more
  bool only_for_knobs = false;  // `fill` is for a knob that goes below; else it stays absent
};
const std::vector<ReferencePoint>& reference_points();      // outer ones first
const ReferencePoint* reference_at(std::string_view path);  // nullptr when there is none

// Sets a knob: loads the references the path goes through, then replaces the value. A value "x1.35"
// or "x 0.5" multiplies the number that is there. Problems of the path are reported at
// `path_place`, where the user wrote it.
void set_knob(base::Node& document, std::string_view path, const base::Place& path_place,
              const base::Node& value, base::Problems& problems);

// "path=value": the text of `assignment`, whose name messages say.
void set_knob(base::Node& document, const base::Source& assignment, base::Problems& problems);

// What a path that ends in ".*" multiplies: the numbers of a group, not a source that begins with a digit.
std::vector<const base::Entry*> numbers_of(const base::Node& group);

// The id of the serving stack, which may be derived; empty when there is none.
std::string_view stack_of(const base::Node& document);

// Replaces every reference by the document it names, and every derived part by the whole it makes.
void load_references(base::Node& document, base::Problems& problems);

// Whether a section holds a reference that could not be loaded, which has been reported: without it,
// what else is wrong there cannot be known.
bool lacks_a_reference(const base::Node& document, std::string_view section);

}  // namespace roofcast::sim
