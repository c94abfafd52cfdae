// SPDX-License-Identifier: Apache-2.0
#include "workloads/architecture/recommender.hpp"

#include <cmath>

#include "models/footprint.hpp"
#include "models/operators/table_lookup.hpp"
#include "models/work.hpp"
#include "sim/estimate.hpp"
#include "sim/result/feasibility.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"
#include "workloads/architecture/parameters.hpp"

namespace roofcast::unit_workloads_recommender {
namespace {

using laws::model;
using laws::precision;

workloads::Graph graph_of(const workloads::Mapping& mapping, std::int64_t tokens) {
  workloads::Graph graph;
  workloads::build_graph(model("dlrm-dcnv2"), precision("bf16"), mapping, {},
                         {0, 1, 0, 1, tokens, 0}, graph);
  return graph;
}

// Over all calls of that name.
template <class Op, class Value>
double sum_of(const workloads::Graph& graph, std::string_view name, Value value) {
  double sum = 0.0;
  for (const workloads::Call& call : graph) {
    if (call.name == name) {
      sum += call.count * value(std::get<Op>(call.op));
    }
  }
  return sum;
}

double rows_of(const workloads::Graph& graph) {
  const auto rows = [](const workloads::TableLookup& o) { return o.rows; };
  return sum_of<workloads::TableLookup>(graph, "tables.lookup", rows) +
         sum_of<workloads::TableLookup>(graph, "tables.lookup_small", rows);
}

double sent(const workloads::Graph& graph, std::string_view name) {
  return sum_of<workloads::Collective>(graph, name,
                                       [](const workloads::Collective& o) { return o.bytes; });
}

sim::ServingEstimate estimate_of(const std::vector<std::string>& changes) {
  base::Node document = base::parse_document(
      "test",
      "system: hgx_h100\nmodel: dlrm-dcnv2\nprecision: bf16\ndeployment: {}\n"
      "serving: {stack: trtllm, max_tokens_per_iteration: 131072, max_sequences: 64}\n"
      "traffic: {input_tokens: 65536, output_tokens: 1, concurrency: 2}\n");
  base::Problems problems;
  for (const std::string& change : changes) {
    sim::set_knob(document, {"--set", change, {}}, problems);
  }
  problems.throw_if_any();
  const sim::Scenario s = sim::read_scenario(std::move(document));
  sim::Workspace workspace;
  return sim::estimate(sim::view(s), workspace);
}

}  // namespace

TEST_CASE("A recommender's parameters are its tables' rows and its networks' weights", "[unit]") {
  const workloads::ParameterCount p = workloads::parameters(model("dlrm-dcnv2"));
  CHECK(p.tables == 204184588.0 * 128.0);
  CHECK(p.towers == 13.0 * 512 + 512 * 256 + 256 * 128 + 3456.0 * 1024 + 1024 * 1024 + 1024 * 512 +
                        512 * 256 + 256);
  CHECK(p.layers.mlp == 3.0 * 2 * 3456 * 512);
  CHECK(p.embedding == 0.0);
  CHECK(workloads::active_parameters(model("dlrm-dcnv2")) == Approx(p.total() - p.tables));
}

TEST_CASE("A token looks up its rows of every table, and ranks share out all tokens' rows",
          "[unit]") {
  CHECK(model("dlrm-dcnv2").recommender->lookups() == 214);
  const workloads::Graph one = graph_of({}, 1000);
  CHECK(rows_of(one) == Approx(214e3));
  CHECK(sent(one, "tables.exchange") == 0.0);
  workloads::Mapping eight;
  eight.data_parallel = 8;
  const workloads::Graph shared = graph_of(eight, 1000);
  CHECK(rows_of(shared) == Approx(214e3));  // an eighth of eight ranks' tokens
  CHECK(sent(shared, "tables.indices") == 1000.0 * 214 * 8);
  CHECK(sent(shared, "tables.exchange") == 1000.0 * 26 * 128 * 2);
  workloads::Mapping cut;
  cut.tensor_parallel = 8;
  const workloads::Graph of_all = graph_of(cut, 1000);
  CHECK(rows_of(of_all) == Approx(214e3 / 8));
  CHECK(sent(of_all, "tables.all_gather") == 1000.0 * 3456 * 2);
  // Tables are cut by as many ranks, the networks are whole on each.
  const auto bytes = [](const workloads::Mapping& mapping) {
    return models::weight_bytes(model("dlrm-dcnv2"), precision("bf16"), mapping).si();
  };
  const double tables = 204184588.0 * 128.0 * 2.0;
  CHECK(bytes({}) - bytes(eight) == Approx(tables * 7.0 / 8.0));
}

TEST_CASE("Rows chosen at random repeat as a brute count says", "[unit]") {
  CHECK(workloads::distinct_rows(1.0, 40e6) == Approx(1.0));
  CHECK(workloads::distinct_rows(100.0, 1.0) == 1.0);
  CHECK(workloads::distinct_rows(2.0, 4.0) == Approx(1.75));
  CHECK(workloads::distinct_rows(1e6, 3.0) == Approx(3.0));
}

TEST_CASE("A row is read in whole sectors, once when the L2 holds the rows, else each time",
          "[unit]") {
  const models::Machine& m = laws::platform("hgx_h100").machine;
  const auto cost = [&](double rows, double distinct, std::int64_t width) {
    return models::table_lookup_cost({rows, distinct, 1.0, width, base::NumberFormat::bf16}, m);
  };
  const double indices = 8.0 * (1e6 + 1.0);
  CHECK(cost(1e6, 1e6, 128).dram_bytes.si() == Approx(256e6 + indices + 256.0));
  CHECK(cost(1e6, 1e6, 20).dram_bytes.si() ==
        Approx(64e6 + indices + 40.0));  // 40 bytes, 2 sectors
  CHECK(cost(1e6, 1e4, 128).dram_bytes.si() == Approx(2.56e6 + indices + 256.0));
  CHECK(cost(1e6, 5e5, 128).dram_bytes.si() == Approx(256e6 + indices + 256.0));
  CHECK(cost(1e6, 1e4, 128).time < cost(1e6, 1e6, 128).time);
}

TEST_CASE("More rows, wider ones and more different ones take no less time", "[laws]") {
  for (const sim::Platform& p : laws::platforms()) {
    const auto time = [&](double rows, double distinct, std::int64_t width) {
      return models::table_lookup_cost(
                 {rows, distinct, rows / 8.0, width, base::NumberFormat::bf16}, p.machine)
          .time;
    };
    for (double rows = 10.0; rows < 1e9; rows *= 3.0) {
      INFO(p.system.id << " " << rows);
      CHECK(time(3.0 * rows, rows, 128) >= time(rows, rows, 128));
      CHECK(time(rows, rows, 256) >= time(rows, rows, 128));
      CHECK(time(rows, rows, 128) >= (1.0 - 1e-9) * time(rows, 0.3 * rows, 128));
    }
  }
}

TEST_CASE("A recommender answers in one pass, and twice the bandwidth or the ranks make it faster",
          "[unit]") {
  const sim::ServingEstimate base = estimate_of({});
  REQUIRE(base.fits());
  CHECK(base.steady.requests_per_second > 0.0);
  const sim::ServingEstimate fast = estimate_of({"system.chip.hbm.bandwidth=x2"});
  CHECK(fast.steady.requests_per_second > 1.05 * base.steady.requests_per_second);
  CHECK(fast.steady.requests_per_second < 2.0 * base.steady.requests_per_second);
  const sim::ServingEstimate eight =
      estimate_of({"deployment.data_parallel=8", "traffic.concurrency=16",
                   "serving.stack.front_end.per_request=1 ms"});
  REQUIRE(eight.fits());
  CHECK(eight.footprint.weights < base.footprint.weights / 7.0);
  CHECK(eight.steady.requests_per_second > 2.0 * base.steady.requests_per_second);
}

TEST_CASE("A recommender that trains is refused with the reason", "[unit]") {
  const sim::ServingEstimate e =
      estimate_of({"training={global_batch: 64, sequence_length: 64, trainer: megatron}"});
  CHECK(std::holds_alternative<sim::infeasible::TrainedTables>(e.infeasible));
  CHECK(sim::reason(e) ==
        "training a recommender is not modelled: gradients of rows that a batch did not look up");
}

TEST_CASE("A recommender has nothing to draft", "[unit]") {
  const auto e =
      estimate_of({"serving.speculative={method: eagle, draft_tokens: 3, acceptance: 0.8}"});
  CHECK(std::holds_alternative<sim::infeasible::NothingToDraft>(e.infeasible));
}

}  // namespace roofcast::unit_workloads_recommender
