// SPDX-License-Identifier: Apache-2.0
#include "hardware/chip.hpp"

#include <map>
#include <vector>

#include "hardware/die.hpp"
#include "hardware/known_architectures.hpp"

namespace roofcast::hardware {

std::span<const base::CatalogEntry> embedded_chips();

base::Catalog chip_catalog() {
  static constexpr base::ForeignSchema kDie{is_die, from_die};
  return {"chips", "chip", embedded_chips(), &kDie};
}

using base::Fields;

namespace {

// What a chip was called before it was changed, and what it is called.
std::vector<std::string> names_of(const base::Node& chip) {
  std::vector<std::string> names;
  for (const char* path : {"parent.name", "name"}) {
    if (const base::Node* name = chip.find_path(path)) {
      names.push_back(name->text);
    }
  }
  if (const base::Node* known_as = chip.find("known_as")) {
    for (const base::Node& name : known_as->items) {
      names.push_back(name.text);
    }
  }
  return names;
}

// Of the built-in chips, ids by what they are called.
const std::map<std::string, std::string, std::less<>>& ids_by_name() {
  static const auto ids = [] {
    std::map<std::string, std::string, std::less<>> found;
    for (const base::CatalogEntry& entry : embedded_chips()) {
      const base::Node document = *base::built_in_entry(chip_catalog(), entry.id);
      for (const std::string& name : names_of(document)) {
        found.emplace(name, entry.id);
      }
    }
    return found;
  }();
  return ids;
}

void read_share(Fields& f, std::string_view key, base::Range range, std::optional<double>& share) {
  double value = 0.0;
  f.number(key, value, range, base::optional);
  if (value > 0.0) {
    share = value;
  }
}

void read_peaks(Fields& f, std::array<base::FlopsPerSecond, base::kMathTypes>& peaks) {
  for (int i = 1; i < base::kMathTypes; ++i) {
    const auto type = static_cast<base::MathType>(i);
    f.quantity(base::name(type), peaks[static_cast<std::size_t>(i)], base::positive,
               base::optional);
  }
}

void read_power(Fields& f, Chip& chip) {
  f.quantity("tdp", chip.tdp);
  f.quantity("cap", chip.cap);
  f.source();
  if (chip.cap && !chip.tdp) {
    f.problem("cap", "needs power.tdp, of which the energies of the chip are shares");
  }
}

// A changed chip has copies of the figures of its parent. The TDP that nobody gave since stands where that copy does.
bool has_tdp_of_parent(const base::Node& chip) {
  const base::Node* now = chip.find_path("power.tdp");
  const base::Node* was = chip.find_path("parent.tdp");
  return now != nullptr && was != nullptr && now->place.source == was->place.source &&
         now->place.mark == was->place.mark;
}

void read_parent(Fields& f, ParentChip& parent) {
  f.text("name", parent.name, base::optional);
  f.integer("sms", parent.sms, base::at_least_one);
  f.quantity("clock", parent.clock);
  f.quantity("tdp", parent.tdp);
  f.quantity("shared_memory_per_sm", parent.shared_memory_per_sm);
  f.quantity("bandwidth", parent.bandwidth);
  std::optional<base::BytesPerSecond> nvlink;
  f.quantity("nvlink_bidirectional", nvlink);
  parent.nvlink = nvlink ? std::optional(*nvlink / 2.0) : std::nullopt;
  f.group(
      "tensor", [&](Fields& g) { read_peaks(g, parent.tensor); }, base::optional);
}

}  // namespace

std::string known_chip(const base::Node& chip) {
  const std::string& root = chip.root_reference();
  if (!root.empty() && !base::names_file(root)) {
    return root;
  }
  for (const std::string& name : names_of(chip)) {
    if (const auto found = ids_by_name().find(name); found != ids_by_name().end()) {
      return found->second;
    }
  }
  return {};
}

void read(Fields& f, Chip& chip) {
  chip.id = f.node().reference;
  chip.catalog_id = known_chip(f.node());
  f.text("name", chip.name);
  f.text("vendor", chip.vendor);
  read_architecture(f, chip.architecture);
  f.choice<std::string>(
      "status", chip.status,
      {{"shipping", "shipping"}, {"announced", "announced"}, {"retired", "retired"}});
  f.group("compute", [&](Fields& g) {
    g.integer("sms", chip.sms, base::at_least_one);
    g.quantity("clock", chip.clock);
    g.choice<std::string>("tensor_instruction", chip.tensor_instruction,
                          {{"mma", "mma"}, {"wgmma", "wgmma"}, {"tcgen05", "tcgen05"}},
                          base::optional);
    g.source();
  });
  f.group("tensor", [&](Fields& g) {
    read_peaks(g, chip.tensor);
    g.source();
  });
  f.group(
      "sparsity",
      [&](Fields& g) {
        g.number("tensor", chip.sparsity, {1.0, 16.0});
        g.source();
      },
      base::optional);
  f.group("vector", [&](Fields& g) {
    g.quantity("fp32", chip.tensor[static_cast<std::size_t>(base::MathType::fp32)], base::positive,
               base::optional);
    g.source();
  });
  f.group("hbm", [&](Fields& g) {
    g.text("type", chip.memory_type);
    if (!chip.memory_type.empty() && !memory_kind(chip.memory_type)) {
      g.problem("type", unknown_memory_text(chip.memory_type));
    }
    g.quantity("capacity", chip.capacity);
    g.quantity("bandwidth", chip.bandwidth);
    g.quantity("energy", chip.memory_energy);
    g.source();
  });
  f.group("l2", [&](Fields& g) {
    g.quantity("capacity", chip.l2_capacity);
    g.integer("slices", chip.l2_slices, base::at_least_one);
    g.number("relative_slices", chip.l2_relative_slices, {0.0, 1000.0, true}, base::optional);
    g.source();
  });
  f.group(
      "registers",
      [&](Fields& g) {
        g.quantity("per_sm", chip.registers_per_sm);
        g.quantity("tensor_memory_per_sm", chip.tensor_memory_per_sm);
        g.source();
      },
      base::optional);
  f.group("shared_memory", [&](Fields& g) {
    g.quantity("per_sm", chip.shared_memory_per_sm);
    g.source();
  });
  f.group("power", [&](Fields& g) { read_power(g, chip); });
  f.group(
      "nvlink",
      [&](Fields& g) {
        std::int64_t generation = 0;
        base::BytesPerSecond both{};
        g.integer("generation", generation, base::at_least_one);
        g.quantity("bandwidth_bidirectional", both);
        chip.nvlink = both / 2.0;
        g.source();
      },
      base::optional);
  f.group(
      "links",
      [&](Fields& g) {
        std::string type;
        Links links;
        g.text("type", type);
        g.integer("count", links.count, base::at_least_one);
        g.quantity("bandwidth_per_direction", links.bandwidth);
        g.source();
        chip.links = links;
      },
      base::optional);
  f.group("pcie", [&](Fields& g) {
    std::optional<std::int64_t> generation;
    g.integer("generation", generation, base::at_least_one);
    g.quantity("bandwidth_per_direction", chip.pcie);
    g.source();
  });
  f.group(
      "cpu_link",
      [&](Fields& g) {
        g.quantity("bandwidth_per_direction", chip.cpu_link);
        g.source();
      },
      base::optional);
  f.group(
      "measured",
      [&](Fields& g) {
        g.number("usable_share", chip.measured.usable_share, {0.0, 1.0, true}, base::optional);
        g.quantity("l2_bandwidth", chip.measured.l2_bandwidth);
        g.quantity("dram_latency", chip.measured.dram_latency);
        g.quantity("exponential_rate", chip.measured.exponential_rate);
        g.number("relative_exponential_rate", chip.measured.relative_exponential_rate,
                 base::positive, base::optional);
        read_share(g, "flop_share", base::positive, chip.measured.flop_share);
        g.number("voltage_exponent", chip.measured.voltage_exponent, {0.2, 3.0}, base::optional);
        read_share(g, "voltage_floor", base::fraction, chip.measured.voltage_floor);
        g.source();
      },
      base::optional);
  f.group(
      "assumed",
      [&](Fields& g) {
        g.integer("sms", chip.assumed.sms, base::at_least_one);
        g.quantity("clock", chip.assumed.clock);
        g.quantity("l2_capacity", chip.assumed.l2_capacity);
        read_share(g, "flop_share", base::positive, chip.assumed.flop_share);
        g.source();
      },
      base::optional);
  f.group(
      "measured_on",
      [&](Fields& g) {
        g.text("server", chip.measured_on.server, base::optional);
        g.text("cluster", chip.measured_on.cluster, base::optional);
      },
      base::optional);
  f.group(
      "parent", [&](Fields& g) { read_parent(g, chip.parent.emplace()); }, base::optional);
  if (chip.parent && chip.tdp && has_tdp_of_parent(f.node())) {
    chip.tdp_of = chip.parent->name;
  }
  if (chip.l2_slices && !chip.measured.l2_bandwidth) {
    f.problem("l2.slices", "need measured.l2_bandwidth, which they share");
  }
  std::vector<std::string> known_as;  // base::id_called
  f.texts("known_as", known_as);
  std::vector<std::string> notes;
  f.texts("notes", notes);
}

}  // namespace roofcast::hardware
