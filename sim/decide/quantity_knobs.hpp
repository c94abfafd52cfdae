// SPDX-License-Identifier: Apache-2.0
//
// Which knobs of a scenario are rates, latencies and sizes: whatever has a unit in its system, its serving stack, its
// trainer and its run, the numbers of SMs and L2 slices, and the run's rates of failures. All formats of the tensor units are one knob, system.chip.tensor.*
//
// A knob whose unit has time in it (bandwidths, FLOP rates, clocks, watts; latencies, host times) is of a resource.
// Clients that wait know no other time than these, so that all rates × λ at all latencies / λ is the same system in
// another unit of time: every time becomes 1/λ of what it was.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/node.hpp"
#include "base/document/problems.hpp"

namespace roofcast::sim {

enum class Resource {
  compute,  // the clock of SMs and L2, with all that it carries along (hardware/chip_changes.hpp)
  memory,   // rate and latency of HBM
  network,  // ports, NICs, hops, what collectives take to start beside kernels
  launch,   // of kernels
  host,     // of the serving stack or trainer: scheduler, front end
  power,    // the TDP: without it nothing slows the clocks
};
inline constexpr std::size_t kResources = 6;
std::string_view name(Resource resource);

struct QuantityKnob {
  std::string path;     // "system.chip.hbm.bandwidth", "system.chip.tensor.*"
  std::string now;      // the text that is there; of several, theirs
  int figures = 1;      // that are multiplied together
  bool whole = false;   // a number without a unit
  double number = 0.0;  // of whole ones
  int time =
      0;  // exponent of time in the unit: −1 a rate, 1 a latency; 0 of rates that the clock carries along
  std::optional<Resource> resource;

  std::string times(double factor) const;  // a setting
  bool less_is_better() const;             // latencies, failures, energies and what hosts draw
  // A figure of the chip that this one was changed from: its energies are shares of it, and nobody turns it.
  bool is_of_the_parent() const { return path.starts_with("system.chip.parent."); }
  std::string at(double value) const;  // of a whole number
};

// `document`: its references are loaded. Figures of zero, and prices, are no knobs here.
std::vector<QuantityKnob> quantity_knobs(const base::Node& document);

// One that somebody names: the text of `written` is a dotted path to a number, with or without a unit, or to every
// number of a group, "….*".
QuantityKnob knob_at(const base::Source& written, const base::Node& document,
                     base::Problems& problems);

}  // namespace roofcast::sim
