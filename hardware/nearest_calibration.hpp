// SPDX-License-Identifier: Apache-2.0
//
// Finds a calibration for a chip that names none, among those that were fitted to measurements (<chip>.<stack>).
//
//   1. A measured chip of the catalog, unchanged and under a measured stack, has its own calibration.
//   2. A measured chip that was changed, but for its generation and kind of memory, keeps its parameters and corrections,
//      so that a sweep of its figures shows these figures alone.
//   3. Any other chip of a vendor with measured chips has transferred parameters. Each is the weighted mean over all measured
//      chips and stacks (hardware/pooling.hpp). The chips that were measured under the same stack give shares of
//      their corrections too, of the logarithm: exp(−d / 1.5) where there is one alone, d its distance in generations.
//   4. Chips of other vendors have the generic parameters.
//
// In 3 the nearest, the weights and d are those of the catalog's entry that the chip was before it was changed, else of the
// figures that the chip had then. They leave out the SMs, the L2, the shared memory and the tensor rates (apart_from_die). So
// parameters do not drift while an architect turns a chip: what changes is what its figures do. The width of the interval knows
// them. An entry is followed through files that have it as their `base`. All is continuous in the figures: nothing jumps where
// another chip becomes the nearest, which gives the calibration its name and what no chip disagrees about. Bytes that an SM keeps in flight are pooled as shares of its shared memory, which libraries fill with stages of
// operands (models/tile_room.hpp).
//
// Energies are a matter of the process. A chip that is none of the catalog has those of the measured chips of its architecture,
// the weighted mean of their figures (EnergySource), whatever its own TDP is; without such chips its TDP scales them.
//
// The host's time for a launch (launch.eager) is pooled apart, over the n hosts where it was fitted (host_distance). What
// waits for it has errors of a kind of its own, `host_launches`: half-widths of 1.645 · s · √(1 + 1/n), s the standard
// deviation of the logarithms of these times. So the next host is taken to be like those that were measured.
//
// Both 2 and 3 are `transferred`. Parameters are shares of datasheet figures, DRAM latencies, clocks and bytes of an SM. So
// they act on the rates of the chip at hand. What is left in seconds is of hosts and drivers.
//
// The interval of a kind of operators widens with the distance. Its half-widths in the logarithm are
//
//   √(own² + v·(far² − own²))
//
//   own  –  half-widths of the calibrations on the shapes that were held back from their fits, their weighted mean
//   far  –  half-width between unrelated architectures (hardware/spreads.hpp), at least own
//   v    –  variance of the weighted mean, in shares of that between unrelated architectures
//
// w and v are of the chips that measured the kind. A kind of operators that no chip measured under the stack has v = 1. Else v
// grows continuously from 0 for a measured chip. A stack that was not measured on the nearest chip counts as half of what an unrelated architecture would.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document/catalog.hpp"
#include "base/document/node.hpp"
#include "hardware/system.hpp"

namespace roofcast::hardware {

// Returns a scalar with the name of a calibration, or {base: …, provenance: transferred}. `chip`: its whole document.
// `also`: an architecture that counts as unmeasured too.
base::Node nearest_calibration(const base::Node& chip, std::string_view stack,
                               Unmeasured unmeasured = Unmeasured::nothing,
                               std::string_view also = {});

// The two sources of the error of a kind of operators under transferred parameters.
struct TransferredError {
  std::string kind;
  double own_below = 0.0, own_above = 0.0;  // half-widths of ln(measured / predicted): `own`
  double variance = 0.0;                    // v
};
// Empty where the calibration is not transferred.
std::vector<TransferredError> transferred_errors(const base::Node& chip, std::string_view stack,
                                                 Unmeasured unmeasured, std::string_view also = {});

}  // namespace roofcast::hardware
