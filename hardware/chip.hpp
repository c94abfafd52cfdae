// SPDX-License-Identifier: Apache-2.0
//
// One accelerator: what its datasheet says, and beside it what was measured on real parts.
//
// Rates are dense (no structured sparsity) with FP32 accumulation. Link rates are per direction.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "base/catalog.hpp"
#include "base/fields.hpp"
#include "base/number_format.hpp"
#include "base/quantity.hpp"

namespace roofcast::hardware {

// Observed on real parts; absent where nobody has published a figure.
struct MeasuredChip {
  double usable_share = 1.0;  // of the capacity, what the driver reports; 1 when nobody says
  std::optional<base::BytesPerSecond> l2_bandwidth;      // reads that hit
  std::optional<base::Seconds> dram_latency;             // pointer chase
  std::optional<base::FlopsPerSecond> exponential_rate;  // exp() of the whole chip
};

struct Chip {
  std::string id;
  std::string name;
  std::string vendor;
  std::string architecture;
  std::string status;
  std::int64_t sms = 0;
  std::optional<base::Hertz> clock;                             // behind the dense peaks
  std::array<base::FlopsPerSecond, base::kMathTypes> tensor{};  // 0 = not supported or not known
  base::FlopsPerSecond vector_fp32;
  std::string memory_type;
  base::Bytes capacity;
  base::BytesPerSecond bandwidth;
  base::Bytes l2_capacity;
  base::Bytes shared_memory_per_sm;
  base::Watts tdp;
  std::optional<base::BytesPerSecond> nvlink;  // per direction
  base::BytesPerSecond pcie;                   // per direction
  MeasuredChip measured;

  base::FlopsPerSecond peak(base::MathType type) const {
    return tensor[static_cast<std::size_t>(type)];
  }
  base::Bytes usable_capacity() const { return capacity * measured.usable_share; }
};

void read(base::Fields& f, Chip& chip);

base::Catalog chip_catalog();

}  // namespace roofcast::hardware
