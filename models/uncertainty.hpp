// SPDX-License-Identifier: Apache-2.0
//
// How far a time that is a sum of operators may be from a measurement: its 90 % interval.
//
// A calibration says, for each kind of operators, the 5 % and 95 % quantiles of measured / predicted (`errors:`).
// hardware/spreads.hpp widens them by what two measurements of one operator differ by. In a sum these errors partly
// cancel. The variance of an operator's error has three parts: a share that all operators of its chip have in common
// (a wrong bandwidth is wrong for all at once), a share that the operators of its kind have in common, and a rest of
// its own.
//
//   half-width² = chip·(Σ_k T_k·s_k)² + kind·Σ_k (T_k·s_k)² + (1 − chip − kind)·Σ_i (t_i·s_i)²
//
//   T_k         s  time of kind k
//   t_i         s  time of operator i: all its runs, since they err alike
//   s_k, s_i    –  half-width of the kind (of i's kind) on one side, relative to the prediction
//   chip, kind  –  the shares in common
//
// The shares come from analyses of variance of log(measured / predicted) over the tables of docs/accuracy.md.
//
//   a chip's own calibration    chip and stack have under 2 % in common; rows of a GEMM table with the same m or
//                               the same n, k have 13 %
//   transferred parameters      GEMMs of one chip, stack and format have 55 % in common, collectives 30–44 %,
//                               attention 6–33 %
//
// In between, by the share that the distance of the chips has in the errors (`distance_share` of the calibration), the
// shares in common are in between.
//
// A100 and L40S have no twin among the six chips. They are slower than forecast in nearly all kinds together
// (GEMM 15 and 22 %, NCCL 24 and 32 %, prefill 4 and 11 %). Kernels that were not measured apart (norms,
// activations) are assumed to err as GEMMs do.
#pragma once

#include <array>

#include "base/units/quantity.hpp"
#include "base/units/square_seconds.hpp"
#include "hardware/calibration.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

// Half-widths of a 90 % interval, relative to a value: value·(1 − below) … value·(1 + above).
struct Spread {
  double below = 0.0;
  double above = 0.0;
};

// The kinds of operators whose errors are known one by one. The names are those of the measured tables.
enum class ErrorKind : std::uint8_t {
  gemm,
  attention_context,
  attention_generation,
  mla_context,
  mla_generation,
  moe,
  mamba2,
  gdn,
  mamba1,  // nobody measured it: uncertainty_of
  nccl,
  nccl_hosts,  // collectives of the library that leave a scale-up domain
  custom_allreduce,
  deepep_ll,
  deepep_normal,
  trtllm_alltoall,
};
inline constexpr std::size_t kErrorKinds = 15;
std::string_view name(ErrorKind kind);
// `domain`: chips of a scale-up domain.
ErrorKind error_kind(const workloads::Operator& op, std::int64_t domain);

// The errors that a calibration states. A kind without a stated error has no spread.
struct Uncertainty {
  std::array<Spread, kErrorKinds> kinds{};
  Spread power;  // of a forecast of power in watts
  double chip_share = 0.0;
  double kind_share = 0.0;
};
Uncertainty uncertainty_of(const hardware::Calibration& calibration);

// Adds up operators and says how uncertain their sum is.
class UncertainSum {
 public:
  void add(ErrorKind kind, base::Seconds time) {
    Kind& k = kinds_[static_cast<std::size_t>(kind)];
    k.time += time;
    k.squares += time * time;
  }
  // Adds `runs` runs of everything in `other`. All runs of an operator err alike.
  void add(const UncertainSum& other, double runs) {
    for (std::size_t k = 0; k < kErrorKinds; ++k) {
      kinds_[k].time += runs * other.kinds_[k].time;
      kinds_[k].squares += runs * runs * other.kinds_[k].squares;
    }
  }
  struct HalfWidths {
    base::Seconds below;
    base::Seconds above;
  };
  HalfWidths half_widths(const Uncertainty& uncertainty) const;
  friend Spread ratio_spread(const UncertainSum& before, base::Seconds whole_before,
                             const Uncertainty& uncertainty_before, const UncertainSum& after,
                             base::Seconds whole_after, const Uncertainty& uncertainty_after);

 private:
  struct Kind {
    base::Seconds time;           // T_k
    base::SquareSeconds squares;  // Σ t_i²
  };
  std::array<Kind, kErrorKinds> kinds_{};
};

// The spread of a value that has two independent sources of error, as factors:
// 1 + above = exp √(ln²(1 + above₁) + ln²(1 + above₂)), and below likewise.
Spread together(Spread a, Spread b);

// The spread of whole_before / whole_after: two times that are forecast with the same parameters. `before` and `after`
// are the operators in them.
//
//   half-width² of ln = Σ_k (s_k·(w_k − w'_k))² + Σ_k (r_k·w'_k·min(1, |ln T'_k/T_k|))²
//
//   s_k        –  half-width of kind k before
//   r_k        –  half-width of predicted / measured of kind k after
//   w_k, w'_k  –  share of kind k in the whole time
//   T_k, T'_k  s  time of kind k
//
// The operators of a kind err alike in both times, so their error cancels as far as their share is the same. The
// second sum is the error of the change itself: what a kernel takes beyond its forecast is assumed not to change. A kernel
// that is 2.5 times as slow as forecast feels 40 % of the change, not less than none of it. This error is the smaller,
// the smaller the change.
Spread ratio_spread(const UncertainSum& before, base::Seconds whole_before,
                    const Uncertainty& uncertainty_before, const UncertainSum& after,
                    base::Seconds whole_after, const Uncertainty& uncertainty_after);

// The spread of 1/x.
Spread inverse(Spread spread);

}  // namespace roofcast::models
