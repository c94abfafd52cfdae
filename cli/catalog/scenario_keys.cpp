// SPDX-License-Identifier: Apache-2.0
#include "cli/catalog/scenario_keys.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/notes.hpp"
#include "base/document/schema.hpp"
#include "base/units/unit_text.hpp"
#include "hardware/prices.hpp"
#include "hardware/system.hpp"
#include "sim/scenario/scenario.hpp"
#include "workloads/traffic/request_stream.hpp"

namespace roofcast::cli {
namespace {

using base::Key;

template <class T>
Key section(std::string_view name) {
  Key key = base::describe<T>();
  key.name = name;
  return key;
}

void add_knobs(const Key& group, const std::string& above, std::vector<Knob>& knobs) {
  for (const Key& key : group.below) {
    knobs.push_back({above + key.name, key});
    if (key.type == Key::Type::group) {
      add_knobs(key, above + key.name + ".", knobs);
    }
    for (const Key& below : key.type == Key::Type::list ? key.below : std::vector<Key>()) {
      for (const std::string& kind : below.choices) {  // layers[attention].kv_heads
        add_knobs({.below = key.below}, fmt::format("{}{}[{}].", above, key.name, kind), knobs);
      }
    }
  }
}

std::string range_text(const base::Range& range) {
  if (std::isfinite(range.most)) {
    return fmt::format(", {} to {}", range.least, range.most);
  }
  if (!std::isfinite(range.least)) {
    return "";
  }
  return range.open_below ? fmt::format(", above {}", range.least)
                          : fmt::format(", {} or more", range.least);
}

Key all_sections() {
  Key accuracy = section<workloads::Accuracy>("accuracy");
  accuracy.need = base::optional;
  Key training = section<workloads::Training>("training");
  training.need = base::optional;
  Key rl = section<workloads::PostTraining>("rl");
  rl.need = base::optional;
  Key run = section<workloads::TrainingRun>("run");
  run.need = base::optional;
  Key prices = section<hardware::Prices>("prices");
  prices.need = base::optional;
  Key numerics = section<workloads::Numerics>("numerics");
  numerics.need = base::optional;
  Key deployment = section<workloads::Deployment>("deployment");
  deployment.need = base::optional;
  // What trains serves nobody.
  Key serving = section<workloads::Serving>("serving");
  Key traffic = section<workloads::RequestStream>("traffic");
  serving.need = base::optional;
  traffic.need = base::optional;
  return {.type = Key::Type::group,
          .below = {section<hardware::System>("system"), section<workloads::Architecture>("model"),
                    section<workloads::Precision>("precision"), deployment, serving, traffic,
                    accuracy, training, rl, run, prices, numerics},
          .conditions = {{{"training"}, "absent", true, {{"traffic"}}, {}},
                         {{"rl"}, "given", true, {{"serving"}, {"training"}}, {}},
                         {{"run"}, "given", true, {{"training"}}, {}}}};
}

}  // namespace

Key scenario_keys() {
  const std::vector<std::string> notes = base::take_notes();
  Key keys = all_sections();
  base::take_notes();  // of the documents that the readers were asked with
  for (const std::string& note : notes) {
    base::add_note(note);
  }
  return keys;
}

std::vector<Knob> knobs_of(const Key& group) {
  std::vector<Knob> knobs;
  add_knobs(group, "", knobs);
  return knobs;
}

std::string value_text(const Key& key) {
  switch (key.type) {
    case Key::Type::any:
    case Key::Type::text:
      return "a text";
    case Key::Type::texts:
      return "texts";
    case Key::Type::flag:
      return "true, false";
    case Key::Type::integer:
      return "a whole number" + range_text(key.range);
    case Key::Type::integers:
      return "whole numbers" + range_text(key.range);
    case Key::Type::number:
      return "a number" + range_text(key.range);
    case Key::Type::numbers:
      return "numbers" + range_text(key.range);
    case Key::Type::quantity:
      return fmt::format("{}, {}", base::dimension_noun(key.dimension),
                         base::dimension_example(key.dimension));
    case Key::Type::choice:
      return fmt::format("{}", fmt::join(key.choices, ", "));
    case Key::Type::group:
      return key.single.empty() ? "a group" : "a group, or " + value_text(key.single.front());
    case Key::Type::list:
      return "a list";
  }
  return {};
}

}  // namespace roofcast::cli
