// SPDX-License-Identifier: Apache-2.0
//
// Chips joined into nodes, racks and clusters.
//
// Two levels of fabric: inside a scale-up domain every chip reaches every other at the speed of its
// own port; beyond it, through its share of the NICs.
#pragma once

#include <optional>
#include <string>

#include "hardware/calibration.hpp"
#include "hardware/chip.hpp"

namespace roofcast::hardware {

// One level of the fabric, as one chip sees it.
struct FabricLevel {
  base::BytesPerSecond bandwidth;  // per chip and direction
  base::Seconds latency;           // one hop, small message
  bool in_network_reduction = false;
  bool peer_access = false;  // ranks read each other's memory directly (NVLink)
};

struct Price {
  base::DollarsPerSecond per_gpu;
  std::string date;
};

struct System {
  std::string id;
  std::string name;
  Chip chip;
  Calibration calibration;
  std::int64_t chips = 1;
  std::int64_t scale_up_domain = 1;
  FabricLevel scale_up;
  std::optional<FabricLevel> scale_out;  // present when chips > scale_up_domain
  std::optional<Price> price;
};

void read(base::Fields& f, System& system);

base::Catalog system_catalog();

}  // namespace roofcast::hardware
