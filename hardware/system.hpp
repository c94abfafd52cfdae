// SPDX-License-Identifier: Apache-2.0
//
// Chips joined into nodes, racks and clusters.
//
// The fabric has two levels. Inside a scale-up domain every chip reaches every other, in one of four ways:
//
//   link: nvlink   the NVLink port of the chip, switched: any peer gets all of it
//   link: switch   the other links of the chip (UALink), switched in the same way
//   link: mesh     the other links of the chip (xGMI), each straight to one peer. With c links and a domain of d
//                  chips a pair has ⌊c/(d−1)⌋ links. Two ranks can use only those, a group of n uses (n−1) times
//                  as many, and only a group of all d uses every link
//   link: pcie     the host port of the chip. With `shared_bandwidth` a group of more than two chips moves no more than
//                  that in all, since its data passes through the host; two are on one switch
//
// Beyond the domain a chip has its share of the NICs. `oversubscription` r ≥ 1 says that the spine carries
// 1/r of what all NICs could send at once. In a `rail_optimised` fabric, ranks at the same position in their
// domains meet below the spine at full rate. Only traffic that leaves its rail is divided by r. This is valid
// while the leaf switches of a rail reach the whole system. Tori are not described.
//
// Every forecast needs these figures of the chip: compute.sms, compute.clock, l2.capacity and a 16-bit tensor
// rate, from the datasheet or assumed.
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
  bool peer_access = false;       // ranks read each other's memory directly (NVLink, xGMI)
  double mesh_peers = 0;          // in a full mesh: the peers that share the bandwidth; 0: switched
  base::BytesPerSecond shared{};  // of a group of more than two together; 0: each has its own
  double off_rail = 1.0;  // share of the bandwidth between different positions in the domains
  bool rails = false;     // one position of the domains has switches of its own

  // The level as a group of only some ranks can use it.
  FabricLevel among(double ranks) const;
  bool differs_among() const { return mesh_peers > 0.0 || shared.si() > 0.0; }
};

// The rent of one GPU with its share of the host, by the second.
struct Price {
  base::DollarsPerSecond per_gpu;
  std::string date;
};

// Of a system that does not tell it: NVIDIA's reference architectures put four DGX of 8 GPUs into a rack
// (docs.nvidia.com/dgx-superpod, scalable-infrastructure-b300).
inline constexpr std::int64_t kUsualHostsPerRack = 4;
inline constexpr std::int64_t kMostGpusOfHost = 8;

// What is forecast as if it had never been measured (hardware/nearest_calibration.hpp).
enum class Unmeasured { nothing, chip, architecture };

struct System {
  std::string id;
  std::string name;
  Chip chip;
  Calibration calibration;
  Unmeasured as_if_unmeasured = Unmeasured::nothing;  // decides the calibration where none is named
  std::int64_t chips = 1;
  std::int64_t scale_up_domain = 1;
  FabricLevel scale_up;
  std::optional<FabricLevel> scale_out;  // present when chips > scale_up_domain
  double oversubscription = 1.0;         // of the spine of the scale-out network
  bool rail_optimised = false;
  // Of scale-up domains that are no rack themselves.
  std::optional<std::int64_t> hosts_per_rack;
  // All GPUs of a rack and their `host_power`. Each GPU is capped at its share of what the hosts leave.
  std::optional<base::Watts> rack_power;
  bool capped_by_rack = false;  // chip.cap is that share
  std::string replaces;         // the chip that stood in this system before this one; empty: none
  std::optional<Price> price;
  std::optional<base::Dollars> purchase;  // per GPU: the price of a server or rack / its GPUs
  // The chip before it was changed or replaced, where the price is still that of a system with it; empty: it is not.
  std::string price_of;
  std::string purchase_of;
  std::optional<base::Watts> host_power;  // per GPU: its share of hosts, NICs, switches and fans
  std::string host_power_of;              // as price_of
  // GPUs of the system that the name describes, where it has another number; 0: it has those.
  std::int64_t described_chips = 0;

  // "HGX H200 with a changed NVIDIA H200 SXM": the name, and what is not as it says: the chip, or how many there are.
  std::string title() const;
  // "NVIDIA B200 SXM", "a changed NVIDIA H200 SXM"; empty where it is the chip that belongs there.
  std::string other_chip() const;
  std::int64_t gpus_of_host() const;  // at most 8 of a scale-up domain
  std::int64_t hosts_of_rack() const;
  std::int64_t gpus_of_rack() const;  // a scale-up domain of several hosts, or hosts_per_rack
  Provenance provenance() const {
    return chip.rests_on_assumptions() ? Provenance::assumed : calibration.provenance;
  }
};

void read(base::Fields& f, System& system);

base::Catalog system_catalog();

}  // namespace roofcast::hardware
