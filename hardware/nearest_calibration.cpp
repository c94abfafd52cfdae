// SPDX-License-Identifier: Apache-2.0
#include "hardware/nearest_calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "base/csv/csv.hpp"
#include "base/units/unit_text.hpp"
#include "hardware/calibration.hpp"
#include "hardware/chip_distance.hpp"
#include "hardware/pooling.hpp"
#include "hardware/spreads.hpp"

namespace roofcast::hardware {

namespace {

using base::Node;

constexpr double kCorrectionReach = 1.5;  // generations
constexpr std::string_view kInFlight = "memory.in_flight_bytes_per_sm";
constexpr std::string_view kEager = "launch.eager";  // what the host does
constexpr double kWithin90 = 1.645;                  // standard deviations

struct Parameter {
  double value = 0.0;  // SI
  bool has_unit = false;
};
using Parameters = std::map<std::string, Parameter>;  // by path

struct Measured {
  std::string stack;
  const ChipKind* chip = nullptr;
  const ChipKind* of_any_die = nullptr;
  Parameters parameters;
  std::vector<KindError> errors;
  bool times_host = false;  // kEager was fitted, not taken from generic
};

const Node& generic() {
  static const Node document = base::load_entry(calibration_catalog(), "generic");
  return document;
}

// The units of parameters have these dimensions.
std::optional<Parameter> parameter(const std::string& text) {
  if (const auto number = base::parse_number(text)) {
    return Parameter{*number, false};
  }
  for (const base::Dimension dimension :
       {base::dimension_of(base::Seconds{}), base::dimension_of(base::Bytes{}),
        base::dimension_of(base::JoulesPerByte{})}) {
    if (const base::ParsedQuantity quantity = base::parse_quantity(text, dimension);
        quantity.ok()) {
      return Parameter{quantity.si, true};
    }
  }
  return std::nullopt;
}

void add_parameters(const Node& node, const std::string& path, Parameters& out) {
  for (const base::Entry& entry : node.entries) {
    const std::string here = path.empty() ? entry.key : path + "." + entry.key;
    if (entry.value.is_map()) {
      add_parameters(entry.value, here, out);
    } else if (here.find('.') != std::string::npos && entry.value.is_scalar()) {
      if (const auto value = parameter(entry.value.text)) {
        out[here] = *value;
      }
    }
  }
}

std::vector<KindError> errors_of(const Node& calibration) {
  std::vector<KindError> errors;
  const Node* list = calibration.find("errors");
  for (const Node& item : list == nullptr ? std::vector<Node>() : list->items) {
    const auto value = [&](const char* key) {
      const Node* found = item.find(key);
      return found == nullptr ? 0.0 : base::parse_number(found->text).value_or(0.0);
    };
    KindError& e = errors.emplace_back();
    e.kind = item.find("kind")->text;
    e.rows = static_cast<std::int64_t>(value("rows"));
    e.held_back = static_cast<std::int64_t>(value("held_back"));
    e.median = value("median");
    e.p90 = value("p90");
    e.bias = value("bias");
    e.low = value("low");
    e.high = value("high");
  }
  return errors;
}

struct ReferenceChip {
  std::string id;
  std::string text;  // its document
  ChipKind kind;
  ChipKind of_any_die;
  std::vector<std::string> stacks;
};

// The measured chips of the catalog with the stacks under which they were measured.
const std::vector<ReferenceChip>& chips() {
  static const std::vector<ReferenceChip> all = [] {
    std::vector<ReferenceChip> measured;
    const auto known = base::catalog_ids(chip_catalog());
    for (const std::string& id : base::catalog_ids(calibration_catalog())) {
      const auto dot = id.find('.');
      const std::string chip = id.substr(0, dot);
      if (dot == std::string::npos || !std::binary_search(known.begin(), known.end(), chip)) {
        continue;
      }
      if (measured.empty() || measured.back().id != chip) {
        // Built-in measurements are of the built-in chip, whatever the user calls so.
        const auto built_in = base::built_in_entry(calibration_catalog(), id)
                                  ? base::built_in_entry(chip_catalog(), chip)
                                  : std::nullopt;
        const Node document = built_in ? *built_in : base::load_entry(chip_catalog(), chip);
        const auto kind = kind_of(document);
        if (!kind) {
          continue;
        }
        measured.push_back({chip, base::to_yaml(document), *kind, apart_from_die(*kind), {}});
      }
      measured.back().stacks.push_back(id.substr(dot + 1));
    }
    return measured;
  }();
  return all;
}

// What was measured on one of them; read when it is first asked for.
const Measured& measurement_of(const ReferenceChip& chip, const std::string& stack) {
  static std::mutex mutex;
  static std::map<std::string, Measured> known;
  const std::lock_guard lock(mutex);
  const std::string id = chip.id + "." + stack;
  const auto found = known.find(id);
  if (found != known.end()) {
    return found->second;
  }
  const Node overlay = base::load_entry(calibration_catalog(), id);
  Measured m{stack, &chip.kind, &chip.of_any_die, {}, errors_of(overlay)};
  add_parameters(overlay, "", m.parameters);
  m.times_host = m.parameters.contains(std::string(kEager));
  Parameters all;
  add_parameters(generic(), "", all);
  m.parameters.merge(all);
  return known.emplace(id, std::move(m)).first->second;
}

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
double launch_half_width(const std::vector<const Measured*>& measured) {
  double sum = 0.0, squares = 0.0, n = 0.0;
  for (const Measured* m : measured) {
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

// What the pool says of each group of parameters.
class Transfer {
 public:
  // `placed`: the chip where the pool places it.
  Transfer(const ChipKind& chip, const ChipKind& placed, std::string stack, bool known_stack,
           std::vector<const Measured*> members)
      : chip_(chip),
        placed_(placed),
        stack_(std::move(stack)),
        known_stack_(known_stack),
        members_(std::move(members)) {}

  const Pooled& of(std::string_view group) {
    const auto found = groups_.find(group);
    if (found != groups_.end()) {
      return found->second;
    }
    std::vector<PoolMember> pool;
    std::vector<PoolMember> of_any_die;
    for (const Measured* m : members_) {
      if (tells(*m, group)) {
        const std::string its = kernels_of(m->stack, *m->chip, group);
        pool.push_back({m->chip, m->stack, its});
        of_any_die.push_back({m->of_any_die, m->stack, its});
      }
    }
    if (pool.empty()) {
      return groups_.emplace(group, Pooled{}).first->second;
    }
    const std::string kernels = kernels_of(stack_, chip_, group);
    const auto apart = group == kEager ? host_distance : distance;
    Pooled result = pooled({&chip_, stack_, kernels}, pool, apart);
    result.weights = pooled({&placed_, stack_, kernels}, of_any_die, apart).weights;
    if (!known_stack_) {
      result.variance = 1.0 - kSharedByStacks * (1.0 - result.variance);
    }
    return groups_.emplace(group, std::move(result)).first->second;
  }

  // exp of the weighted mean of the logarithms; none where a value is 0.
  std::optional<double> mean(const std::string& path) {
    const std::string_view group = group_of(path);
    auto weight = of(group).weights.begin();
    double sum = 0.0;
    bool told = false;
    for (const Measured* m : members_) {
      if (!tells(*m, group)) {
        continue;
      }
      const double value = m->parameters.at(path).value;
      if (!(value > 0.0)) {
        return std::nullopt;
      }
      sum += *weight++ * (std::log(value) - (path == kInFlight ? share(*m) : 0.0));
      told = true;
    }
    return told ? std::optional(std::exp(sum)) : std::nullopt;
  }

 private:
  static bool tells(const Measured& member, std::string_view group) {
    return group != kEager || member.times_host;
  }
  // ln of the shared memory of a member over that of the chip; 0 where one is not known.
  double share(const Measured& member) const {
    const double of = member.chip->shared_memory - chip_.shared_memory;
    return std::isnan(of) ? 0.0 : of;
  }

  const ChipKind& chip_;
  const ChipKind& placed_;
  std::string stack_;
  bool known_stack_;
  std::vector<const Measured*> members_;
  std::map<std::string, Pooled, std::less<>> groups_;
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

// Where the pool places a chip: by the figures of the catalog's entry that it was before it was changed, unless that is of
// another generation or kind of memory.
ChipKind placed(const std::string& id, const ChipKind& kind) {
  const auto entry = base::built_in_entry(chip_catalog(), id);
  const auto was = entry ? kind_of(*entry) : std::nullopt;
  const bool alike = was && was->vendor == kind.vendor && was->hbm == kind.hbm &&
                     was->generation == kind.generation;
  return apart_from_die(alike ? *was : kind);
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

  std::vector<const Measured*> known;    // all that may be used; not of a chip that is measured
  std::vector<const Measured*> members;  // those that the parameters are pooled from
  const Measured* from = nullptr;        // that of the nearest

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
    placed_at = placed(own_id, *kind);
    for (const ReferenceChip& other : chips()) {
      const double far = hardware::distance(*placed_at, other.of_any_die);
      const bool own = other.id == own_id && other.kind.hbm == kind->hbm &&
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
    for (const ReferenceChip& other : chips()) {
      for (const std::string& its : other.stacks) {
        if (is_known(other.id, other.kind)) {
          known.push_back(&measurement_of(other, its));
        }
      }
    }
    members = is_changed ? std::vector{from} : known;
  }
};

std::vector<TransferredError> sources_of_error(const Sources& sources, Transfer& transfer) {
  std::vector<TransferredError> all;
  const std::vector<ArchitectureSpread>& known = spreads().architectures;
  for (const KindError& e : sources.from->errors) {
    const bool measured = e.rows > 0;
    // A kind that no spread between architectures knows keeps its errors, whatever chips they are of.
    const bool own = measured || std::none_of(known.begin(), known.end(),
                                              [&](const auto& s) { return s.kind == e.kind; });
    all.push_back({e.kind, own ? std::max(0.0, -std::log(e.low)) : 0.0,
                   own ? std::max(0.0, std::log(e.high)) : 0.0,
                   measured ? std::min(1.0, transfer.of(group_of_kind(e.kind)).variance) : 1.0});
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

// The errors of the transferred parameters, and the mean share of the distance in those of the kinds that were measured.
// `unmeasured`: the architecture that the spreads must not know.
void add_errors(Node& node, const Sources& sources, Transfer& transfer,
                const std::string& unmeasured) {
  Node errors;
  errors.kind = Node::Kind::sequence;
  errors.place = node.place;
  double shares = 0.0;
  int measured = 0;
  const std::vector<TransferredError> transferred = sources_of_error(sources, transfer);
  const std::vector<ArchitectureSpread>& all_spreads = spreads().architectures;
  for (std::size_t i = 0; i < transferred.size(); ++i) {
    const TransferredError& e = transferred[i];
    const KindError& stated = sources.from->errors[i];
    const auto far =
        std::find_if(all_spreads.begin(), all_spreads.end(), [&](const ArchitectureSpread& s) {
          return s.unmeasured == unmeasured && s.kind == e.kind;
        });
    const bool known =
        far != all_spreads.end();  // else the kind has not been measured on any other architecture
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
  node["corrections_share"] = number_node(
      sources.is_changed ? 1.0 : std::exp(-sources.distance / kCorrectionReach), chip.place);
  for (const auto& [path, own] : sources.from->parameters) {
    const auto mean = transfer.mean(path);
    if (mean && std::abs(*mean / own.value - 1.0) > 1e-12) {
      node[path] = own.has_unit
                       ? base::scalar_node(fmt::format("x{:.12g}", *mean / own.value), chip.place)
                       : number_node(*mean, chip.place);
    }
  }
  add_errors(node, sources, transfer,
             unmeasured == Unmeasured::nothing ? "none" : kind->architecture);
  return node;
}

}  // namespace roofcast::hardware
