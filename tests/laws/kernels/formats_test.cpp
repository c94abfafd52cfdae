// SPDX-License-Identifier: Apache-2.0
//
// What a format may gain: bytes of the memory, and nothing where products decide.
#include <cmath>

#include "tests/catch.hpp"
#include "tests/laws/cases/violations.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::laws::laws_kernels_formats {
namespace {

using base::NumberFormat;
using workloads::Gemm;

constexpr std::int64_t kWidth = 8192;
constexpr std::int64_t kRows[] = {1, 16, 64, 256, 1024, 4096, 16384};

double gemm_s(const Gemm& op, const sim::Platform& p) {
  return models::cost_of(op, p.machine).time.si();
}

Gemm gemm(std::int64_t m, NumberFormat activations, NumberFormat weights,
          base::WeightStorage storage = {}) {
  return {m, kWidth, kWidth, 1, activations, weights, 0, storage};
}

}  // namespace

TEST_CASE("2:4 sparse weights make no products faster that vector units do", "[laws]") {
  int chips = 0;
  for (const sim::Platform& p : platforms()) {
    if (p.machine.supports(base::MathType::fp32)) {
      const Gemm dense = gemm(4096, NumberFormat::fp32, NumberFormat::fp32);
      Gemm sparse = dense;
      sparse.storage.sparse = true;
      INFO(p.system.id);
      CHECK(gemm_s(sparse, p) > 0.99 * gemm_s(dense, p));
      ++chips;
    }
  }
  CHECK(chips > 10);
}

TEST_CASE("Widened weights are no faster than wide ones where products decide", "[laws]") {
  constexpr double kAtMost = 1.02;  // of chips and shapes whose corrections are not those of bf16
  for (const sim::Platform& p : platforms()) {
    const NumberFormat wide =
        p.machine.supports(base::MathType::bf16) ? NumberFormat::bf16 : NumberFormat::fp16;
    for (const NumberFormat narrow : {NumberFormat::int4, NumberFormat::int8, NumberFormat::fp8}) {
      for (const std::int64_t m : {4096, 16384}) {
        INFO(p.system.id << " " << base::name(narrow) << " " << m);
        CHECK(gemm_s(gemm(m, wide, wide), p) <= kAtMost * gemm_s(gemm(m, wide, narrow), p));
      }
      INFO(p.system.id << " " << base::name(narrow));
      CHECK(gemm_s(gemm(1, wide, narrow), p) < gemm_s(gemm(1, wide, wide), p));
    }
  }
}

// Kernels, tiles, bytes and rates are the same, so that a model in fp16 is no faster or slower on any chip, measured or not.
TEST_CASE("A GEMM in fp16 takes the time of one in bf16 where the peaks of both are the same",
          "[laws]") {
  Violations law(0.0);
  std::size_t chips = 0;
  for (const sim::Platform& p : platforms()) {
    const base::FlopsPerSecond peak = p.system.chip.peak(base::MathType::bf16);
    if (peak.si() == 0.0 || peak != p.system.chip.peak(base::MathType::fp16)) {
      continue;
    }
    ++chips;
    for (const std::int64_t m : kRows) {
      for (const std::int64_t n : {128, 1280, 8192}) {
        for (const std::int64_t batch : {1, 16}) {
          Gemm op{m, n, kWidth, batch, NumberFormat::bf16, NumberFormat::bf16};
          const double bf16 = gemm_s(op, p);
          op.activations = op.weights = NumberFormat::fp16;
          law.add(std::abs(gemm_s(op, p) / bf16 - 1.0),
                  [&] { return p.system.id + ": " + describe(op); });
        }
      }
    }
  }
  CHECK(chips > 40);
  ROOFCAST_CHECK_LAW(law);
}

TEST_CASE("Smaller groups have more scales, and are no faster", "[laws]") {
  for (const sim::Platform& p : platforms()) {
    for (const std::int64_t m : kRows) {
      INFO(p.system.id << " " << m);
      const auto with = [&](std::int64_t group) {
        return gemm_s(gemm(m, NumberFormat::fp16, NumberFormat::int4, {group, false}), p);
      };
      CHECK(with(32) >= with(128));
      CHECK(with(128) == with(0));
      CHECK(with(128) >= with(1024));
    }
  }
}

TEST_CASE(
    "Sparse weights are never slower than dense ones, and never twice as fast where products "
    "decide",
    "[laws]") {
  std::size_t checked = 0;
  for (const sim::Platform& p : platforms()) {
    if (p.machine.sparsity == 0.0) {
      continue;
    }
    for (const NumberFormat format : {NumberFormat::bf16, NumberFormat::fp8}) {
      if (!p.machine.supports(base::facts(format).math)) {
        continue;
      }
      for (const std::int64_t m : kRows) {
        INFO(p.system.id << " " << base::name(format) << " " << m);
        const double dense = gemm_s(gemm(m, format, format), p);
        const double sparse = gemm_s(gemm(m, format, format, {0, true}), p);
        CHECK(sparse <= dense);
        CHECK(dense < 2.0 * sparse);
        ++checked;
      }
    }
  }
  CHECK(checked > 50);
}

}  // namespace roofcast::laws::laws_kernels_formats
