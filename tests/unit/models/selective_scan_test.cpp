// SPDX-License-Identifier: Apache-2.0
//
// Mamba-1 by hand: work, time and operators of its selective scan.
#include <map>
#include <string>

#include "models/operators/anatomy.hpp"
#include "models/operators/recurrence.hpp"
#include "models/work.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"
#include "tests/unit/models/round_machine.hpp"
#include "workloads/graph/graph.hpp"

namespace roofcast::unit_models_selective_scan {

using workloads::Recurrence;
using workloads::RecurrentHeads;
using workloads::StateScan;
using workloads::StateUpdate;

namespace {

// 1,000 channels with 16 elements of state each, in fp32.
const RecurrentHeads kChannels{Recurrence::selective, 1000, 1, 16, 1, base::NumberFormat::fp32};

double scan_compute(std::int64_t tokens, double rate) {
  models::Machine machine = models::round_machine();
  machine.calibration.selective_scan_rate = rate;
  return models::state_scan_cost(StateScan{kChannels, 1, tokens, 2048}, machine).compute.si();
}

}  // namespace

// A token of a channel: value, step size and gate in, one output; B and C of 16 for all channels; two bytes each. The state:
// 1,000 · 16 · 4 bytes in and out. 8 FLOP an element.
TEST_CASE("A selective scan reads values, steps, gates, B and C, and its state once", "[unit]") {
  const models::Work scan = models::work_of(StateScan{kChannels, 1, 100, 2048});
  CHECK(scan.flop.si() == 8.0 * 16.0 * 1000.0 * 100.0);
  CHECK(scan.bytes.si() == 100.0 * 2.0 * (4.0 * 1000.0 + 2.0 * 16.0) + 2.0 * 64'000.0);
  const models::Work update = models::work_of(StateUpdate{kChannels, 3, 1});
  CHECK(update.flop.si() == 8.0 * 16.0 * 1000.0 * 3.0);
  CHECK(update.bytes.si() == 3.0 * (2.0 * (4.0 * 1000.0 + 2.0 * 16.0) + 2.0 * 64'000.0));
}

// 1,000 blocks of threads on 100 SMs fill them. 8 · 16 · 1,000 · 2,048 FLOP at 5 % of 1 PFLOP/s are 5.243 us. At full rate the
// exponentials bound it: one for 8 FLOP, 10 T/s.
TEST_CASE("A selective scan runs at its share of the vector units, or as exponentials let it",
          "[unit]") {
  const double flop = 8.0 * 16.0 * 1000.0 * 2048.0;
  CHECK(scan_compute(2048, 0.05) == Approx(flop / 5e13));
  CHECK(scan_compute(2048, 1.0) == Approx(flop / 8e13));
  // The last block is padded: to a power of two from 128 tokens on, and to 2,048.
  CHECK(scan_compute(1, 0.05) == scan_compute(128, 0.05));
  CHECK(scan_compute(129, 0.05) == scan_compute(256, 0.05));
  CHECK(scan_compute(2049, 0.05) == scan_compute(4096, 0.05));
  CHECK(scan_compute(256, 0.05) > scan_compute(128, 0.05));
}

TEST_CASE("A selective scan that exponentials pace is limited by them, and not by vector units",
          "[unit]") {
  models::Machine machine = models::round_machine();
  for (const auto& [rate, cause] :
       {std::pair{0.05, models::Cause::vector}, {1.0, models::Cause::exponential}}) {
    machine.calibration.selective_scan_rate = rate;
    models::Anatomy anatomy;
    models::state_scan_cost(StateScan{kChannels, 1, 2048, 2048}, machine, &anatomy);
    CHECK(anatomy.parts.front().cause == cause);
  }
}

// Jamba-1.5-Mini on 8 ranks: 1,024 of 8,192 channels each. B, C and the vector of 256 are 288 wide and added up over ranks.
TEST_CASE("A rank selects from its channels, and ranks add up what they select", "[unit]") {
  workloads::Mapping mapping;
  mapping.tensor_parallel = 8;
  workloads::Graph graph;
  workloads::build_graph(laws::model("jamba-1.5-mini"), laws::precision("bf16"), mapping, {},
                         {4, 1, 1000, 0, 0, 0}, graph);
  std::map<std::string, workloads::Operator> calls;
  std::map<std::string, double> counts;
  for (const workloads::Call& call : graph) {
    calls[std::string(call.name)] = call.op;
    counts[std::string(call.name)] += call.count;
  }
  const auto gemm = [&](const char* name) { return std::get<workloads::Gemm>(calls.at(name)); };
  CHECK(gemm("mamba1.in").n == 2 * 1024);
  CHECK(gemm("mamba1.x_proj").n == 256 + 2 * 16);
  CHECK(gemm("mamba1.x_proj").k == 1024);
  CHECK(gemm("mamba1.dt_proj").n == 1024);
  CHECK(gemm("mamba1.dt_proj").k == 256);
  CHECK(gemm("mamba1.out").k == 1024);
  CHECK(std::get<workloads::Collective>(calls.at("mamba1.x_all_reduce")).bytes == 4.0 * 288 * 2);
  CHECK(std::get<StateUpdate>(calls.at("mamba1.update")).heads.heads == 1024);
  CHECK(counts.at("mamba1.update") == 28.0);
  CHECK(calls.count("mamba1.gated_norm") == 0);
}

TEST_CASE("The interval of a selective scan says that nobody measured it", "[unit]") {
  const sim::Scenario scenario = sim::read_scenario(base::parse_document(
      "scenario",
      "{system: hgx_h200, model: jamba-1.5-mini, precision: bf16, deployment: {tensor_parallel: "
      "4}, serving: {stack: vllm}, traffic: {input_tokens: 1000, output_tokens: 100, concurrency: "
      "8}}"));
  const models::Uncertainty& u = scenario.platform.machine.uncertainty;
  const models::Spread of = u.kinds[static_cast<std::size_t>(models::ErrorKind::mamba1)];
  const models::Spread relative = u.kinds[static_cast<std::size_t>(models::ErrorKind::mamba2)];
  CHECK(of.below > 0.5);
  CHECK(of.above > 1.0);
  CHECK(of.below > relative.below);
  CHECK(of.above > relative.above);
  CHECK(models::error_kind(StateScan{kChannels, 1, 100, 2048}, 8) == models::ErrorKind::mamba1);
}

}  // namespace roofcast::unit_models_selective_scan
