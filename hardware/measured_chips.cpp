// SPDX-License-Identifier: Apache-2.0
#include "hardware/measured_chips.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

#include "base/csv/csv.hpp"
#include "base/document/catalog.hpp"
#include "base/units/unit_text.hpp"

namespace roofcast::hardware {

namespace {

using base::Node;

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

}  // namespace

const std::vector<ReferenceChip>& measured_chips() {
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

const KindError* Measurement::error_of(std::string_view kind) const {
  const auto found = std::find_if(errors.begin(), errors.end(),
                                  [&](const KindError& e) { return e.kind == kind; });
  return found == errors.end() ? nullptr : &*found;
}

const Measurement& measurement_of(const ReferenceChip& chip, const std::string& stack) {
  static std::mutex mutex;
  static std::map<std::string, Measurement> known;
  const std::lock_guard lock(mutex);
  const std::string id = chip.id + "." + stack;
  const auto found = known.find(id);
  if (found != known.end()) {
    return found->second;
  }
  const Node overlay = base::load_entry(calibration_catalog(), id);
  Measurement m{&chip, stack, {}, errors_of(overlay)};
  add_parameters(overlay, "", m.parameters);
  m.times_host = m.parameters.contains(std::string(kEager));
  Parameters all;
  add_parameters(generic(), "", all);
  m.parameters.merge(all);
  return known.emplace(id, std::move(m)).first->second;
}

}  // namespace roofcast::hardware
