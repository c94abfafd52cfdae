// SPDX-License-Identifier: Apache-2.0
#include "hardware/nearest_calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "hardware/calibration.hpp"
#include "hardware/chip_distance.hpp"
#include "hardware/measured_chips.hpp"
#include "hardware/pooling.hpp"
#include "hardware/spreads.hpp"

namespace roofcast::hardware {

namespace {

using base::Node;

constexpr std::string_view kInFlight = "memory.in_flight_bytes_per_sm";
constexpr double kWithin90 = 1.645;  // standard deviations

// The parameters of a group are pooled alike; what the host does is a group of its own.
std::string_view group_of(std::string_view path) {
  return path == kEager ? path : path.substr(0, path.find('.'));
}

// The group of parameters that times a kind of operators.
std::string_view group_of_kind(std::string_view kind) {
  if (kind == "gemm" || kind == "moe") {
    return kind;
  }
  if (kind == "mamba2" || kind == "gdn") {
    return "recurrence";
  }
  return kind == "gemm_power"                                       ? "power"
         : kind.starts_with("attention") || kind.starts_with("mla") ? "attention"
                                                                    : "collective";
}

// Of ln of a launch's host time: what the next host takes, if hosts are alike. 0 where fewer than two were measured.
double launch_half_width(const std::vector<const Measurement*>& measured) {
  double sum = 0.0, squares = 0.0, n = 0.0;
  for (const Measurement* m : measured) {
    if (m->times_host) {
      const double value = std::log(m->parameters.at(std::string(kEager)).value);
      sum += value;
      squares += value * value;
      ++n;
    }
  }
  if (n < 2.0) {
    return 0.0;
  }
  const double variance = (squares - sum * sum / n) / (n - 1.0);
  return kWithin90 * std::sqrt(std::max(0.0, variance) * (1.0 + 1.0 / n));
}

// What some measurements say together.
struct Said {
  std::vector<const Measurement*> by;
  Pooled pooled;  // its weights are in the order of `by`

  template <class Value>
  double mean(Value value) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < by.size(); ++i) {
      sum += pooled.weights[i] * value(*by[i]);
    }
    return sum;
  }
};

// What the pool says of parameters, errors and corrections.
class Transfer {
 public:
  // `placed`: the chip where the pool places it.
  Transfer(const ChipKind& chip, const ChipKind& placed, std::string stack, bool known_stack,
           std::vector<const Measurement*> members)
      : chip_(chip),
        placed_(placed),
        stack_(std::move(stack)),
        known_stack_(known_stack),
        members_(std::move(members)) {}

  // Of a group of parameters.
  const Said& of(std::string_view group) {
    const auto found = groups_.find(group);
    return found != groups_.end()
               ? found->second
               : groups_
                     .emplace(group, said(group,
                                          [&](const Measurement& m) {
                                            return group != kEager || m.times_host;
                                          }))
                     .first->second;
  }

  // Of a kind of operators: by those that measured it, if one did so under the stack.
  Said of_kind(std::string_view kind) const {
    const auto measured = [&](const Measurement& m) {
      const KindError* e = m.error_of(kind);
      return e != nullptr && e->rows > 0;
    };
    const bool under_stack =
        std::any_of(members_.begin(), members_.end(),
                    [&](const Measurement* m) { return m->stack == stack_ && measured(*m); });
    return under_stack ? said(group_of_kind(kind), measured) : Said{};
  }

  // Of what every measurement under the stack says.
  Said of_stack() const {
    return said({}, [&](const Measurement& m) { return m.stack == stack_; });
  }

  // Of the power of an architecture: by its chips.
  Said of_architecture(std::string_view architecture) const {
    return said("power",
                [&](const Measurement& m) { return m.chip->kind.architecture == architecture; });
  }

  // exp of the weighted mean of the logarithms; none where nothing was measured, or a value is 0.
  std::optional<double> mean(const std::string& path) {
    const Said& all = of(group_of(path));
    const auto value = [&](const Measurement& m) { return m.parameters.at(path).value; };
    if (all.by.empty() || std::any_of(all.by.begin(), all.by.end(),
                                      [&](const auto* m) { return !(value(*m) > 0.0); })) {
      return std::nullopt;
    }
    return std::exp(all.mean([&](const Measurement& m) {
      return std::log(value(m)) - (path == kInFlight ? share(m) : 0.0);
    }));
  }

 private:
  template <class Tells>
  Said said(std::string_view group, Tells tells) const {
    Said result;
    std::vector<PoolMember> pool;
    std::vector<PoolMember> of_any_die;
    for (const Measurement* m : members_) {
      if (tells(*m)) {
        const std::string its = kernels_of(m->stack, m->chip->kind, group);
        pool.push_back({&m->chip->kind, m->stack, its});
        of_any_die.push_back({&m->chip->of_any_die, m->stack, its});
        result.by.push_back(m);
      }
    }
    if (pool.empty()) {
      return result;
    }
    const std::string kernels = kernels_of(stack_, chip_, group);
    const auto apart = group == kEager ? host_distance : distance;
    result.pooled = pooled({&chip_, stack_, kernels}, pool, apart);
    result.pooled.weights = pooled({&placed_, stack_, kernels}, of_any_die, apart).weights;
    if (!known_stack_) {
      result.pooled.variance = 1.0 - kSharedByStacks * (1.0 - result.pooled.variance);
    }
    return result;
  }
  // ln of the shared memory of a member over that of the chip; 0 where one is not known.
  double share(const Measurement& member) const {
    const double of = member.chip->kind.shared_memory - chip_.shared_memory;
    return std::isnan(of) ? 0.0 : of;
  }

  const ChipKind& chip_;
  const ChipKind& placed_;
  std::string stack_;
  bool known_stack_;
  std::vector<const Measurement*> members_;
  std::map<std::string, Said, std::less<>> groups_;
};

Node number_node(double value, const base::Place& place) {
  return base::scalar_node(fmt::format("{:.12g}", value), place);
}

// What the distance does to one side of the interval of a kind: logarithms. It never makes it narrower.
struct Side {
  double half_width = 0.0;
  double share = 0.0;  // of its square that comes from the distance
};
Side side(double own, double far, double variance) {
  const double least = std::max(own, far);
  const double apart = variance * least * least;
  const double square = (1.0 - variance) * own * own + apart;
  return {std::sqrt(std::max(0.0, square)), square > 0.0 ? apart / square : 0.0};
}

// A cap is a setting of a chip, not another chip.
Node uncapped(Node chip) {
  if (Node* power = chip.find("power")) {
    std::erase_if(power->entries, [](const base::Entry& entry) { return entry.key == "cap"; });
  }
  return chip;
}

// Where the pool places a chip: by the figures that it had before it was changed. Those of the catalog's entry, unless that is
// of another generation or kind of memory; else those that the chip remembers.
ChipKind placed(const Node& chip, const std::string& id, const ChipKind& kind) {
  const auto entry = base::built_in_entry(chip_catalog(), id);
  const auto was = entry ? kind_of(*entry) : std::nullopt;
  const bool alike = was && was->vendor == kind.vendor &&
                     was->memory.on_package == kind.memory.on_package &&
                     was->generation == kind.generation;
  return apart_from_die(alike ? *was : kind_before(chip).value_or(kind));
}

// The measured chips that a chip takes its parameters from.
struct Sources {
  std::optional<ChipKind> placed_at;
  const ReferenceChip* nearest = nullptr;  // null: none
  std::string stack;                       // of the nearest
  bool same_stack = false;
  double distance = std::numeric_limits<double>::infinity();
  bool is_measured = false;  // the nearest is the chip itself, under its stack
  bool is_changed = false;   // the nearest is the chip before it was changed

  std::vector<const Measurement*> known;    // all that may be used; not of a chip that is measured
  std::vector<const Measurement*> members;  // those that the parameters are pooled from
  const Measurement* from = nullptr;        // that of the nearest

  Sources(const Node& chip, const std::optional<ChipKind>& kind, std::string_view wanted,
          Unmeasured unmeasured, std::string_view also) {
    const std::string own_id = known_chip(chip);
    const auto is_known = [&](const std::string& id, const ChipKind& other) {
      return other.vendor == kind->vendor && other.architecture != also &&
             !(unmeasured == Unmeasured::chip && id == own_id) &&
             !(unmeasured == Unmeasured::architecture && other.generation == kind->generation);
    };
    if (!kind) {
      return;
    }
    placed_at = placed(chip, own_id, *kind);
    for (const ReferenceChip& other : measured_chips()) {
      const double far = hardware::distance(*placed_at, other.of_any_die);
      const bool own = other.id == own_id &&
                       other.kind.memory.on_package == kind->memory.on_package &&
                       other.kind.generation == kind->generation;
      if (is_known(other.id, other.kind) && !is_changed && (own || far < distance)) {
        distance = far;
        nearest = &other;
        is_changed = own;
      }
    }
    if (nearest == nullptr) {
      return;
    }
    same_stack =
        std::find(nearest->stacks.begin(), nearest->stacks.end(), wanted) != nearest->stacks.end();
    stack = same_stack ? std::string(wanted) : nearest->stacks.back();
    is_measured = same_stack && base::to_yaml(uncapped(chip)) == nearest->text;
    if (is_measured) {
      return;
    }
    from = &measurement_of(*nearest, stack);
    for (const ReferenceChip& other : measured_chips()) {
      for (const std::string& its : other.stacks) {
        if (is_known(other.id, other.kind)) {
          known.push_back(&measurement_of(other, its));
        }
      }
    }
    members = is_changed ? std::vector{from} : known;
  }
};

double below(const KindError* e) { return e == nullptr ? 0.0 : std::max(0.0, -std::log(e->low)); }
double above(const KindError* e) { return e == nullptr ? 0.0 : std::max(0.0, std::log(e->high)); }

// The kinds that the nearest measurement has errors of, and then those that others under the stack have.
std::vector<const KindError*> kinds_of(const Sources& sources) {
  std::vector<const KindError*> kinds;
  const auto add = [&](const Measurement& m) {
    for (const KindError& e : m.errors) {
      if (std::none_of(kinds.begin(), kinds.end(),
                       [&](const KindError* known) { return known->kind == e.kind; })) {
        kinds.push_back(&e);
      }
    }
  };
  add(*sources.from);
  for (const Measurement* m : sources.members) {
    if (m->stack == sources.stack) {
      add(*m);
    }
  }
  return kinds;
}

std::vector<TransferredError> sources_of_error(const Sources& sources, const Transfer& transfer) {
  std::vector<TransferredError> all;
  const std::vector<ArchitectureSpread>& known = spreads().architectures;
  for (const KindError* stated : kinds_of(sources)) {
    const std::string& kind = stated->kind;
    Said said = transfer.of_kind(kind);
    const bool measured = !said.by.empty();
    const double variance = measured ? std::min(1.0, said.pooled.variance) : 1.0;
    // A kind that no spread between architectures knows keeps its errors, whatever chips they are of.
    if (!measured &&
        std::none_of(known.begin(), known.end(), [&](const auto& s) { return s.kind == kind; })) {
      said = transfer.of_stack();
    }
    all.push_back({kind, said.mean([&](const auto& m) { return below(m.error_of(kind)); }),
                   said.mean([&](const auto& m) { return above(m.error_of(kind)); }), variance});
  }
  return all;
}

// Half-widths are of logarithms.
Node error_node(const KindError& stated, double below, double above, const base::Place& place) {
  Node item;
  item.kind = Node::Kind::map;
  item.place = place;
  item["kind"] = base::scalar_node(stated.kind, place);
  for (const auto& [key, value] : {std::pair{"rows", 0.0},
                                   {"refused", 0.0},
                                   {"held_back", static_cast<double>(stated.held_back)},
                                   {"median", stated.median},
                                   {"p90", stated.p90},
                                   {"bias", stated.bias},
                                   {"low", std::exp(-below)},
                                   {"high", std::exp(above)}}) {
    item[key] = number_node(value, place);
  }
  return item;
}

// The measured architecture that the spreads must not know: none where nothing was measured that is left out.
std::string left_out(const Node& chip, const ChipKind& kind, Unmeasured unmeasured) {
  const std::string own_id = known_chip(chip);
  for (const ReferenceChip& m : measured_chips()) {
    if ((unmeasured == Unmeasured::chip && m.id == own_id) ||
        (unmeasured == Unmeasured::architecture && m.kind.generation == kind.generation)) {
      return m.kind.architecture;
    }
  }
  return "none";
}

// The errors of the transferred parameters, and the mean share of the distance in those of the kinds that were measured.
void add_errors(Node& node, const Sources& sources, const Transfer& transfer,
                const std::string& unmeasured) {
  Node errors;
  errors.kind = Node::Kind::sequence;
  errors.place = node.place;
  double shares = 0.0;
  int measured = 0;
  const std::vector<TransferredError> transferred = sources_of_error(sources, transfer);
  const std::vector<const KindError*> kinds = kinds_of(sources);
  const std::vector<ArchitectureSpread>& all_spreads = spreads().architectures;
  for (std::size_t i = 0; i < transferred.size(); ++i) {
    const TransferredError& e = transferred[i];
    const KindError& stated = *kinds[i];
    const auto far =
        std::find_if(all_spreads.begin(), all_spreads.end(), [&](const ArchitectureSpread& s) {
          return s.unmeasured == unmeasured && s.kind == e.kind;
        });
    const bool known = far != all_spreads.end();  // else measured on no other architecture
    const Side below = side(e.own_below, known ? far->below : e.own_below, e.variance);
    const Side above = side(e.own_above, known ? far->above : e.own_above, e.variance);
    if (stated.rows > 0) {
      shares += (below.share + above.share) / 2.0;
      ++measured;
    }
    errors.items.push_back(error_node(stated, below.half_width, above.half_width, node.place));
  }
  // A measured chip that is changed a little, under a measured stack, keeps the host of its measurements.
  const double launches =
      sources.is_changed && sources.same_stack ? 0.0 : launch_half_width(sources.known);
  if (launches > 0.0) {
    errors.items.push_back(
        error_node(KindError{std::string(kHostLaunches)}, launches, launches, node.place));
  }
  node["distance_share"] = number_node(measured == 0 ? 1.0 : shares / measured, node.place);
  node["errors"] = std::move(errors);
}

// The shares of the corrections of the nearest chip and of the others under its stack.
void add_corrections(Node& node, const Sources& sources) {
  std::vector<const Measurement*> told;
  std::vector<const ChipKind*> kinds;
  for (const Measurement* m : sources.members) {
    if (m->stack == sources.stack) {
      told.push_back(m);
      kinds.push_back(&m->chip->of_any_die);
    }
  }
  const std::vector<double> shares =
      sources.is_changed ? std::vector<double>{1.0} : faded_weights(*sources.placed_at, kinds);
  Node relatives;
  relatives.kind = Node::Kind::sequence;
  relatives.place = node.place;
  double of_nearest = 0.0;
  for (std::size_t i = 0; i < told.size(); ++i) {
    if (told[i] == sources.from) {
      of_nearest = shares[i];
    } else if (shares[i] > 0.0) {
      Node& item = relatives.items.emplace_back();
      item.kind = Node::Kind::map;
      item.place = node.place;
      item["calibration"] = base::scalar_node(told[i]->id(), node.place);
      item["corrections_share"] = number_node(shares[i], node.place);
    }
  }
  node["corrections_share"] = number_node(of_nearest, node.place);
  if (!relatives.items.empty()) {
    node["relatives"] = std::move(relatives);
  }
}

// Of a chip that is none of the catalog: the mean of the measured chips of its architecture, whose energies it has. Nothing
// where there is none, or one lacks a figure.
void add_energies(Node& node, const ChipKind& chip, const Transfer& transfer) {
  const Said said = transfer.of_architecture(chip.architecture);
  const auto figure = [&](std::size_t i) {
    return std::exp(said.mean([i](const Measurement& m) { return m.chip->kind.figures[i]; }));
  };
  const double sms = figure(kSmsFigure), clock = figure(kClockFigure), tdp = figure(kTdpFigure);
  if (said.by.empty() || std::isnan(sms + clock + tdp)) {
    return;
  }
  const auto quantity = [&](double value, std::string_view unit) {
    return base::scalar_node(fmt::format("{:.12g} {}", value, unit), node.place);
  };
  Node energies;
  energies.kind = Node::Kind::map;
  energies.place = node.place;
  energies["sms"] = number_node(sms, node.place);
  energies["clock"] = quantity(clock, "Hz");
  energies["tdp"] = quantity(tdp, "W");
  for (std::size_t i = 0; i < chip.tensor.size(); ++i) {
    const double peak =
        std::exp(said.mean([i](const Measurement& m) { return m.chip->kind.tensor[i]; }));
    if (!std::isnan(peak)) {
      energies["tensor"][std::string(base::name(static_cast<base::MathType>(i)))] =
          quantity(peak, "FLOPS");
    }
  }
  node["energies_of"] = std::move(energies);
}

}  // namespace

std::vector<TransferredError> transferred_errors(const Node& chip, std::string_view stack,
                                                 Unmeasured unmeasured, std::string_view also) {
  const auto kind = kind_of(chip);
  const Sources sources(chip, kind, stack, unmeasured, also);
  if (sources.from == nullptr) {
    return {};
  }
  Transfer transfer(*kind, *sources.placed_at, sources.stack, sources.same_stack, sources.members);
  return sources_of_error(sources, transfer);
}

Node nearest_calibration(const Node& chip, std::string_view stack, Unmeasured unmeasured,
                         std::string_view also) {
  const auto kind = kind_of(chip);
  const Sources sources(chip, kind, stack, unmeasured, also);
  if (sources.nearest == nullptr) {
    return base::scalar_node("generic", chip.place);
  }
  const Node id = base::scalar_node(sources.nearest->id + "." + sources.stack, chip.place);
  if (sources.is_measured) {
    return id;
  }
  Transfer transfer(*kind, *sources.placed_at, sources.stack, sources.same_stack, sources.members);
  Node node;
  node.kind = Node::Kind::map;
  node.place = chip.place;
  node["base"] = id;
  node["provenance"] = base::scalar_node("transferred", chip.place);
  node["distance"] =
      base::scalar_node(distance_text(*kind, sources.nearest->kind) +
                            (sources.same_stack ? "" : ", a stack that was not measured"),
                        chip.place);
  node["distance"].quoted = true;
  add_corrections(node, sources);
  for (const auto& [path, own] : sources.from->parameters) {
    const auto mean = transfer.mean(path);
    if (mean && std::abs(*mean / own.value - 1.0) > 1e-12) {
      node[path] = own.has_unit
                       ? base::scalar_node(fmt::format("x{:.12g}", *mean / own.value), chip.place)
                       : number_node(*mean, chip.place);
    }
  }
  if (known_chip(chip).empty()) {
    add_energies(node, *kind, transfer);
  }
  add_errors(node, sources, transfer, left_out(chip, *kind, unmeasured));
  return node;
}

}  // namespace roofcast::hardware
