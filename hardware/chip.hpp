// SPDX-License-Identifier: Apache-2.0
//
// One accelerator: the figures of its datasheet, those measured on real chips, and those assumed for chips
// that nobody has described in full. The three groups are kept apart.
//
// Rates are dense with FP32 accumulation; `sparsity` says by how much 2:4 sparse weights multiply them. Link rates
// are per direction. A figure that is not published is null in the file and absent here. A system whose forecast
// needs it is refused (hardware/system.hpp). An assumption is used only where the datasheet is silent, and every
// forecast that rests on one says so (Provenance::assumed).
#pragma once

#include <array>
#include <optional>
#include <string>

#include "base/document/catalog.hpp"
#include "base/document/fields.hpp"
#include "base/units/number_format.hpp"
#include "base/units/quantity.hpp"

namespace roofcast::hardware {

// Measured on real chips. A figure is absent where nobody has published one.
struct MeasuredChip {
  double usable_share = 1.0;  // share of the capacity that the driver reports; 1 where nobody says
  std::optional<base::BytesPerSecond> l2_bandwidth;      // reads that hit
  std::optional<base::Seconds> dram_latency;             // pointer chase
  std::optional<base::FlopsPerSecond> exponential_rate;  // exp() of the whole chip
  double relative_exponential_rate =
      1.0;  // of a changed chip whose rate is not known, to what it had
  std::optional<double>
      flop_share;  // share of the TDP that bf16 FLOP alone would draw at the dense peak
  // Of its voltage over its clock (models/power.hpp).
  double voltage_exponent = 1.0;
  std::optional<double> voltage_floor;
};

// Assumed in place of a figure that the datasheet leaves out. The source is the reason.
struct AssumedChip {
  std::optional<std::int64_t> sms;
  std::optional<base::Hertz> clock;
  std::optional<base::Bytes> l2_capacity;
  std::optional<double> flop_share;
};

// The scale-up links of a chip other than NVLink: xGMI, UALink, ICI. The system says how they are wired.
struct Links {
  std::optional<std::int64_t> count;
  base::BytesPerSecond bandwidth;  // of all links together, per direction
};

// The systems that measurements of the chip were taken in, where their tables name the chip alone; ids or paths, empty
// where none is known. The system's own chip may be another: it then stands in the same fabric.
struct MeasuredOn {
  std::string server;   // an HGX board, a rack, a box of PCIe cards
  std::string cluster;  // such servers joined, or the rack
};

// The chip that this one was changed from (hardware/chip_changes.hpp). Energies are still that chip's.
struct ParentChip {
  std::string name;  // empty: it is the chip itself
  std::optional<std::int64_t> sms;
  std::optional<base::Hertz> clock;
  std::optional<base::Watts> tdp;
  std::optional<base::Bytes> shared_memory_per_sm;
  std::array<base::FlopsPerSecond, base::kMathTypes> tensor{};  // 0 = not known
  std::optional<base::BytesPerSecond> bandwidth;
  std::optional<base::BytesPerSecond> nvlink;  // per direction
};

struct Chip {
  std::string id;
  std::string catalog_id;  // known_chip
  std::string name;
  std::string vendor;
  std::string architecture;
  std::string status;
  std::optional<std::int64_t> sms;   // AMD: compute units
  std::optional<base::Hertz> clock;  // the clock of the dense peaks
  std::string tensor_instruction;    // family that decides which kernels run; empty: not told
  std::array<base::FlopsPerSecond, base::kMathTypes> tensor{};  // 0 = not supported or not known
  // Products with 2:4 sparse weights / dense peaks; 0: not supported or not known.
  double sparsity = 0;
  std::string memory_type;
  base::Bytes capacity;
  base::BytesPerSecond bandwidth;
  std::optional<base::JoulesPerByte> memory_energy;  // in the memory itself, of a byte
  std::optional<base::Bytes> l2_capacity;
  std::optional<base::Bytes> shared_memory_per_sm;  // with the L1
  std::optional<base::Bytes> registers_per_sm;
  std::optional<base::Bytes>
      tensor_memory_per_sm;  // where tensor cores add up, in place of registers
  std::optional<std::int64_t> l2_slices;
  double l2_relative_slices = 1.0;  // of a changed chip whose number is not known, to those it had
  std::optional<base::Watts> tdp;
  // The chip before it was changed, where the TDP is still that one's; empty: it is not.
  std::string tdp_of;
  std::optional<base::Watts> cap;              // at most the TDP
  std::optional<base::BytesPerSecond> nvlink;  // per direction
  std::optional<Links> links;
  std::optional<base::BytesPerSecond> pcie;  // per direction
  // Per direction, of a chip on one module with its processor: NVLink-C2C.
  std::optional<base::BytesPerSecond> cpu_link;
  MeasuredChip measured;
  AssumedChip assumed;
  MeasuredOn measured_on;
  std::optional<ParentChip> parent;  // of a chip that was changed

  base::FlopsPerSecond peak(base::MathType type) const {
    return tensor[static_cast<std::size_t>(type)];
  }
  base::Bytes usable_capacity() const { return capacity * measured.usable_share; }

  // The figure that a forecast uses: that of the datasheet, else the assumed one.
  std::optional<std::int64_t> sms_used() const { return sms ? sms : assumed.sms; }
  std::optional<base::Hertz> clock_used() const { return clock ? clock : assumed.clock; }
  std::optional<base::Bytes> l2_capacity_used() const {
    return l2_capacity ? l2_capacity : assumed.l2_capacity;
  }
  // What the power controller holds.
  std::optional<base::Watts> cap_used() const { return cap ? cap : tdp; }
  // The chip's own share where it is known; else the calibration has one.
  std::optional<double> flop_share() const {
    return measured.flop_share ? measured.flop_share : assumed.flop_share;
  }
  // The way to the memory of the host.
  std::optional<base::BytesPerSecond> host_link() const { return cpu_link ? cpu_link : pcie; }
  bool rests_on_assumptions() const {
    return (!sms && assumed.sms) || (!clock && assumed.clock) ||
           (!l2_capacity && assumed.l2_capacity);
  }
};

void read(base::Fields& f, Chip& chip);

base::Catalog chip_catalog();

// The id of the catalog's chip that a document is, or was changed from: by its reference, or of a file by what its parent is
// called or by what it is called itself. Empty: none.
std::string known_chip(const base::Node& chip);

}  // namespace roofcast::hardware
