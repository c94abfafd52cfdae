// SPDX-License-Identifier: Apache-2.0
//
// Chips joined into nodes, racks and clusters.
//
// Two levels of fabric. Inside a scale-up domain every chip reaches every other, by one of
//   link: nvlink   the chip's NVLink port, switched: any peer gets all of it
//   link: switch   the chip's other links (UALink), switched likewise
//   link: mesh     the chip's other links (xGMI), each straight to one peer: with c links and a
//                  domain of d chips a pair has ⌊c/(d−1)⌋ of them. Two ranks talk over those
//                  alone, a group of n uses (n−1) times as many, only a group of all d every link
//   link: pcie     the chip's host port
// Beyond the domain, through its share of the NICs. `oversubscription` r ≥ 1 says that the spine
// carries 1/r of what the NICs could send at once. In a `rail_optimised` fabric ranks at the same
// position in their domains meet below the spine at full rate, and only traffic that leaves its
// rail is divided by r (valid while a rail's leaf switches reach the whole system). Tori are not
// described.
//
// A system needs of its chip what every forecast needs: compute.sms, compute.clock, l2.capacity and
// a 16-bit tensor rate, from the datasheet or assumed.
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
  bool peer_access = false;  // ranks read each other's memory directly (NVLink, xGMI)
  double mesh_peers = 0;     // a full mesh: the chips the bandwidth is split over; 0: switched
  double off_rail = 1.0;     // its share between ranks at different positions in their domains

  // The level as a group of some of its ranks has it.
  FabricLevel among(double ranks) const;
};

// What somebody asks for one GPU with its share of the host, by the second.
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
  double oversubscription = 1.0;         // of the scale-out's spine
  bool rail_optimised = false;
  std::optional<Price> price;
  std::optional<base::Dollars> purchase;  // of one GPU: what a server or rack costs over its GPUs
  std::optional<base::Watts> host_power;  // of one GPU: its share of hosts, NICs, switches and fans

  Provenance provenance() const {
    return chip.rests_on_assumptions() ? Provenance::assumed : calibration.provenance;
  }
};

void read(base::Fields& f, System& system);

base::Catalog system_catalog();

}  // namespace roofcast::hardware
