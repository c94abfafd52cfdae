// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>

#include "base/document/catalog.hpp"
#include "base/document/renamed.hpp"
#include "sim/decide/result_table.hpp"
#include "sim/result/metrics.hpp"
#include "sim/scenario/dotted_path.hpp"
#include "sim/scenario/sections.hpp"
#include "sim/scenario/usual_sections.hpp"
#include "sim/scenario/written_number.hpp"

namespace roofcast::sim {
namespace {

using base::Node;
using base::Problems;

constexpr std::size_t kMaxValues = 100'000;        // of one axis
constexpr std::size_t kMaxPoints = 1'000'000'000;  // of a sweep
constexpr std::size_t kMaxAxes = 1000;

bool names_a_knob(const std::string& name) {
  if (name.find("..") != std::string::npos || name.ends_with('.')) {
    return false;
  }
  const std::string section = name.substr(0, name.find('.'));
  return std::find(kSectionNames.begin(), kSectionNames.end(), section) != kSectionNames.end();
}

void read_range(const Node& node, Axis& axis, Problems& problems) {
  const std::size_t before = problems.size();
  base::Fields f(node, "axes." + axis.name, problems);
  AxisRange range;
  read(f, range);
  f.end();
  const auto& [from, to, factor, step, unit] = range;
  if (problems.size() != before) {
    return;
  }
  if ((factor > 0.0) == (step > 0.0)) {
    f.problem("factor", "a range needs either factor: or step:");
  } else if (factor > 0.0 && from <= 0.0) {
    f.problem("from", "must be more than 0 for a range with a factor");
  } else if (to < from) {
    f.problem("to", "is less than from");
  }
  if (problems.size() != before) {
    return;
  }
  const double slack = 1e-9 * std::max(std::abs(from), std::abs(to));
  for (std::size_t i = 0;; ++i) {
    const auto n = static_cast<double>(i);
    const double value = factor > 0.0 ? from * std::pow(factor, n) : from + step * n;
    if (value > to + slack) {
      break;
    }
    if (i == kMaxValues) {
      f.problem("to", fmt::format("a range makes at most {} values", kMaxValues));
      return;
    }
    const std::string text = fmt::format("{:.15g}{}{}", value, unit.empty() ? "" : " ", unit);
    axis.values.push_back({text, {{axis.name, node.place, base::scalar_node(text, node.place)}}});
  }
}

std::string label_of(const Node& value) {
  if (value.is_scalar()) {
    return value.text;
  }
  if (const Node* name = value.find("name"); name != nullptr && name->is_scalar()) {
    return name->text;
  }
  std::string text = base::to_yaml(value);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// Columns of the result that are no axes.
bool names_a_column(const std::string& name) {
  constexpr std::string_view kOthers[] = {"point",  "fits",   "meets",       "pareto_rank",
                                          "reason", "replay", "replay_note", "made_by"};
  const auto texts = text_metrics();
  return std::find(std::begin(kOthers), std::end(kOthers), name) != std::end(kOthers) ||
         find_metric(name) != nullptr || replayed_metric(name) != nullptr ||
         class_metric(name) != nullptr ||
         std::any_of(texts.begin(), texts.end(), [&](const auto& t) { return t.name == name; });
}

void check_values(const Axis& axis, bool named, const base::Place& place, Problems& problems) {
  std::vector<std::string> labels;
  for (const AxisValue& value : axis.values) {
    labels.push_back(value.label);
  }
  // 0.1 is another version than 0.10
  if (const auto twice = same_twice(labels, named || axis.name == "serving.version")) {
    const auto& [before, again] = *twice;
    problems.add(place, "axes." + axis.name,
                 before == again
                     ? fmt::format("has {} twice, and their rows could not be told apart", again)
                     : fmt::format("has {} twice, as {} too", before, again));
  }
}

void check_hidden(const std::vector<Axis>& axes, Problems& problems) {
  for (const HiddenSetting& hidden : hidden_settings(axes)) {
    const auto name = [](const Axis& axis, const AxisValue& value, const Assignment& setting) {
      return axis.name == setting.path ? axis.name : fmt::format("{} ({})", axis.name, value.label);
    };
    problems.add(
        hidden.by->path_place, "axes",
        fmt::format("{} and {} both set {}, and the value of the second one would replace that of "
                    "the first one: let one axis set it, or make the second one a factor (x1.2)",
                    name(*hidden.axis, *hidden.value, *hidden.setting),
                    name(*hidden.by_axis, *hidden.by_value, *hidden.by), hidden.by->path));
  }
}

void read_axis(const base::Entry& entry, Sweep& sweep, Problems& problems) {
  Axis axis{entry.key, {}};
  const Node& node = entry.value;
  const std::string path = "axes." + axis.name;
  const bool bundles = node.is_map() && !node.entries.empty() &&
                       std::all_of(node.entries.begin(), node.entries.end(),
                                   [](const base::Entry& e) { return e.value.is_map(); });
  if (!bundles && !names_a_knob(axis.name)) {
    problems.add(
        entry.key_place, path,
        fmt::format("is neither a dotted path into the scenario (sections: {}) nor a set of "
                    "named bundles",
                    fmt::join(kSectionNames, ", ")));
    return;
  }
  if (bundles) {
    for (const base::Entry& bundle : node.entries) {
      axis.values.push_back(read_bundle(bundle, path, problems));
    }
  } else if (node.is_map()) {
    read_range(node, axis, problems);
  } else if (node.is_sequence() && !node.items.empty()) {
    for (const Node& item : node.items) {
      axis.values.push_back({label_of(item), {{axis.name, entry.key_place, item}}});
    }
  } else {
    problems.add(
        node.place, path,
        "expects a list, a range {from, to, factor} or {from, to, step}, or named bundles");
  }
  if (bundles && names_a_column(axis.name)) {
    problems.add(entry.key_place, path, "is the name of another column of the result: rename it");
  }
  check_values(axis, bundles, entry.key_place, problems);
  sweep.axes.push_back(std::move(axis));
}

// An axis, or a list of them.
void read_by(const Node& by, Sweep& sweep, Problems& problems) {
  for (const Node& name : by.is_sequence() ? by.items : std::vector<Node>{by}) {
    if (std::none_of(sweep.axes.begin(), sweep.axes.end(),
                     [&](const Axis& a) { return a.name == name.text; })) {
      problems.add(name.place, "pareto.by", "must name one of the axes");
    }
    sweep.pareto.by.push_back(name.text);
  }
}

void read_goal(base::Fields& f, Sweep& sweep, Problems& problems) {
  f.group(
      "pareto",
      [&](base::Fields& g) {
        g.texts("maximize", sweep.pareto.maximize);
        g.texts("minimize", sweep.pareto.minimize);
        if (const Node* by = g.take("by")) {
          read_by(*by, sweep, problems);
        }
        for (const char* key : {"maximize", "minimize"}) {
          auto& names = key[1] == 'a' ? sweep.pareto.maximize : sweep.pareto.minimize;
          for (std::string& name : names) {
            name = base::noted_name(g.node().find(key)->place, name);
            if (find_metric(name) == nullptr) {
              g.problem(key, unknown_metric(name));
            }
          }
        }
      },
      base::optional);
  if (sweep.pareto.maximize.empty() && sweep.pareto.minimize.empty() && problems.empty()) {
    sweep.pareto.maximize = default_goal().maximize;
    sweep.pareto.usual = true;
  }
}

void read_columns(base::Fields& f, Sweep& sweep) {
  const Node* columns = f.take("columns");
  if (columns == nullptr || columns->is_null()) {
    return;
  }
  if (columns->is_scalar() && columns->text == "all") {
    sweep.columns = {columns->text};
    return;
  }
  if (!columns->is_sequence() || columns->items.empty()) {
    f.problem("columns", "expects all, or a list of metrics: [ttft_p95_s, tpot_mean_s]");
    return;
  }
  const auto texts = text_metrics();
  for (const Node& item : columns->items) {
    const std::string name = base::noted_name(item.place, item.text);
    if (find_metric(name) == nullptr &&
        std::none_of(texts.begin(), texts.end(), [&](const auto& t) { return t.name == name; })) {
      f.problem("columns", unknown_metric(name));
    }
    sweep.columns.push_back(name);
  }
}

}  // namespace

AxisValue read_bundle(const base::Entry& bundle, const std::string& path, Problems& problems) {
  AxisValue value{bundle.key, {}};
  if (!bundle.value.is_map()) {
    problems.add(bundle.value.place, fmt::format("{}.{}", path, bundle.key),
                 "expects settings, for example {system.chip.hbm.bandwidth: x1.2}");
  }
  for (const base::Entry& setting : bundle.value.entries) {
    if (!names_a_knob(setting.key)) {
      problems.add(setting.key_place, fmt::format("{}.{}", path, bundle.key),
                   fmt::format("\"{}\" is not a dotted path into the scenario (sections: {})",
                               setting.key, fmt::join(kSectionNames, ", ")));
    }
    value.set.push_back({setting.key, setting.key_place, setting.value});
  }
  return value;
}

std::vector<HiddenSetting> hidden_settings(const std::vector<Axis>& axes) {
  struct Setting {
    const Axis* axis;
    const AxisValue* value;
    const Assignment* setting;
  };
  std::vector<HiddenSetting> hidden;
  std::map<std::string_view, Setting> before;
  for (const Axis& axis : axes) {
    std::map<std::string_view, Setting> first;
    std::set<std::string_view> hiding;
    for (const AxisValue& value : axis.values) {
      for (const Assignment& a : value.set) {
        first.try_emplace(a.path, Setting{&axis, &value, &a});
        const auto other = before.find(a.path);
        if (other != before.end() && !is_factor(a.value) && hiding.insert(a.path).second) {
          hidden.push_back(
              {other->second.axis, other->second.value, other->second.setting, &axis, &value, &a});
        }
      }
    }
    first.merge(before);
    before = std::move(first);
  }
  return hidden;
}

ParetoGoal default_goal(bool trains) {
  if (trains) {
    return {.maximize = {"throughput_tok_per_s_per_gpu"}, .minimize = {"step_s"}, .by = {}};
  }
  return {.maximize = {"throughput_tok_per_s_per_gpu", "interactivity_tok_per_s_per_user"},
          .minimize = {},
          .by = {}};
}

std::size_t Sweep::points() const {
  std::size_t count = 1;
  for (const Axis& axis : axes) {
    count *= axis.values.size();
  }
  return count;
}

std::vector<std::size_t> Sweep::group_axes() const {
  std::vector<std::size_t> groups;
  for (const std::string& name : pareto.by) {
    const auto at =
        std::find_if(axes.begin(), axes.end(), [&](const Axis& a) { return a.name == name; });
    groups.push_back(static_cast<std::size_t>(at - axes.begin()));
  }
  return groups.empty() ? std::vector<std::size_t>{0} : groups;
}

void read(base::Fields& f, AxisRange& range) {
  f.number("from", range.from, base::any_value);
  f.number("to", range.to, base::any_value);
  f.number("factor", range.factor, {1.0, 1e9, true}, base::optional);
  f.number("step", range.step, base::positive, base::optional);
  f.text("unit", range.unit, base::optional);
}

void read_points(base::Fields& f, Sweep& sweep, Problems& problems, base::Need axes_are) {
  if (const Node* base_node = f.take("base", base::required)) {
    if (base_node->is_map()) {
      sweep.base = *base_node;
    } else if (base_node->is_scalar()) {
      const std::filesystem::path file = base::named_file(*base_node);
      try {
        if (!std::filesystem::exists(file)) {
          problems.add(base_node->place, "base", fmt::format("there is no file {}", file.string()));
        } else {
          sweep.base = base::load_document(file);
        }
      } catch (const base::InputError& error) {
        problems.add(error);
      }
    } else {
      problems.add(base_node->place, "base", "expects a path or an inline scenario");
    }
    fill_usual_sections(sweep.base);
  }
  if (const Node* axes = f.take("axes", axes_are)) {
    if (!axes->is_map() || axes->entries.empty()) {
      problems.add(axes->place, "axes",
                   "expects at least one axis, for example {traffic.concurrency: [16, 64]}");
    }
    for (const base::Entry& entry : axes->entries) {
      read_axis(entry, sweep, problems);
      if (sweep.points() > kMaxPoints) {
        problems.add(f.node().place, "axes",
                     fmt::format("make {:.3g} points; at most {} in one sweep",
                                 static_cast<double>(sweep.points()), kMaxPoints));
        break;
      }
      if (sweep.axes.size() > kMaxAxes) {
        problems.add(entry.key_place, "axes", fmt::format("at most {} in one sweep", kMaxAxes));
        break;
      }
    }
    check_hidden(sweep.axes, problems);
  }
  if (const Node* where = f.take("where")) {
    if (!where->is_sequence()) {
      problems.add(where->place, "where", "expects a list: [fits, 'ttft_p50_s <= 2']");
    }
    for (const Node& item : where->items) {
      if (const auto condition = parse_condition(item.text, item.place, problems)) {
        sweep.where.push_back(*condition);
      }
    }
  }
}

void read(base::Fields& f, Sweep& sweep, Problems& problems) {
  f.text("question", sweep.question, base::optional);
  read_points(f, sweep, problems, base::required);
  read_goal(f, sweep, problems);
  read_columns(f, sweep);
}

Sweep read_sweep(const Node& document) {
  Problems problems;
  Sweep sweep;
  base::Fields fields(document, "", problems);
  read(fields, sweep, problems);
  fields.end();
  problems.throw_if_any();
  return sweep;
}

}  // namespace roofcast::sim
