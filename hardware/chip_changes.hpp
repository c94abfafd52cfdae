// SPDX-License-Identifier: Apache-2.0
//
// What a change of a chip carries along, so that an architect changes a die and not one figure of a datasheet.
//
//   compute.sms × s, compute.clock × f    tensor.*, vector.*, measured.exponential_rate   × s·f
//                                         measured.l2_bandwidth                           × s·f, with slices × f
//   l2.slices × n                         measured.l2_bandwidth, l2.capacity              × n
//
// Of most chips the number of slices is not known. A factor of it then makes `l2.relative_slices`, by which the L2's rate
// follows where it was not measured. So does the rate of exp(), `measured.relative_exponential_rate`.
//
// The same for assumed.sms and assumed.clock where the datasheet is silent. A figure that was null is learned, not changed:
// nothing follows it. Figures of one SM (shared memory) and shares stay what they are. A figure that is set after the die
// holds as it is set; of changes that are made together those of the die come first.
//
// Energies are a matter of the process, so a changed chip remembers the one that it was: the group `parent`.
#pragma once

#include <string_view>

#include "base/document/node.hpp"

namespace roofcast::hardware {

// Whether a path below a chip is of its SMs, clock or L2 slices.
bool is_of_the_die(std::string_view path);

// The knob of the chip that a key of its die is read into (hardware/die.hpp), below the chip: "compute.sms" of "die.sms". Empty
// where the path leads into no die.
std::string_view knob_of_die(std::string_view path);

// After the change of one knob of `chip`, which was `before`: lets the figures follow, and remembers the parent. SMs and
// slices that a factor made a fraction of are rounded, with a note.
void carry_along(base::Node& chip, const base::Node& before, std::string_view path, bool by_factor);

// What a factor multiplies where the figure at `path` is not stated: the cap is the TDP, slices and the rate of exp() are one
// times those there are.
void state_default(base::Node& chip, std::string_view path);

// Adds the group `parent` without a name, so that the figures that energies are of are knobs of a chip that is not changed.
void state_energies(base::Node& chip);

}  // namespace roofcast::hardware
