// SPDX-License-Identifier: Apache-2.0
//
// Shared memory, registers and tensor memory bound the tiles of kernels, on every chip of the catalog.
#include "hardware/chip_architecture.hpp"
#include "models/operators/explained_cost.hpp"
#include "sim/scenario/knob.hpp"
#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::laws::laws_kernels_tiles {
namespace {

using base::NumberFormat;
using workloads::Gemm;

constexpr std::int64_t kRows[] = {1, 16, 100, 128, 257, 1000, 4096, 16384};
constexpr std::int64_t kWidths[] = {1024, 4096, 7168, 16384};

sim::Platform with(const std::string& system, const std::string& setting) {
  base::Problems problems;
  base::Node document = base::parse_document("catalog", fmt::format("system: {}", system));
  sim::load_references(document, problems);
  sim::set_knob(document, {"--set", setting, {}}, problems);
  problems.throw_if_any();
  sim::Platform platform = sim::read_platform(document, problems);
  problems.throw_if_any();
  return platform;
}

bool knows_its_memory(const sim::Platform& p) {
  return hardware::main_loop_of(p.system.chip) != nullptr && p.system.chip.shared_memory_per_sm;
}

std::vector<workloads::Operator> products(const models::Machine& machine) {
  std::vector<workloads::Operator> all;
  for (const NumberFormat format :
       {NumberFormat::fp16, NumberFormat::bf16, NumberFormat::fp8, NumberFormat::fp8_block}) {
    if (!machine.supports(base::facts(format).math)) {
      continue;
    }
    for (const std::int64_t m : kRows) {
      for (const std::int64_t n : kWidths) {
        all.emplace_back(Gemm{m, n, 8192, 1, format, format});
      }
      workloads::GroupedGemm experts;
      experts.pairs = static_cast<double>(8 * m);
      experts.distinct = 16.0;
      experts.n = 1536;
      experts.k = 4096;
      experts.activations = experts.weights = format;
      all.emplace_back(experts);
    }
  }
  return all;
}

std::vector<workloads::Operator> attention() {
  std::vector<workloads::Operator> all;
  workloads::AttentionHeads heads{32, 8, 128, 128, 0, 2048};
  workloads::AttentionHeads latent{16, 1, 576, 512, 0, 576};
  for (const workloads::AttentionHeads& h : {heads, latent}) {
    for (const std::int64_t tokens : {1, 65, 1024, 8192}) {
      workloads::PrefillAttention prefill;
      prefill.heads = h;
      prefill.sequences = 1;
      prefill.new_tokens = tokens;
      all.emplace_back(prefill);
      workloads::DecodeAttention decode;
      decode.heads = h;
      decode.sequences = tokens;
      decode.query_tokens = 1;
      decode.context = 4096;
      all.emplace_back(decode);
    }
  }
  return all;
}

double seconds(const workloads::Operator& op, const sim::Platform& p) {
  return models::physical_cost_of(op, p.machine).time.si();
}

}  // namespace

TEST_CASE("Every chip of the catalog has room for every tile that kernels try", "[laws]") {
  std::size_t known = 0;
  for (const sim::Platform& p : platforms()) {
    INFO(p.system.id);
    CHECK_FALSE(p.machine.tile_room.binds);
    known += knows_its_memory(p) ? 1U : 0U;
    for (const workloads::Operator& op : attention()) {
      models::Anatomy a;
      models::cost_of(op, p.machine, a);
      CHECK(a.tile_rows == 64.0);
      CHECK(a.blocks_per_sm ==
            (std::holds_alternative<workloads::DecodeAttention>(op) ? 2.0 : 1.0));
    }
  }
  CHECK(known >= 40);
}

TEST_CASE("Half the shared memory makes no kernel faster, and some products slower on every chip",
          "[laws]") {
  for (const sim::Platform& p : platforms()) {
    if (!knows_its_memory(p)) {
      continue;
    }
    const std::string knob = "system.chip.shared_memory.per_sm=";
    const sim::Platform half = with(p.system.id, knob + "x0.5");
    const sim::Platform tenth = with(p.system.id, knob + "x0.1");
    const sim::Platform twice = with(p.system.id, knob + "x2");
    std::size_t slower = 0;
    for (const workloads::Operator& op : products(p.machine)) {
      const double now = seconds(op, p);
      const double halved = seconds(op, half);
      slower += halved > 1.001 * now ? 1U : 0U;
      CHECK(halved >= now * (1.0 - 1e-12));
      CHECK(seconds(op, tenth) >= halved * (1.0 - 1e-12));
      CHECK(seconds(op, twice) <= now * (1.0 + 1e-12));
    }
    for (const workloads::Operator& op : attention()) {
      CHECK(seconds(op, half) >= seconds(op, p) * (1.0 - 1e-12));
      CHECK(seconds(op, tenth) >= seconds(op, half) * (1.0 - 1e-12));
    }
    INFO(p.system.id);
    CHECK(slower > 0);
  }
}

TEST_CASE("Half of where sums stay makes no kernel faster, and some products slower", "[laws]") {
  std::size_t checked = 0;
  for (const sim::Platform& p : platforms()) {
    const hardware::Chip& chip = p.system.chip;
    if (!chip.registers_per_sm) {
      continue;
    }
    const std::string knob = chip.tensor_memory_per_sm
                                 ? "system.chip.registers.tensor_memory_per_sm="
                                 : "system.chip.registers.per_sm=";
    const sim::Platform half = with(p.system.id, knob + "x0.5");
    const sim::Platform eighth = with(p.system.id, knob + "x0.125");
    std::size_t slower = 0;
    for (const workloads::Operator& op : products(p.machine)) {
      CHECK(seconds(op, half) >= seconds(op, p) * (1.0 - 1e-12));
      CHECK(seconds(op, eighth) >= seconds(op, half) * (1.0 - 1e-12));
      slower += seconds(op, eighth) > 1.001 * seconds(op, p) ? 1U : 0U;
    }
    for (const workloads::Operator& op : attention()) {
      CHECK(seconds(op, half) >= seconds(op, p) * (1.0 - 1e-12));
      CHECK(seconds(op, eighth) >= seconds(op, half) * (1.0 - 1e-12));
    }
    INFO(p.system.id);
    CHECK(slower > 0);
    ++checked;
  }
  CHECK(checked > 20);
}

TEST_CASE("A tile that does not fit is not taken, and the parts of the time add up to it",
          "[laws]") {
  for (const char* system : {"hgx_h100", "hgx_a100", "mi300x_x8", "hgx_b200"}) {
    const sim::Platform p = with(system, "system.chip.shared_memory.per_sm=x0.5");
    REQUIRE(p.machine.tile_room.binds);
    for (const workloads::Operator& op : products(p.machine)) {
      models::Anatomy a;
      const models::Cost cost = models::cost_of(op, p.machine, a);
      INFO(system << " " << a.tile_rows << " x " << a.tile_columns);
      CHECK(a.buffer_bytes <= p.machine.tile_room.shared);
      double sum = 0.0;
      for (const models::Share& share :
           models::shares_of(cost, a, p.machine.calibration.overlap_exponent)) {
        sum += share.share;
      }
      CHECK(sum == Approx(1.0));
    }
  }
}

}  // namespace roofcast::laws::laws_kernels_tiles
