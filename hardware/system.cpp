// SPDX-License-Identifier: Apache-2.0
#include "hardware/system.hpp"

namespace roofcast::hardware {

std::span<const base::CatalogEntry> embedded_systems();

base::Catalog system_catalog() { return {"systems", "system", embedded_systems()}; }

void read(base::Fields& f, System& system) {
  using base::Fields;
  system.id = f.node().reference;
  f.text("name", system.name);
  f.group("chip", [&](Fields& g) { read(g, system.chip); });
  f.group("calibration", [&](Fields& g) { read(g, system.calibration); });
  if (!system.chip.clock &&
      !(system.chip.measured.l2_bandwidth && system.chip.measured.exponential_rate)) {
    f.problem("chip",
              "needs compute.clock, or measured.l2_bandwidth and measured.exponential_rate");
  }
  system.chips = system.scale_up_domain = 0;  // until they are read
  f.integer("chips", system.chips, base::at_least_one);
  f.group("scale_up", [&](Fields& g) {
    enum class Link { nvlink, pcie };
    Link link = Link::pcie;
    g.choice<Link>("link", link, {{"nvlink", Link::nvlink}, {"pcie", Link::pcie}});
    g.integer("domain", system.scale_up_domain, base::at_least_one);
    g.flag("in_network_reduction", system.scale_up.in_network_reduction);
    g.source();
    if (link == Link::nvlink && !system.chip.nvlink) {
      g.problem("link", "this chip has no NVLink port");
    }
    system.scale_up.bandwidth = link == Link::nvlink
                                    ? system.chip.nvlink.value_or(base::BytesPerSecond{})
                                    : system.chip.pcie;
    system.scale_up.peer_access = link == Link::nvlink;
    if (system.chips > 0 && system.scale_up_domain > system.chips) {
      g.problem("domain", "is larger than the system's number of chips");
    }
  });
  f.group(
      "scale_out",
      [&](Fields& g) {
        FabricLevel level;
        g.quantity("bandwidth_per_direction", level.bandwidth);
        g.flag("in_network_reduction", level.in_network_reduction);
        g.source();
        system.scale_out = level;
      },
      base::optional);
  f.group("latency", [&](Fields& g) {
    base::Seconds scale_out{};
    g.quantity("scale_up", system.scale_up.latency);
    g.quantity("scale_out", scale_out, base::positive,
               system.scale_out ? base::required : base::optional);
    if (system.scale_out) {
      system.scale_out->latency = scale_out;
    }
    g.source();
  });
  if (!system.scale_out && system.scale_up_domain > 0 && system.chips > system.scale_up_domain) {
    f.problem("scale_out", "is required: the system has more chips than one scale-up domain");
  }
  f.group(
      "price",
      [&](Fields& g) {
        Price price;
        g.quantity("per_gpu_hour", price.per_gpu);
        g.text("date", price.date);
        g.source();
        system.price = price;
      },
      base::optional);
  std::vector<std::string> notes;
  f.texts("notes", notes);
}

}  // namespace roofcast::hardware
