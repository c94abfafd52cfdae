// SPDX-License-Identifier: Apache-2.0
#include "sim/recommend/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/no_number.hpp"
#include "sim/decide/solve.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/result/costs.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::sim {
namespace {

using base::Node;

constexpr std::int64_t kClientsPerGpu = 512;
constexpr std::int64_t kFine = 8;  // numbers of clients in an octave
constexpr std::int64_t kCoarse = 1;
constexpr std::size_t kKept = 24;  // shapes of two pools, of a system
using base::kInfinity;

// A system of the question: the value of its axis, and what it allows.
struct Candidate {
  AxisValue value;
  std::int64_t gpus = 0;
  std::int64_t domain = 1;
  std::vector<workloads::Mapping> mappings;
};

Node number_node(std::int64_t number, const base::Place& place) {
  return base::scalar_node(fmt::format("{}", number), place);
}

AxisValue setting(std::string label, std::string path, const Node& value) {
  return {std::move(label), {{std::move(path), value.place, value}}};
}

Candidate candidate_of(const Question& q, const Node& system) {
  const JoinedSystem joined(q.base, system, q.gpus);
  const Scenario& s = joined.scenario;
  Candidate c;
  c.value = setting(joined.label, "system", joined.node);
  hardware::System larger = s.platform.system;
  larger.chips = joined.has_nics ? std::max(q.gpus, larger.chips) : larger.chips;
  c.gpus = std::min(q.gpus, larger.chips);
  if (const auto fed = gpus_fed(prices_of(view(s)), s.platform.system)) {
    c.gpus = std::min(c.gpus, *fed);
  }
  if (c.gpus < 1) {
    throw base::InputError(
        fmt::format("error: prices.power_budget feeds no GPU of {}\n", joined.label));
  }
  c.domain = larger.scale_up_domain;
  c.mappings = legal_mappings(s.model, larger, c.gpus);
  return c;
}

// The `deployment:` of a shape.
Node deployment_node(const Shape& shape, const Node* written, const base::Place& place) {
  const auto fill = [&](Node& node, const workloads::Mapping& m) {
    node.place = place;
    for (const char* key : kKeptOfDeployment) {
      if (const Node* kept = written == nullptr ? nullptr : written->find(key)) {
        node[key] = *kept;
      }
    }
    node["tensor_parallel"] = number_node(m.tensor_parallel, place);
    for (const auto& [key, ways] : {std::pair{"pipeline_parallel", m.pipeline_parallel},
                                    {"expert_parallel", m.expert_parallel},
                                    {"data_parallel", m.data_parallel}}) {
      if (ways > 1) {
        node[key] = number_node(ways, place);
      }
    }
  };
  Node node;
  if (!shape.prompts) {
    fill(node, shape.main.mapping);
    return node;
  }
  for (const auto& [key, pool] : {std::pair{"prefill", &*shape.prompts}, {"decode", &shape.main}}) {
    node[key]["replicas"] = number_node(pool->replicas, place);
    fill(node[key], pool->mapping);
  }
  return node;
}

std::vector<std::int64_t> client_ladder(std::int64_t gpus, std::int64_t per_octave) {
  return counts(kClientsPerGpu * gpus, per_octave);
}

// Shapes of several systems, each once.
struct Shapes {
  std::vector<Shape> all;
  std::vector<std::vector<bool>> legal;

  void add(std::size_t systems, std::size_t system, const std::vector<Shape>& shapes) {
    legal.resize(systems);
    for (const Shape& shape : shapes) {
      const auto [at, is_new] = index_.try_emplace(name(shape), all.size());
      if (is_new) {
        all.push_back(shape);
      }
      legal[system].resize(std::max(legal[system].size(), at->second + 1));
      legal[system][at->second] = true;
    }
    for (std::vector<bool>& row : legal) {
      row.resize(all.size());
    }
  }

 private:
  std::map<std::string, std::size_t> index_;
};

bool is_startable(const workloads::Mapping& mapping, bool attention_dp_tensor_parallel) {
  return attention_dp_tensor_parallel || mapping.data_parallel == 1 || mapping.tensor_parallel == 1;
}

// Of each stack, by shape: the stack's `mapping`.
std::vector<std::vector<bool>> startable_shapes(const SweepPoints& points, std::size_t stacks,
                                                const std::vector<Shape>& shapes,
                                                std::size_t shape_axis) {
  std::size_t stride = shapes.size();  // from the first point of a stack to that of the next
  for (std::size_t axis = shape_axis + 1; axis < points.sweep().axes.size(); ++axis) {
    stride *= points.sweep().axes[axis].values.size();
  }
  std::vector<std::vector<bool>> startable(stacks);
  for (std::size_t i = 0; i < stacks && points.size() > 0; ++i) {
    Node document = points.document(i * stride);
    base::Problems problems;
    load_references(document, problems);
    const bool wide = read_serving(document, problems).stack.attention_dp_tensor_parallel;
    problems.throw_if_any();
    for (const Shape& shape : shapes) {
      startable[i].push_back(is_startable(shape.main.mapping, wide) &&
                             (!shape.prompts || is_startable(shape.prompts->mapping, wide)));
    }
  }
  return startable;
}

Scan make_scan(const Question& q, const std::vector<Candidate>& systems, Shapes shapes,
               std::int64_t per_octave) {
  Sweep sweep;
  sweep.base = q.base;
  sweep.where = q.where;
  auto& goals =
      q.objective.direction == Direction::maximize ? sweep.pareto.maximize : sweep.pareto.minimize;
  goals.emplace_back(q.objective.metric->name);
  sweep.pareto.by = {"system"};
  Axis& system = sweep.axes.emplace_back(Axis{"system", {}});
  for (const Candidate& c : systems) {
    system.values.push_back(c.value);
  }
  for (const auto& [path, nodes] :
       {std::pair{"precision", &q.precisions}, {"serving.stack", &q.stacks}}) {
    if (!nodes->empty()) {
      Axis& axis = sweep.axes.emplace_back(Axis{path, {}});
      for (const Node& node : *nodes) {
        axis.values.push_back(setting(label_of(node), path, node));
      }
    }
  }
  const std::size_t shape_axis = sweep.axes.size();
  Axis& deployment = sweep.axes.emplace_back(Axis{"deployment", {}});
  const base::Place& place = q.base.place;
  const Node* written = q.base.find("deployment");
  for (const Shape& shape : shapes.all) {
    AxisValue value = setting(name(shape), "deployment", deployment_node(shape, written, place));
    const std::int64_t replicas = shape.prompts ? 1 : shape.main.replicas;
    value.set.push_back({"serving.replicas", place, number_node(replicas, place)});
    deployment.values.push_back(std::move(value));
  }
  if (q.load == Load::free) {
    Axis& clients = sweep.axes.emplace_back(Axis{"traffic.concurrency", {}});
    for (const std::int64_t n : client_ladder(q.gpus, per_octave)) {
      clients.values.push_back(setting(fmt::format("{}", n), clients.name, number_node(n, place)));
    }
  }
  const bool two = !shapes.all.empty() && shapes.all.front().prompts.has_value();
  auto points = std::make_unique<SweepPoints>(std::move(sweep));
  auto startable =
      startable_shapes(*points, std::max<std::size_t>(1, q.stacks.size()), shapes.all, shape_axis);
  return {std::move(points),
          ResultTable("recommend", {}),
          std::move(shapes.all),
          std::move(shapes.legal),
          std::move(startable),
          shape_axis,
          two};
}

// What is recommended is estimated again and replayed, so rough estimates may scan.
Scan run(Scan scan, unsigned threads) {
  scan.points->scan(true);
  scan.table = run_sweep(*scan.points, threads);
  scan.points->scan(false);
  return scan;
}

// Leaves out the mappings whose weights or first request do not fit, unless that is all of them.
void keep_what_fits(const Question& q, std::vector<Candidate>& systems, unsigned threads) {
  Shapes single;
  for (std::size_t i = 0; i < systems.size(); ++i) {
    std::vector<Shape> shapes;
    for (const workloads::Mapping& mapping : systems[i].mappings) {
      shapes.push_back(shapes_of_one_pool({mapping}, mapping.ranks(), Load::free).front());
    }
    single.add(systems.size(), i, shapes);
  }
  Question first = q;
  first.gpus = 1;
  const Scan scan = make_scan(first, systems, std::move(single), kCoarse);
  const std::vector<ServingEstimate> estimates = sweep_estimates(*scan.points, threads);
  std::vector<std::vector<workloads::Mapping>> kept(systems.size());
  std::vector<std::vector<bool>> known(systems.size(), std::vector<bool>(scan.shapes.size()));
  for (std::size_t row = 0; row < estimates.size(); ++row) {
    const Infeasible& why = estimates[row].infeasible;
    const std::size_t system = scan.system_of(row);
    const std::size_t shape = scan.shape_of(row);
    if (scan.is_legal(row) && !known[system][shape] &&
        !std::holds_alternative<infeasible::Weights>(why) &&
        !std::holds_alternative<infeasible::KvCache>(why)) {
      known[system][shape] = true;
      kept[system].push_back(scan.shapes[shape].main.mapping);
    }
  }
  for (std::size_t i = 0; i < systems.size(); ++i) {
    systems[i].mappings = kept[i].empty() ? systems[i].mappings : kept[i];
  }
}

// The best shapes of each system: by the objective where they meet the conditions, else by how little they miss.
Shapes best_shapes(const Question& q, const Scan& scan) {
  const ResultColumn& column = scan.table.column(q.objective.metric->name);
  const double sign = q.objective.direction == Direction::maximize ? -1.0 : 1.0;
  using Score = std::pair<double, double>;
  std::vector<std::vector<Score>> scores(
      scan.systems(), std::vector<Score>(scan.shapes.size(), Score{kInfinity, kInfinity}));
  for (std::size_t row = 0; row < scan.table.rows(); ++row) {
    const double value = column.number(row);
    if (!scan.is_legal(row) || std::isnan(value)) {
      continue;
    }
    Score& known = scores[scan.system_of(row)][scan.shape_of(row)];
    known = std::min(known, Score{shortfall(q.where, scan.table, row), sign * value});
  }
  Shapes kept;
  for (std::size_t system = 0; system < scan.systems(); ++system) {
    std::vector<std::size_t> order;
    for (std::size_t shape = 0; shape < scan.shapes.size(); ++shape) {
      if (scan.legal[system][shape]) {
        order.push_back(shape);
      }
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return scores[system][a] < scores[system][b];
    });
    order.resize(std::min(order.size(), kKept));
    std::vector<Shape> shapes;
    for (const std::size_t shape : order) {
      shapes.push_back(scan.shapes[shape]);
    }
    kept.add(scan.systems(), system, shapes);
  }
  return kept;
}

}  // namespace

std::string label_of(const Node& node) {
  const Node* base = node.find("base");
  const Node* name = node.find("name");
  return node.is_scalar()                       ? node.text
         : !node.reference.empty()              ? node.reference
         : base != nullptr && base->is_scalar() ? base->text
         : name != nullptr && name->is_scalar() ? name->text
                                                : "own";
}

JoinedSystem::JoinedSystem(Node document, const Node& system, std::int64_t gpus) : node(system) {
  document["system"] = system;
  base::Problems problems;
  load_references(document, problems);
  problems.throw_if_any();
  const Node* nics = document.find_path("system.scale_out");
  has_nics = nics != nullptr && !nics->is_null();
  scenario = read_scenario(std::move(document));
  const hardware::System& own = scenario.platform.system;
  const std::string other = own.other_chip();
  label = label_of(system) + (other.empty() ? "" : " with " + other);
  if (own.chips >= gpus || !has_nics) {
    return;
  }
  const std::int64_t copies = (gpus + own.chips - 1) / own.chips;
  if (system.is_scalar()) {
    node = {};
    node.place = system.place;
    node["base"] = system;
  }
  node["name"] = base::scalar_node(fmt::format("{} x {}", copies, own.name), system.place);
  node["chips"] = number_node(copies * own.chips, system.place);
}

std::size_t Scan::clients() const {
  const std::vector<Axis>& axes = points->sweep().axes;
  return axes.size() == shape_axis + 1 ? 1 : axes.back().values.size();
}

std::size_t Scan::choice_of(std::size_t row) const { return row / clients(); }

double shortfall(const std::vector<Condition>& where, const ResultTable& table, std::size_t row) {
  if (!table.fits(row)) {
    return kInfinity;
  }
  double worst = 0.0;
  for (const Condition& c : where) {
    if (!c.metric.empty() && !holds(c, table, row)) {
      const double off = -slack(c, table.column(c.metric).number(row));
      worst = std::isnan(off) ? kInfinity : std::max(worst, off);
    }
  }
  return worst;
}

std::vector<Scan> scan_deployments(const Question& q, unsigned threads) {
  std::vector<Node> nodes = q.systems;
  if (const Node* own = q.base.find("system"); nodes.empty() && own != nullptr) {
    nodes.push_back(*own);
  }
  std::vector<Candidate> systems;
  for (const Node& node : nodes) {
    systems.push_back(candidate_of(q, node));
  }
  keep_what_fits(q, systems, threads);
  const auto shapes_of = [&](bool two) {
    Shapes shapes;
    for (std::size_t i = 0; i < systems.size(); ++i) {
      const Candidate& c = systems[i];
      shapes.add(systems.size(), i,
                 two ? shapes_of_two_pools(c.mappings, c.domain, c.gpus, q.load)
                     : shapes_of_one_pool(c.mappings, c.gpus, q.load));
    }
    return shapes;
  };
  std::vector<Scan> scans;
  if (q.one_pool) {
    scans.push_back(run(make_scan(q, systems, shapes_of(false), kFine), threads));
  }
  if (Shapes shapes = shapes_of(true); q.two_pools && !shapes.all.empty()) {
    if (q.load == Load::free) {
      shapes = best_shapes(q, run(make_scan(q, systems, std::move(shapes), kCoarse), threads));
    }
    scans.push_back(run(make_scan(q, systems, std::move(shapes), kFine), threads));
  }
  return scans;
}

}  // namespace roofcast::sim
