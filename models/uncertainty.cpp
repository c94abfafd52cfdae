// SPDX-License-Identifier: Apache-2.0
#include "models/uncertainty.hpp"

#include <algorithm>
#include <cmath>

#include "base/overloaded.hpp"
#include "hardware/spreads.hpp"

namespace roofcast::models {
namespace {

using namespace workloads;

constexpr std::string_view kNames[kErrorKinds] = {"gemm",
                                                  "attention_context",
                                                  "attention_generation",
                                                  "mla_context",
                                                  "mla_generation",
                                                  "moe",
                                                  "mamba2",
                                                  "gdn",
                                                  "mamba1",
                                                  "nccl",
                                                  "nccl_hosts",
                                                  "custom_allreduce",
                                                  "deepep_ll",
                                                  "deepep_normal",
                                                  "trtllm_alltoall"};

constexpr double kOwnKindShare = 0.13;
constexpr double kTransferredKindShare = 0.35;
constexpr double kTransferredChipShare = 0.20;
// No table has a selective scan. Its rate follows from one published ratio to the scan of Mamba-2, 2 to 8 (arXiv
// 2405.21060): it may be off by twice on either side, and by what that of Mamba-2 is off.
constexpr Spread kOfPublishedRatio{0.5, 1.0};

// Only MLA has keys of another length than its values.
bool is_latent(const AttentionHeads& heads) { return heads.qk_dim != heads.value_dim; }

ErrorKind of_recurrence(Recurrence kind) {
  return kind == Recurrence::ssm     ? ErrorKind::mamba2
         : kind == Recurrence::delta ? ErrorKind::gdn
                                     : ErrorKind::mamba1;
}

ErrorKind of_collective(const Collective& o, std::int64_t domain) {
  const bool exchange = o.kind == CollectiveKind::all_to_all && o.copies > 1;
  const bool own = exchange || (o.kind == CollectiveKind::all_to_all &&
                                (o.deduplicated || o.custom != AllReduceKernels::library));
  if (!own && ranks_in_a_domain(o, domain) < o.ranks) {
    return ErrorKind::nccl_hosts;
  }
  if (o.kind == CollectiveKind::all_reduce && o.custom != AllReduceKernels::library) {
    return ErrorKind::custom_allreduce;
  }
  if (!exchange) {
    return ErrorKind::nccl;
  }
  if (o.custom == AllReduceKernels::flags) {
    return ErrorKind::trtllm_alltoall;
  }
  return o.deduplicated ? ErrorKind::deepep_normal : ErrorKind::deepep_ll;
}

double combined(double a, double b) { return std::exp(std::hypot(std::log(a), std::log(b))); }

}  // namespace

std::string_view name(ErrorKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

ErrorKind error_kind(const Operator& op, std::int64_t domain) {
  return std::visit(
      base::overloaded{
          [](const Gemm&) { return ErrorKind::gemm; },
          [](const GroupedGemm&) { return ErrorKind::moe; },
          [](const ExpertRouting&) { return ErrorKind::moe; },
          [](const PrefillAttention& o) {
            return is_latent(o.heads) ? ErrorKind::mla_context : ErrorKind::attention_context;
          },
          [](const IndexScores&) { return ErrorKind::attention_context; },
          [](const DecodeAttention& o) {
            return is_latent(o.heads) ? ErrorKind::mla_generation : ErrorKind::attention_generation;
          },
          [](const StateScan& o) { return of_recurrence(o.heads.kind); },
          [](const StateUpdate& o) { return of_recurrence(o.heads.kind); },
          [](const Elementwise& o) { return o.taps > 0 ? ErrorKind::mamba2 : ErrorKind::gemm; },
          [](const TableLookup&) { return ErrorKind::gemm; },  // none is measured
          [&](const Collective& o) { return of_collective(o, domain); },
      },
      op);
}

Uncertainty uncertainty_of(const hardware::Calibration& calibration) {
  Uncertainty u;
  for (const hardware::KindError& e : calibration.errors) {
    const hardware::Ends ends = hardware::interval(e);
    const Spread spread{1.0 - ends.low, ends.high - 1.0};
    if (e.kind == "gemm_power") {
      u.power = spread;
    }
    const auto* at = std::find(std::begin(kNames), std::end(kNames), e.kind);
    if (at != std::end(kNames)) {
      u.kinds[static_cast<std::size_t>(at - kNames)] = spread;
    }
  }
  if (!calibration.errors.empty()) {
    u.kinds[static_cast<std::size_t>(ErrorKind::mamba1)] =
        together(u.kinds[static_cast<std::size_t>(ErrorKind::mamba2)], kOfPublishedRatio);
  }
  const bool own = calibration.provenance == hardware::Provenance::calibrated ||
                   calibration.provenance == hardware::Provenance::measured_corrected;
  const double transferred = own ? 0.0 : calibration.distance_share;
  u.chip_share = transferred * kTransferredChipShare;
  u.kind_share = kOwnKindShare + transferred * (kTransferredKindShare - kOwnKindShare);
  return u;
}

// all    s   Σ_k T_k·s_k
// kinds  s²  Σ_k (T_k·s_k)²
// own    s²  Σ_i (t_i·s_i)²
UncertainSum::HalfWidths UncertainSum::half_widths(const Uncertainty& u) const {
  const double own_share = 1.0 - u.chip_share - u.kind_share;
  const auto half_width = [&](double Spread::*side) {
    base::Seconds all;
    base::SquareSeconds kinds;
    base::SquareSeconds own;
    for (std::size_t k = 0; k < kErrorKinds; ++k) {
      const double spread = u.kinds[k].*side;
      const base::Seconds time = kinds_[k].time * spread;
      all += time;
      kinds += time * time;
      own += kinds_[k].squares * spread * spread;
    }
    return base::sqrt(u.chip_share * all * all + u.kind_share * kinds + own_share * own);
  };
  return {half_width(&Spread::below), half_width(&Spread::above)};
}

// a, b     s  T_k and T'_k: time of the kind before and after
// share    –  w'_k
// moved    –  error that a changed share of the kind leaves; all of it where a kind appears or disappears
// changed  –  error of the change from a to b
// `lower`: the end of the ratio where the time after is longer than forecast
Spread ratio_spread(const UncertainSum& before, base::Seconds whole_before,
                    const Uncertainty& uncertainty_before, const UncertainSum& after,
                    base::Seconds whole_after, const Uncertainty& uncertainty_after) {
  const auto log_half_width = [&](bool lower) {
    double squares = 0.0;
    for (std::size_t k = 0; k < kErrorKinds; ++k) {
      const base::Seconds a = before.kinds_[k].time;
      const base::Seconds b = after.kinds_[k].time;
      const double share = b / whole_after;
      const double lost = a / whole_before - share;
      const Spread& in_both = uncertainty_before.kinds[k];
      const double moved = lost * ((lost > 0.0) == lower ? in_both.below : in_both.above);
      const double change = a > base::Seconds{} && b > base::Seconds{}
                                ? std::min(1.0, std::abs(std::log(b / a)))
                                : 0.0;
      const Spread felt = inverse(uncertainty_after.kinds[k]);
      const double changed = share * change * ((b < a) == lower ? felt.below : felt.above);
      squares += moved * moved + changed * changed;
    }
    return std::sqrt(squares);
  };
  return {1.0 - std::exp(-log_half_width(true)), std::exp(log_half_width(false)) - 1.0};
}

Spread together(Spread a, Spread b) {
  return {1.0 - 1.0 / combined(1.0 / (1.0 - a.below), 1.0 / (1.0 - b.below)),
          combined(1.0 + a.above, 1.0 + b.above) - 1.0};
}

Spread inverse(Spread s) { return {1.0 - 1.0 / (1.0 + s.above), 1.0 / (1.0 - s.below) - 1.0}; }

}  // namespace roofcast::models
