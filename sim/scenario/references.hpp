// SPDX-License-Identifier: Apache-2.0
//
// What a scenario document names instead of saying it, and the parts that are derived from what is named.
//
// A part (system, chip, model, precision, calibration, stack) may be derived from another of its kind, which may itself
// be derived:
//
//   base: h100_sxm                # an id or a path
//   name: A Hopper that was not built
//   tensor.bf16: x1.35            # dotted changes below the part (knob.hpp); factors multiply what is there
//   hbm: {bandwidth: 6 TB/s}      # groups change key by key
//   source: what the changes are based on
#pragma once

#include <array>
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
  std::array<std::string_view, 3> follows = {};  // empty: no more
  bool only_for_knobs = false;  // `fill` is for a knob that goes below; else it stays absent
};
const std::vector<ReferencePoint>& reference_points();      // outer ones first
const ReferencePoint* reference_at(std::string_view path);  // nullptr when there is none

// Loads what the node at `path` names, if it may name something. If it is written in another schema, translates it. If it
// has a base, derives it. False when that cannot be had; the node is then a scalar.
bool load_at(base::Node& document, std::string_view path, base::Problems& problems);
// Names what is meant at `path`, if nothing is there. False when that cannot be had.
bool fill_at(base::Node& document, std::string_view path, base::Problems& problems);

// Sets what a path through references leads to, with what a change of a chip carries along (hardware/chip_changes.hpp).
void set_through(base::Node& document, std::string_view path, const base::Place& path_place,
                 const base::Node& value, base::Problems& problems);
// The order of settings that are made together: a part before what is changed in it, and a die before figures of its
// own.
bool is_set_before(std::string_view path, std::string_view other);

// The id of the serving stack, which may be derived; empty when there is none.
std::string_view stack_of(const base::Node& document);

// Replaces every reference by the document it names, and every derived part by the whole it makes.
void load_references(base::Node& document, base::Problems& problems);

// Whether a section holds a reference that could not be loaded, which has been reported: without it,
// what else is wrong there cannot be known.
bool lacks_a_reference(const base::Node& document, std::string_view section);

}  // namespace roofcast::sim
