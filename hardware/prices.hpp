// SPDX-License-Identifier: Apache-2.0
//
// What a second of GPUs costs: rented, or owned.
//
//   pay: rental      USD/s = n · rent
//   pay: ownership   USD/s = n · (purchase · (1/depreciation + upkeep) / u       capital and upkeep
//                                 + hosting · (TDP + host) / u                   of the power that was reserved
//                                 + electricity · PUE · (power + host))          of the power that is drawn
//
// n GPUs; u the share of the time in which they serve as the scenario says, so what stands idle is paid by what
// serves; rent is the system's `price`, purchase its `purchase` per GPU, host its `host_power`: what a GPU's share of
// hosts, NICs, switches and fans takes (hardware/system.hpp). What is rented is given back when it is not needed, and
// its rent holds power and hosting. A price that somebody asked or estimated is no forecast: each has its date.
//
// Not priced: the electricity of idle hours, interest, resale, staff, software, networks beyond what the purchase holds.
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
  base::Seconds depreciation;               // straight, to nothing
  double upkeep = 0;                        // a second, of the purchase
  double utilisation = 1;                   // u
  DollarsPerJoule electricity;              // at the meter
  DollarsPerJoule hosting;                  // a second and watt of what hosts and GPUs may draw
  std::optional<double> pue;                // all power of the site over that of its computers
  std::optional<double> co2_g_per_j;        // of the grid's electricity
  std::optional<base::Watts> power_budget;  // of the site, PUE included
};

void read(base::Fields& f, Prices& prices);

base::Catalog price_catalog();

}  // namespace roofcast::hardware
