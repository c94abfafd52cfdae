// SPDX-License-Identifier: Apache-2.0
//
// More work never takes less time, but for one mechanism. Few CTAs keep few loads in flight, and
// operands they share (activations beside one column tile, queries beside one split of a context)
// come no faster than their one reader asks for them. One more CTA reads them sooner, so the small
// operators that are bound this way step down; each tolerance is the largest such step measured.
#include <algorithm>
#include <functional>

#include "tests/catch.hpp"
#include "tests/laws/cases/violations.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::laws::laws_work {
namespace {

using workloads::Operator;

// Sizes dense where tiles begin, then ever wider apart.
std::vector<std::int64_t> sizes(std::int64_t most) {
  std::vector<std::int64_t> all;
  for (std::int64_t m = 1; m <= most; m += 1 + m / 96) {
    all.push_back(m);
    if (m % 64 == 0) {
      all.push_back(m + 1);
    }
  }
  return all;
}

// Times operators of growing size by their physical models; a size that is faster than a smaller one misses the law.
// Corrections: correction_test.cpp.
void grow(Violations& law, const sim::Platform& p, const std::vector<std::int64_t>& values,
          const std::function<Operator(std::int64_t)>& shape, const models::Machine& machine) {
  base::Seconds longest{};
  std::int64_t of = 0;
  for (const std::int64_t value : values) {
    const Operator op = shape(value);
    if (!runs_on(op, p)) {
      return;
    }
    const base::Seconds time = models::physical_cost_of(op, machine).time;
    law.add(longest / time - 1.0,
            [&] { return fmt::format("{}: {}, less than at {}", p.system.id, describe(op), of); });
    if (time > longest) {
      longest = time;
      of = value;
    }
  }
}

void grow(Violations& law, const sim::Platform& p, const std::vector<std::int64_t>& values,
          const std::function<Operator(std::int64_t)>& shape) {
  grow(law, p, values, shape, p.machine);
}

// Absent rows cost nothing.
models::Machine without_absent_rows(const sim::Platform& p) {
  models::Machine machine = p.machine;
  machine.calibration.gemm_absent_row_reads = 0.0;
  return machine;
}

struct Linear {
  std::int64_t n = 0, k = 0;
  base::NumberFormat activations = base::NumberFormat::bf16, weights = base::NumberFormat::bf16;
};
std::vector<Linear> linears() {
  using F = base::NumberFormat;
  std::vector<Linear> all;
  for (const auto& [a, w] :
       {std::pair{F::bf16, F::bf16}, {F::fp8, F::fp8}, {F::bf16, F::int4}, {F::nvfp4, F::nvfp4}}) {
    for (const auto& [n, k] : {std::pair{4096, 4096},
                               {1280, 8192},
                               {57344, 8192},
                               {8192, 28672},
                               {2112, 7168},
                               {128, 4096},
                               {200, 300}}) {
      all.push_back({n, k, a, w});
    }
  }
  return all;
}

TEST_CASE("A GEMM of more rows takes no less time, but for absent rows of fixed tiles", "[laws]") {
  Violations law(0.05);
  for (const auto& p : platforms()) {
    const models::Machine machine = without_absent_rows(p);
    for (const Linear& l : linears()) {
      grow(
          law, p, sizes(20000),
          [&](std::int64_t m) { return workloads::Gemm{m, l.n, l.k, 1, l.activations, l.weights}; },
          machine);
    }
  }
  ROOFCAST_CHECK_LAW(law);
}

// Below 32 rows tiles are 128 columns wide, so that few CTAs read the weights.
TEST_CASE("By each rule of fixed tiles more rows take no less time, but for absent rows",
          "[laws]") {
  Violations by_rows(0.05);
  Violations by_waves(0.05);
  const auto is_few = [](std::int64_t m) { return m < 32; };
  std::vector<std::int64_t> from_32 = sizes(20000);
  std::erase_if(from_32, is_few);
  for (const auto& p : platforms()) {
    if (p.system.chip.tensor_instruction != "wgmma") {
      continue;
    }
    models::Machine machine = without_absent_rows(p);
    const auto check = [&](Violations& law, models::TileRule rule, base::NumberFormat format,
                           const std::vector<std::int64_t>& rows) {
      machine.tile_rules.fill(rule);
      for (const Linear& l : linears()) {
        grow(
            law, p, rows,
            [&](std::int64_t m) { return workloads::Gemm{m, l.n, l.k, 1, format, format}; },
            machine);
      }
    };
    check(by_rows, models::TileRule::by_rows, base::NumberFormat::fp8, sizes(20000));
    check(by_waves, models::TileRule::by_waves, base::NumberFormat::fp8_block, from_32);
  }
  ROOFCAST_CHECK_LAW(by_rows);
  ROOFCAST_CHECK_LAW(by_waves);
}

TEST_CASE("Absent rows cost time, and only where tiles reach beyond the last row", "[laws]") {
  std::size_t slower = 0;
  for (const auto& p : platforms()) {
    models::Machine machine = p.machine;
    models::Machine without = without_absent_rows(p);
    for (const auto rule : {models::TileRule::none, models::TileRule::by_rows}) {
      machine.tile_rules.fill(rule);
      without.tile_rules.fill(rule);
      for (const Linear& l : linears()) {
        for (const std::int64_t m : {16, 17, 64, 65, 128, 129, 255, 256, 257, 1024}) {
          const workloads::Gemm op{m, l.n, l.k, 1, l.activations, l.weights};
          if (!runs_on(op, p)) {
            continue;
          }
          const base::Seconds with = models::physical_cost_of(op, machine).time;
          const base::Seconds none = models::physical_cost_of(op, without).time;
          const bool whole =
              rule == models::TileRule::none || m == 16 || m == 64 || m == 128 || m % 256 == 0;
          CHECK((whole ? with == none : with >= none));
          slower += with > none ? 1 : 0;
        }
      }
    }
  }
  CHECK(slower > 0);
}

TEST_CASE("A GEMM of more columns takes no less time", "[laws]") {
  Violations law(0.12);
  for (const auto& p : platforms()) {
    for (const Linear& l : linears()) {
      for (const std::int64_t m : {1, 16, 100, 1000, 8192}) {
        grow(law, p, sizes(20000), [&](std::int64_t n) {
          return workloads::Gemm{m, n, l.k, 1, l.activations, l.weights};
        });
      }
    }
  }
  ROOFCAST_CHECK_LAW(law);
}

TEST_CASE("A GEMM of more depth takes no less time", "[laws]") {
  Violations law(0.025);
  for (const auto& p : platforms()) {
    for (const Linear& l : linears()) {
      for (const std::int64_t m : {1, 16, 100, 1000, 8192}) {
        grow(law, p, sizes(20000), [&](std::int64_t k) {
          return workloads::Gemm{m, l.n, k, 1, l.activations, l.weights};
        });
      }
    }
  }
  ROOFCAST_CHECK_LAW(law);
}

TEST_CASE("A grouped GEMM of more tokens takes no less time", "[laws]") {
  Violations law(1e-9);
  Violations wide(0.04);  // 20 TB/s of memory need loads of more SMs than a few tiles keep busy
  for (const auto& p : platforms()) {
    for (const auto& m : models()) {
      if (m.moe.experts == 0) {
        continue;
      }
      for (const std::int64_t ways : {1, 8}) {
        Violations& bound = p.system.chip.bandwidth.si() > 10e12 ? wide : law;
        grow(bound, p, sizes(20000), [&](std::int64_t tokens) {
          const workloads::RankLoads loads =
              workloads::rank_loads(static_cast<double>(tokens), m.moe.top_k, m.moe.experts,
                                    m.moe.groups, m.moe.popularity, {ways}, true);
          return workloads::GroupedGemm{loads.busiest.pairs,      loads.busiest.distinct,
                                        2 * m.moe.intermediate,   m.hidden,
                                        base::NumberFormat::bf16, base::NumberFormat::bf16};
        });
      }
    }
  }
  ROOFCAST_CHECK_LAW(law);
  ROOFCAST_CHECK_LAW(wide);
}

const workloads::AttentionHeads kHeads[] = {
    {8, 1, 128, 128, 0, 256, base::NumberFormat::bf16},    // Llama-3.1-70B, TP8
    {32, 8, 128, 128, 0, 2048, base::NumberFormat::fp8},   // Llama-3.1-8B
    {64, 8, 64, 64, 128, 1024, base::NumberFormat::bf16},  // gpt-oss sliding layers
    {128, 1, 576, 512, 0, 576, base::NumberFormat::bf16},  // DeepSeek-V3 decode
};

TEST_CASE("Decode of a longer context, more sequences or more queries takes no less time",
          "[laws]") {
  Violations context(0.30);
  Violations sequences(0.025);
  Violations queries(1e-9);
  for (const auto& p : platforms()) {
    for (const auto& heads : kHeads) {
      for (const std::int64_t fixed : {1, 3, 16, 64}) {
        grow(context, p, sizes(100000), [&](std::int64_t v) {
          return workloads::DecodeAttention{heads, fixed, 1, v};
        });
        grow(sequences, p, sizes(2000), [&](std::int64_t v) {
          return workloads::DecodeAttention{heads, v, 1, 300 * fixed};
        });
        grow(queries, p, sizes(100), [&](std::int64_t v) {
          return workloads::DecodeAttention{heads, fixed, v, 3000};
        });
      }
    }
  }
  ROOFCAST_CHECK_LAW(context);
  ROOFCAST_CHECK_LAW(sequences);
  ROOFCAST_CHECK_LAW(queries);
}

TEST_CASE("Prefill of longer, more or further cached prompts takes no less time", "[laws]") {
  Violations fresh(1e-9);
  Violations sequences(1e-9);
  Violations cached(1e-9);
  for (const auto& p : platforms()) {
    for (const auto& heads : kHeads) {
      for (const std::int64_t fixed : {1, 7, 32}) {
        grow(fresh, p, sizes(30000), [&](std::int64_t v) {
          return workloads::PrefillAttention{heads, fixed, v, 100 * (fixed - 1)};
        });
        grow(sequences, p, sizes(300), [&](std::int64_t v) {
          return workloads::PrefillAttention{heads, v, 129 * fixed, 0};
        });
        grow(cached, p, sizes(100000), [&](std::int64_t v) {
          return workloads::PrefillAttention{heads, 2, 129 * fixed, v};
        });
      }
    }
  }
  ROOFCAST_CHECK_LAW(fresh);
  ROOFCAST_CHECK_LAW(sequences);
  ROOFCAST_CHECK_LAW(cached);
}

TEST_CASE(
    "More bytes, or more experts, take no less time in elementwise kernels and expert routing",
    "[laws]") {
  // What leaves the L2 no longer counts there, and hardly in the memory yet.
  Violations law(1e-4);
  for (const auto& p : platforms()) {
    grow(law, p, sizes(1000000), [&](std::int64_t v) {
      const double bytes = 1000.0 * static_cast<double>(v);
      return workloads::Elementwise{bytes, bytes, bytes};
    });
    grow(law, p, sizes(100000), [&](std::int64_t v) {
      return workloads::ExpertRouting{v, 8.0 * static_cast<double>(v), 7168, 256,
                                      8, base::NumberFormat::fp8};
    });
    for (const auto format : {base::NumberFormat::bf16, base::NumberFormat::fp8_block}) {
      grow(law, p, sizes(1024), [&](std::int64_t v) {
        return workloads::ExpertRouting{64, 512.0, 7168, 1024, 8, format, false, v};
      });
    }
  }
  ROOFCAST_CHECK_LAW(law);
}

TEST_CASE("More bytes or more ranks take no less time in collectives", "[laws]") {
  using workloads::CollectiveKind;
  Violations bytes(1e-9);
  Violations ranks(1e-9);
  for (const auto& p : platforms()) {
    for (const auto kind :
         {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
          CollectiveKind::all_to_all, CollectiveKind::broadcast, CollectiveKind::send_receive}) {
      for (const auto custom :
           {workloads::AllReduceKernels::library, workloads::AllReduceKernels::barriers,
            workloads::AllReduceKernels::flags}) {
        for (const std::int64_t n : {2, 8, 16, 64}) {
          grow(bytes, p, sizes(1000000), [&](std::int64_t v) {
            return workloads::Collective{kind, 100.0 * static_cast<double>(v), n, 1, custom};
          });
        }
        // In a full mesh more ranks have more links.
        for (const double size : p.machine.scale_up.mesh_peers > 0.0
                                     ? std::vector<double>{}
                                     : std::vector<double>{1e3, 1e5, 1e7, 1e9}) {
          grow(ranks, p, {2, 4, 8, 16, 32, 64, 128, 256, 512}, [&](std::int64_t n) {
            return workloads::Collective{kind, size, n, 1, custom};
          });
        }
      }
    }
  }
  ROOFCAST_CHECK_LAW(bytes);
  ROOFCAST_CHECK_LAW(ranks);
}

}  // namespace
}  // namespace roofcast::laws::laws_work
