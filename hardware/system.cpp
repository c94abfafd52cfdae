// SPDX-License-Identifier: Apache-2.0
#include "hardware/system.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document/notes.hpp"
#include "base/units/unit_text.hpp"

namespace roofcast::hardware {

// The cap where the hosts of a rack leave nothing.
constexpr base::Watts kNothing = base::Watts::from_si(1e-3);

std::span<const base::CatalogEntry> embedded_systems();

base::Catalog system_catalog() { return {"systems", "system", embedded_systems()}; }

FabricLevel FabricLevel::among(double ranks) const {
  FabricLevel level = *this;
  if (mesh_peers > 0.0) {
    level.bandwidth *= std::clamp(ranks - 1.0, 1.0, mesh_peers) / mesh_peers;
  }
  if (shared.si() > 0.0 && ranks > 2.0) {
    level.bandwidth = base::min(bandwidth, shared / ranks);
  }
  return level;
}

namespace {

using base::Fields;

// Reports each figure that every forecast needs and the chip lacks, and how to supply it.
void check_known(Fields& f, const Chip& chip) {
  const auto need = [&](bool known, std::string_view key) {
    // What is written and cannot be read has its own problem.
    const base::Node* written = f.node().find_path(key);
    if (!known && (written == nullptr || written->is_null())) {
      f.problem(key, fmt::format("is not known of this chip, and a forecast needs it: set it in a "
                                 "derived chip, {{base: {}, {}: ...}}",
                                 chip.id.empty() ? "..." : chip.id, key));
    }
  };
  need(chip.sms_used().has_value(), "compute.sms");
  need(chip.clock_used().has_value(), "compute.clock");
  need(chip.l2_capacity_used().has_value(), "l2.capacity");
  need(chip.peak(base::MathType::bf16).si() > 0.0 || chip.peak(base::MathType::fp16).si() > 0.0,
       "tensor.bf16");
}

enum class Link { nvlink, switched, mesh, pcie };

void read_scale_up(Fields& f, System& system) {
  const Chip& chip = system.chip;
  FabricLevel& level = system.scale_up;
  Link link = Link::pcie;
  f.choice<Link>("link", link,
                 {{"nvlink", Link::nvlink},
                  {"switch", Link::switched},
                  {"mesh", Link::mesh},
                  {"pcie", Link::pcie}});
  f.integer("domain", system.scale_up_domain, base::at_least_one);
  f.flag("in_network_reduction", level.in_network_reduction);
  f.quantity("shared_bandwidth", level.shared, base::positive, base::optional);
  if (level.shared.si() > 0.0 && link != Link::pcie) {
    f.problem("shared_bandwidth", "is of link: pcie only");
  }
  f.source();
  level.peer_access = link != Link::pcie;
  switch (link) {
    case Link::nvlink:
      if (!chip.nvlink) {
        f.problem("link", "this chip has no NVLink port");
      }
      level.bandwidth = chip.nvlink.value_or(base::BytesPerSecond{});
      break;
    case Link::switched:
      if (!chip.links) {
        f.problem("link", "this chip has no links");
      }
      level.bandwidth = chip.links.value_or(Links{}).bandwidth;
      break;
    case Link::mesh: {
      const std::int64_t count = chip.links.value_or(Links{}).count.value_or(0);
      const std::int64_t peers = std::max<std::int64_t>(1, system.scale_up_domain - 1);
      if (count < peers) {
        f.problem("link",
                  fmt::format("a full mesh of {} chips needs {} links a chip, this one has {}",
                              peers + 1, peers, count));
        break;
      }
      level.mesh_peers = static_cast<double>(peers);
      level.bandwidth = chip.links->bandwidth *
                        (static_cast<double>(count / peers * peers) / static_cast<double>(count));
      if (level.in_network_reduction) {
        f.problem("in_network_reduction", "a mesh has no switch that could reduce");
      }
      break;
    }
    case Link::pcie:
      if (!chip.pcie && system.scale_up_domain > 1) {
        f.problem("link", "pcie.bandwidth_per_direction of this chip is not known");
      }
      level.bandwidth = chip.pcie.value_or(base::BytesPerSecond{});
      break;
  }
  if (system.chips > 0 && system.scale_up_domain > system.chips) {
    f.problem("domain",
              fmt::format("is larger than the system's {} chips; set system.chips as well",
                          system.chips));
  }
}

bool has_text_of(const base::Node& node, const base::Source* document) {
  return (node.is_scalar() && node.place.source.get() == document) ||
         std::any_of(node.entries.begin(), node.entries.end(), [&](const base::Entry& entry) {
           return entry.key != "parent" && has_text_of(entry.value, document);
         });
}

// The chip before, where a figure is as it stood in the system with it: no later document set it, and the chip was changed
// by a later one.
std::string stood_with(const System& system, const Fields& whole, const base::Node* figure) {
  const base::Source* document = whole.node().place.source.get();
  const base::Node* chip = whole.node().find("chip");
  const bool left = figure != nullptr && figure->place.source.get() == document &&
                    chip != nullptr && !has_text_of(*chip, document);
  const std::string changed = system.chip.parent ? system.chip.parent->name : "";
  return !left ? "" : system.replaces.empty() ? changed : system.replaces;
}

}  // namespace

std::string System::other_chip() const {
  const std::string before = chip.parent ? chip.parent->name : "";
  return before == chip.name                  ? "a changed " + chip.name
         : before.empty() && replaces.empty() ? ""
                                              : chip.name;
}

std::string System::title() const {
  const std::string other = other_chip();
  const std::string size =
      described_chips == 0 || described_chips == chips ? "" : fmt::format(", as {} GPUs", chips);
  return name + size + (other.empty() ? "" : " with " + other);
}

std::int64_t System::gpus_of_host() const { return std::min(scale_up_domain, kMostGpusOfHost); }

std::int64_t System::hosts_of_rack() const {
  const std::int64_t of_domain = (scale_up_domain + kMostGpusOfHost - 1) / kMostGpusOfHost;
  return of_domain > 1 ? of_domain : hosts_per_rack.value_or(kUsualHostsPerRack);
}

std::int64_t System::gpus_of_rack() const {
  return scale_up_domain > kMostGpusOfHost ? scale_up_domain : scale_up_domain * hosts_of_rack();
}

namespace {

void cap_by_rack(Fields& f, System& system) {
  f.quantity("rack_power", system.rack_power, base::positive);
  if (!system.rack_power || system.scale_up_domain == 0) {
    return;
  }
  if (!system.host_power || !system.chip.tdp) {
    f.problem("rack_power",
              fmt::format("needs {}", system.chip.tdp ? "host_power.per_gpu" : "chip.power.tdp"));
    return;
  }
  const base::Watts share =
      *system.rack_power / static_cast<double>(system.gpus_of_rack()) - *system.host_power;
  if (share < *system.chip.cap_used()) {
    system.chip.cap = base::max(share, kNothing);
    system.capped_by_rack = true;
  }
}

}  // namespace

void read(Fields& f, System& system) {
  system.id = f.node().reference;
  f.text("name", system.name);
  f.text("replaces", system.replaces, base::optional);
  f.integer("described_chips", system.described_chips, base::at_least_one, base::optional);
  f.group("chip", [&](Fields& g) {
    read(g, system.chip);
    check_known(g, system.chip);
  });
  f.group("calibration", [&](Fields& g) { read(g, system.calibration); });
  f.choice<Unmeasured>("as_if_unmeasured", system.as_if_unmeasured,
                       {{"chip", Unmeasured::chip}, {"architecture", Unmeasured::architecture}},
                       base::optional);
  system.chips = system.scale_up_domain = 0;  // until they are read
  f.integer("chips", system.chips, base::at_least_one);
  f.group("scale_up", [&](Fields& g) { read_scale_up(g, system); });
  f.integer("hosts_per_rack", system.hosts_per_rack, {1.0, 64.0});
  if (system.hosts_per_rack && *system.hosts_per_rack != system.hosts_of_rack()) {
    f.problem("hosts_per_rack", fmt::format("a scale-up domain of {} GPUs is a rack, of {} hosts",
                                            system.scale_up_domain, system.hosts_of_rack()));
  }
  f.group(
      "scale_out",
      [&](Fields& g) {
        FabricLevel level;
        g.quantity("bandwidth_per_direction", level.bandwidth);
        g.flag("in_network_reduction", level.in_network_reduction);
        g.number("oversubscription", system.oversubscription, base::at_least_one, base::optional);
        g.flag("rail_optimised", system.rail_optimised, base::optional);
        g.source();
        system.scale_out = level;
        if (system.chips > system.scale_up_domain && system.chip.pcie &&
            *system.chip.pcie < level.bandwidth) {
          base::add_note(fmt::format(
              "system.scale_out: a NIC sends no more than the PCIe port of its chip passes, {}",
              base::format_quantity(*system.chip.pcie)));
        }
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
        system.price_of = stood_with(system, f, g.node().find("per_gpu_hour"));
      },
      base::optional);
  f.group(
      "purchase",
      [&](Fields& g) {
        base::Dollars price;
        std::int64_t gpus = 1;
        std::string date;
        g.quantity("price", price, base::not_negative);
        g.integer("gpus", gpus, base::at_least_one);
        g.text("date", date);
        g.source();
        system.purchase = price / static_cast<double>(gpus);
        system.purchase_of = stood_with(system, f, g.node().find("price"));
      },
      base::optional);
  f.group(
      "host_power",
      [&](Fields& g) {
        base::Watts per_gpu;
        g.quantity("per_gpu", per_gpu, base::not_negative);
        g.source();
        system.host_power = per_gpu;
        system.host_power_of = stood_with(system, f, g.node().find("per_gpu"));
      },
      base::optional);
  cap_by_rack(f, system);
  std::vector<std::string> known_as;  // base::id_called
  f.texts("known_as", known_as);
  std::vector<std::string> notes;
  f.texts("notes", notes);
}

}  // namespace roofcast::hardware
