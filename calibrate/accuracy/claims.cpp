// SPDX-License-Identifier: Apache-2.0
#include "calibrate/accuracy/claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/nearest.hpp"
#include "calibrate/operators/operator_rows.hpp"
#include "sim/result/metrics.hpp"
#include "sim/scenario/knob.hpp"

namespace roofcast::calibrate {

std::span<const base::CatalogEntry> embedded_claims();

base::Catalog claim_catalog() { return {"claims", "claim", embedded_claims()}; }

namespace {

using base::Node;
using base::Problems;

// What claims are published in.
constexpr std::pair<std::string_view, double> kUnits[] = {
    {"x", 1.0},         {"%", 0.01},      {"us", 1e-6},        {"ms", 1e-3},  {"s", 1.0},
    {"tok/s/GPU", 1.0}, {"tok/s", 1.0},   {"tok/s/user", 1.0}, {"tok", 1.0},  {"requests/s", 1.0},
    {"GB/s", 1e9},      {"TFLOPS", 1e12}, {"KB", 1e3},         {"MB", 1e6},   {"GB", 1e9},
    {"B", 1e9},         {"h", 3600.0},    {"M GPU-h", 1e6},    {"stops", 1.0}};

const base::Choices<Count>& counts() {
  static const base::Choices<Count> all = {
      {"total_parameters", Count::total_parameters},
      {"active_parameters", Count::active_parameters},
      {"weights_b", Count::weights_b},
      {"cache_b_per_token", Count::cache_b_per_token},
      {"state_b_per_sequence", Count::state_b_per_sequence},
      {"prompt_tokens_per_task", Count::prompt_tokens_per_task},
      {"answer_tokens_per_task", Count::answer_tokens_per_task},
      {"tools_s_per_task", Count::tools_s_per_task}};
  return all;
}

constexpr std::string_view kRate = "throughput_tok_per_s_per_gpu";

struct Load {
  Node base, axes, where;
  std::string metric;
  bool whole_run = false;
};

// A figure as the document says it.
struct Recipe {
  enum class Kind { none, load, row, count, number };
  Kind kind = Kind::none;
  Load load;
  std::vector<std::string> operators;
  bool prompts = false;
  RowOf row;
  Count count = Count::total_parameters;
  double number = 0.0;
  double times = 1.0;
  std::vector<base::Entry> set;
};

const base::Choices<ClaimsPage> kPages = {{"workloads", ClaimsPage::workloads},
                                          {"runs", ClaimsPage::runs},
                                          {"mlperf", ClaimsPage::mlperf}};

class Reader {
 public:
  Reader(const Node& document, Problems& problems)
      : problems_(problems), f_(document, "", problems) {}

  Claims read() {
    Claims claims;
    std::string source;
    f_.integer("section", claims.section, base::at_least_one);
    f_.choice("page", claims.page, kPages, base::optional);
    f_.text("title", claims.title);
    f_.text("source", source, base::optional);
    if (const Node* loads = f_.take("loads")) {
      for (const base::Entry& entry : loads->entries) {
        read_load(entry);
      }
    }
    f_.each("claims", [&](base::Fields& g) { claims.claims.push_back(read_claim(g, source)); });
    f_.each(
        "not_computed",
        [&](base::Fields& g) {
          NotComputed each{{}, {}, source, {}};
          g.text("claim", each.claim);
          g.text("published", each.published);
          g.text("source", each.source, source.empty() ? base::required : base::optional);
          g.text("because", each.because);
          claims.not_computed.push_back(each);
        },
        base::optional);
    f_.end();
    return claims;
  }

 private:
  void read_load(const base::Entry& entry) {
    base::Fields g(entry.value, fmt::format("loads.{}", entry.key), problems_);
    Load load;
    if (const Node* base = g.take("base", base::required)) {
      load.base = *base;
    }
    read_points(g, load);
    read_metric(g, load.metric);
    g.flag("whole_run", load.whole_run, base::optional);
    if (load.whole_run && (load.metric != kRate || !load.axes.is_null())) {
      g.problem("whole_run", fmt::format("is for the metric {}, without axes", kRate));
    }
    g.end();
    loads_[entry.key] = load;
  }

  void read_points(base::Fields& g, Load& load) {
    for (const auto& [key, target] :
         {std::pair{"axes", &load.axes}, std::pair{"where", &load.where}}) {
      if (const Node* node = g.take(key)) {
        *target = *node;
      }
    }
  }

  void read_metric(base::Fields& g, std::string& metric) {
    g.text("metric", metric, base::optional);
    if (!metric.empty() && sim::find_metric(metric) == nullptr) {
      g.problem("metric", sim::unknown_metric(metric));
    }
  }

  Claim read_claim(base::Fields& g, const std::string& source) {
    Claim claim;
    g.text("claim", claim.claim);
    g.text("conditions", claim.conditions, base::optional);
    claim.source = source;
    g.text("source", claim.source, source.empty() ? base::required : base::optional);
    g.number("published", claim.least, base::positive);
    claim.most = claim.least;
    g.number("published_to", claim.most, {claim.least}, base::optional);
    base::Choices<std::pair<std::string_view, double>> units;
    for (const auto& unit : kUnits) {
      units.emplace_back(unit.first, unit);
    }
    std::pair<std::string_view, double> unit = kUnits[0];
    g.choice("unit", unit, units);
    claim.unit = unit.first;
    claim.unit_si = unit.second;
    g.text("reason", claim.reason, base::optional);
    g.text("fitted", claim.fitted, base::optional);
    Recipe ours;
    g.group("ours", [&](base::Fields& h) {
      read_recipe(h, ours);
      claim.ours = figure(h, ours);
    });
    g.group(
        "over",
        [&](base::Fields& h) {
          Recipe over = ours;
          read_recipe(h, over);
          claim.over = figure(h, over);
        },
        base::optional);
    return claim;
  }

  // What stands there already holds where the document says nothing.
  void read_recipe(base::Fields& g, Recipe& recipe) {
    using Kind = Recipe::Kind;
    std::vector<std::string> given;
    for (const auto& [key, kind] :
         {std::pair{"load", Kind::load}, std::pair{"row", Kind::row},
          std::pair{"count", Kind::count}, std::pair{"number", Kind::number}}) {
      if (g.has(key)) {
        given.emplace_back(key);
        recipe = Recipe{};
        recipe.kind = kind;
      }
    }
    if (given.size() > 1 && given != std::vector<std::string>{"load", "count"}) {
      g.problem(given[1], fmt::format("stands beside {}: a figure is one of them", given[0]));
    } else if (recipe.kind == Kind::none) {
      g.problem("load", "expects a load, a row, a count or a number");
    }
    read_source_of(g, recipe);
    g.number("times", recipe.times, base::positive, base::optional);
    if (const Node* set = g.take("set")) {
      recipe.set.insert(recipe.set.end(), set->entries.begin(), set->entries.end());
    }
  }

  void read_source_of(base::Fields& g, Recipe& recipe) {
    using Kind = Recipe::Kind;
    if (recipe.kind == Kind::load || recipe.kind == Kind::count) {
      std::string name;
      g.text("load", name, base::optional);
      if (!name.empty()) {
        find_load(g, name, recipe.load);
      }
    }
    if (recipe.kind == Kind::load) {
      read_metric(g, recipe.load.metric);
      g.texts("operators", recipe.operators);
      g.choice("pass", recipe.prompts, base::Choices<bool>{{"decode", false}, {"prefill", true}},
               base::optional);
      read_points(g, recipe.load);
    } else if (recipe.kind == Kind::row) {
      if (const Node* row = g.take("row")) {
        for (const base::Entry& cell : row->entries) {
          if (cell.key == "kind") {
            recipe.row.kind = cell.value.text;
          } else {
            recipe.row.cells.emplace_back(cell.key, cell.value.text);
          }
        }
      }
      const std::vector<std::string> kinds = operator_kinds();
      if (std::find(kinds.begin(), kinds.end(), recipe.row.kind) == kinds.end()) {
        g.problem("row.kind", fmt::format("expects one of {}", fmt::join(kinds, ", ")));
      }
    } else if (recipe.kind == Kind::count) {
      g.choice("count", recipe.count, counts(), base::optional);
    } else if (recipe.kind == Kind::number) {
      g.number("number", recipe.number, base::positive, base::optional);
    }
  }

  void find_load(base::Fields& g, const std::string& name, Load& load) {
    const auto found = loads_.find(name);
    if (found != loads_.end()) {
      load = found->second;
      return;
    }
    std::vector<std::string> names;
    for (const auto& each : loads_) {
      names.push_back(each.first);
    }
    const auto near = base::nearest_name(name, names);
    g.problem("load", fmt::format("there is no load \"{}\"{}", name,
                                  near ? fmt::format("; did you mean \"{}\"?", *near) : ""));
  }

  // Knobs that choose come before knobs of what was chosen.
  void turn(Node& scenario, std::vector<base::Entry> set) {
    std::stable_sort(set.begin(), set.end(), [](const base::Entry& a, const base::Entry& b) {
      return std::count(a.key.begin(), a.key.end(), '.') <
             std::count(b.key.begin(), b.key.end(), '.');
    });
    for (const base::Entry& each : set) {
      sim::set_knob(scenario, each.key, each.key_place, each.value, problems_);
    }
  }

  Figure figure(base::Fields& g, const Recipe& recipe) {
    using Kind = Recipe::Kind;
    Figure figure{recipe.number, recipe.times};
    if (recipe.kind == Kind::load) {
      Node scenario = recipe.load.base;
      turn(scenario, recipe.set);
      if (!recipe.operators.empty()) {
        figure.of = TimeOf{scenario, recipe.operators, recipe.prompts};
      } else if (recipe.load.whole_run) {
        figure.of = WholeRunOf{scenario};
      } else {
        figure.of = BestOf{sweep_of(recipe.load, scenario), recipe.load.metric};
        if (recipe.load.metric.empty()) {
          g.problem("metric", "is needed: neither this figure nor its load names one");
        }
      }
    } else if (recipe.kind == Kind::row) {
      RowOf row = recipe.row;
      for (const base::Entry& change : recipe.set) {
        const auto cell = std::find_if(row.cells.begin(), row.cells.end(),
                                       [&](const auto& each) { return each.first == change.key; });
        if (cell == row.cells.end()) {
          problems_.add(change.key_place, g.path(), fmt::format("the row has no {}", change.key));
        } else {
          cell->second = change.value.text;
        }
      }
      figure.of = row;
    } else if (recipe.kind == Kind::count) {
      CountOf count{recipe.count, recipe.load.base};
      if (count.scenario.is_null()) {
        count.scenario.place = g.node().place;
      }
      turn(count.scenario, recipe.set);
      figure.of = count;
    }
    return figure;
  }

  sim::Sweep sweep_of(const Load& load, const Node& scenario) {
    sim::Sweep sweep;
    if (load.axes.is_null()) {
      sweep.base = scenario;
      sweep.pareto = sim::default_goal();
      return sweep;
    }
    Node document;
    document.kind = Node::Kind::map;
    document.place = scenario.place;
    document["base"] = scenario;
    document["axes"] = load.axes;
    if (!load.where.is_null()) {
      document["where"] = load.where;
    }
    base::Fields fields(document, "", problems_);
    sim::read(fields, sweep, problems_);
    fields.end();
    return sweep;
  }

  Problems& problems_;
  base::Fields f_;
  std::map<std::string, Load> loads_;
};

}  // namespace

Claims read_claims(const Node& document) {
  Problems problems;
  Claims claims = Reader(document, problems).read();
  problems.throw_if_any();
  return claims;
}

}  // namespace roofcast::calibrate
