// SPDX-License-Identifier: Apache-2.0
//
// What a second of GPUs costs, rented or owned.
//
//   pay: rental      USD/s = n · rent
//   pay: ownership   USD/s = n · (purchase · (1/depreciation + upkeep) / u       capital and upkeep
//                                 + hosting · (cap + host) / u                   power that was reserved
//                                 + electricity · PUE · (power + host + (1/u − 1) · (idle + host)))   drawn
//
//   n             –        GPUs
//   rent          USD/s    `price` of the system, per GPU
//   purchase      USD      `purchase` of the system, per GPU
//   depreciation  s        time in which the value falls to nothing, in a straight line
//   upkeep        1/s      share of the purchase a second
//   u             –        share of the time in which the GPUs serve as the scenario says
//   hosting       USD/J    for each second and watt that hosts and GPUs may draw
//   cap           W        `power.cap` of the chip, or its TDP
//   host          W        `host_power` of the system: a GPU's share of hosts, NICs, switches and fans
//   electricity   USD/J    at the meter
//   power         W        drawn by a GPU that serves
//   idle          W        drawn by a GPU that waits: it stays on
//   PUE           –        power of the site / power of its computers
//
// Because of u, idle time is paid by the time that serves. Rented GPUs are given back when they are not
// needed, and the rent includes power and hosting. A price that somebody asked or estimated is no forecast:
// each has its date.
//
// Not priced: interest, resale, staff, software, networks that the purchase
// does not include.
#pragma once

#include <optional>
#include <string>

#include "base/document/catalog.hpp"
#include "base/document/fields.hpp"
#include "base/units/quantity.hpp"

namespace roofcast::hardware {

using DollarsPerJoule = base::QuantityOf<0, 0, 0, -1, 1>;

enum class Pay { rental, ownership };

struct Prices {
  std::string name;
  Pay pay = Pay::rental;
  base::Seconds depreciation;
  double upkeep = 0;       // 1/s
  double utilisation = 1;  // u
  DollarsPerJoule electricity;
  DollarsPerJoule hosting;
  std::optional<double> pue;                // power of the site / power of its computers
  std::optional<double> co2_g_per_j;        // g/J, electricity of the grid
  std::optional<base::Watts> power_budget;  // of the site, with PUE
};

void read(base::Fields& f, Prices& prices);

base::Catalog price_catalog();

}  // namespace roofcast::hardware
