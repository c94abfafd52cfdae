// SPDX-License-Identifier: Apache-2.0
//
// How far a time that is a sum of operators may be from a measurement: its 90 % interval.
//
// A calibration tells, for each kind of operators, the 5 % and 95 % quantiles of measured / predicted
// (`errors:`). In a sum they partly cancel: the variance of an operator's error has a share that all
// operators of its chip have in common (its bandwidth is wrong for all at once), a share that those of
// its kind have in common, and a rest of its own. With T_k the time of kind k, t_i that of one operator
// (all its runs: they err alike), s the half-width of its kind on one side, relative to the prediction:
//
//   half-width² = chip·(Σ_k T_k·s_k)² + kind·Σ_k (T_k·s_k)² + (1 − chip − kind)·Σ_i (t_i·s_i)²
//
// Shares, from analyses of variance of log(measured / predicted) over the tables of docs/accuracy.md: with a
// chip's own calibration what chip and stack have in common is under 2 % of it, rows of a GEMM table
// with m or with n, k in common have 13 %. With transferred parameters GEMMs of one chip, stack and format have 55 %
// in common, collectives 30–44 %, attention 6–33 %; A100 and L40S, which have no twin among the six, are slower than
// forecast in nearly all kinds together (GEMM 15 and 22 %, NCCL 24 and 32 %, prefill 4 and 11 %).
// Kernels that were not measured apart (norms, activations) are taken to err as GEMMs do.
#pragma once

#include <array>

#include "base/units/quantity.hpp"
#include "hardware/calibration.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

// Half-widths of a 90 % interval, relative to a value: value·(1 − below) … value·(1 + above).
struct Spread {
  double below = 0.0;
  double above = 0.0;
};

// Kinds of operators whose errors are known apart; the names are those of the measured tables.
enum class ErrorKind : std::uint8_t {
  gemm,
  attention_context,
  attention_generation,
  mla_context,
  mla_generation,
  moe,
  mamba2,
  gdn,
  nccl,
  custom_allreduce,
  deepep_ll,
  deepep_normal,
  trtllm_alltoall,
};
inline constexpr std::size_t kErrorKinds = 13;
std::string_view name(ErrorKind kind);
ErrorKind error_kind(const workloads::Operator& op);

// What a calibration tells of its errors; no spread where it tells none.
struct Uncertainty {
  std::array<Spread, kErrorKinds> kinds{};
  Spread power;  // of watts
  double chip_share = 0.0;
  double kind_share = 0.0;
};
Uncertainty uncertainty_of(const hardware::Calibration& calibration);

// Gathers operators and says how uncertain their sum is.
class UncertainSum {
 public:
  void add(ErrorKind kind, base::Seconds time) {
    Kind& k = kinds_[static_cast<std::size_t>(kind)];
    k.time += time.si();
    k.squares += time.si() * time.si();
  }
  // All runs of an operator err alike.
  void add(const UncertainSum& other, double runs) {
    for (std::size_t k = 0; k < kErrorKinds; ++k) {
      kinds_[k].time += runs * other.kinds_[k].time;
      kinds_[k].squares += runs * runs * other.kinds_[k].squares;
    }
  }
  // Half-widths in seconds.
  struct Seconds {
    base::Seconds below;
    base::Seconds above;
  };
  Seconds half_widths(const Uncertainty& uncertainty) const;
  friend Spread ratio_spread(const UncertainSum& before, base::Seconds whole_before,
                             const Uncertainty& uncertainty_before, const UncertainSum& after,
                             base::Seconds whole_after, const Uncertainty& uncertainty_after);

 private:
  struct Kind {
    double time = 0.0;
    double squares = 0.0;
  };
  std::array<Kind, kErrorKinds> kinds_{};
};

// The spread of a value whose two independent sources of error have these, as factors:
// 1 + above = exp √(ln²(1 + above₁) + ln²(1 + above₂)), below likewise.
Spread together(Spread a, Spread b);

// The spread of whole_before / whole_after, two times of which these are parts, forecast with the same parameters: the
// operators of a kind err alike in both, so that only a difference of its share w of the whole counts, and what
// it errs in its change from T to T', which is the less the smaller the change:
//
//   half-width² of ln = Σ_k (s_k·(w_k − w'_k))² + Σ_k (s'_k·w'_k·min(1, |ln T'_k/T_k|))²
Spread ratio_spread(const UncertainSum& before, base::Seconds whole_before,
                    const Uncertainty& uncertainty_before, const UncertainSum& after,
                    base::Seconds whole_after, const Uncertainty& uncertainty_after);

// The spread of 1/x.
Spread inverse(Spread spread);

}  // namespace roofcast::models
