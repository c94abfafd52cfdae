// SPDX-License-Identifier: Apache-2.0
#include "models/operators/correction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/overloaded.hpp"
#include "models/operators/operator_math.hpp"

namespace roofcast::models {
namespace {

using namespace workloads;

std::int64_t token(base::NumberFormat format) {
  return hardware::kFormatToken + static_cast<std::int64_t>(format);
}
template <class E>
std::int64_t token_of(E value) {
  return static_cast<std::int64_t>(value);
}
double log2_of(double x) { return std::log2(std::max(x, 1.0)); }
double log2_of(std::int64_t x) { return log2_of(static_cast<double>(x)); }

std::int64_t all_keys(const PrefillAttention& op) { return op.new_tokens + op.cached_tokens; }

// The window of prefill where it hides keys: else 0, since its kernels leave a mask that hides nothing away.
std::int64_t hiding_window(const PrefillAttention& op) {
  return op.heads.window < all_keys(op) ? op.heads.window : 0;
}

// Calls visit(name, {tokens…}, {coordinates…}) for an operator that has a grid.
template <class Visit>
void locate(const Operator& op, Visit visit) {
  std::visit(
      base::overloaded{
          [&](const Gemm& o) {
            if (o.batch == 1) {
              visit("gemm", {token(o.activations), token(o.weights)},
                    {log2_of(o.m), log2_of(o.n), log2_of(o.k)});
            }
          },
          [&](const GroupedGemm& o) {
            visit("experts", {token(o.activations), token(o.weights), o.alternative_kernel ? 1 : 0},
                  {log2_of(o.pairs / std::max(o.distinct, 1e-9)), log2_of(o.distinct),
                   log2_of(static_cast<double>(o.n) * static_cast<double>(o.k))});
          },
          [&](const PrefillAttention& o) {
            if (!o.heads.bidirectional) {
              visit("prefill",
                    {o.heads.qk_dim, hiding_window(o), token(o.heads.cache), token(multiplied(o))},
                    {log2_of(o.sequences), log2_of(all_keys(o)), log2_of(o.heads.kv_heads),
                     log2_of(o.heads.query_heads / o.heads.kv_heads)});
            }
          },
          [&](const DecodeAttention& o) {
            visit("decode", {o.heads.qk_dim, o.heads.window, token(o.heads.cache)},
                  {log2_of(o.sequences * o.heads.kv_heads), log2_of(o.context),
                   log2_of(o.heads.query_heads / o.heads.kv_heads)});
          },
          [&](const StateScan& o) {
            visit("scan", {token_of(o.heads.kind), o.heads.key_dim, o.heads.value_dim},
                  {log2_of(o.sequences), log2_of(o.tokens), log2_of(o.heads.heads)});
          },
          [&](const StateUpdate& o) {
            visit("update", {token_of(o.heads.kind), o.heads.key_dim, o.heads.value_dim},
                  {log2_of(o.sequences), log2_of(o.heads.heads)});
          },
          [&](const Elementwise& o) {
            if (o.taps > 0) {
              visit("convolution", {o.taps},
                    {log2_of(o.written_bytes), log2_of(o.flop / o.written_bytes)});
            }
          },
          [&](const Collective& o) {
            visit(o.sums_int8 ? "int8_collective"
                  : o.staged  ? "staged_exchange"
                              : "collective",
                  {token_of(o.kind), token_of(o.custom), o.ranks, o.stride, o.copies,
                   o.deduplicated ? o.sms : 0},
                  {log2_of(o.bytes)});
          },
          [](const auto&) {},
      },
      op);
}

}  // namespace

std::optional<CorrectionSite> correction_site(const Operator& op) {
  std::optional<CorrectionSite> site;
  locate(op, [&](std::string_view name, std::initializer_list<std::int64_t> of,
                 std::initializer_list<double> shape) {
    site.emplace();
    site->key = hardware::correction_key(name, of);
    std::copy(shape.begin(), shape.end(), site->shape.begin());
  });
  if (const auto* decode = std::get_if<DecodeAttention>(&op); decode != nullptr && site) {
    site->latent = shares_latent(decode->heads);
  }
  return site;
}

double log_factor(const hardware::CorrectionGrid& grid, const CorrectionSite& site) {
  hardware::LogShape shape = site.shape;
  if (site.latent && grid.axes.size() > 2) {
    shape[2] = std::max(shape[2], grid.axes[2].origin);
  }
  return grid.at(shape);
}

hardware::CorrectionGrid correction_grid(const Operator& op) {
  hardware::CorrectionGrid grid;
  locate(op, [&](std::string_view name, std::initializer_list<std::int64_t> of,
                 std::initializer_list<double> shape) {
    grid.op = name;
    for (const std::int64_t t : of) {
      grid.of += grid.of.empty() ? "" : " ";
      grid.of += t < hardware::kFormatToken
                     ? fmt::format("{}", t)
                     : std::string(
                           base::name(static_cast<base::NumberFormat>(t - hardware::kFormatToken)));
    }
    grid.axes.resize(shape.size());
  });
  return grid;
}

Operator operator_at(const Operator& like, const hardware::LogShape& shape) {
  const auto whole = [&](std::size_t axis) {
    return std::max<std::int64_t>(1, std::llround(std::exp2(shape[axis])));
  };
  const auto heads = [](AttentionHeads& h, std::int64_t kv_heads, std::int64_t group) {
    h.cache_elements = h.cache_elements / h.kv_heads * kv_heads;
    h.kv_heads = kv_heads;
    h.query_heads = group * kv_heads;
  };
  Operator op = like;
  std::visit(base::overloaded{
                 [&](Gemm& o) { o.m = whole(0), o.n = whole(1), o.k = whole(2), o.copies = 0; },
                 [&](GroupedGemm& o) {
                   o.distinct = std::exp2(shape[1]);
                   o.pairs = std::exp2(shape[0]) * o.distinct;
                   o.n = std::max<std::int64_t>(1, whole(2) / o.k);
                 },
                 [&](PrefillAttention& o) {
                   o.heads.window = hiding_window(o);
                   o.sequences = whole(0), o.new_tokens = whole(1), o.cached_tokens = 0;
                   heads(o.heads, whole(2), whole(3));
                 },
                 [&](DecodeAttention& o) {
                   o.sequences = whole(0), o.context = whole(1), o.repeated = false;
                   heads(o.heads, 1, whole(2));
                 },
                 [&](StateScan& o) {
                   o.sequences = whole(0), o.tokens = whole(1), o.heads.heads = whole(2);
                 },
                 [&](StateUpdate& o) {
                   o.sequences = whole(0), o.heads.heads = whole(1);
                   o.repeated = o.copied = false;
                 },
                 [&](Elementwise& o) {
                   o.read_bytes = o.written_bytes = std::exp2(shape[0]);
                   o.flop = std::exp2(shape[1]) * o.written_bytes;
                   o.repeated_bytes = 0.0;
                 },
                 [&](Collective& o) {
                   o.rows *= std::exp2(shape[0]) / o.bytes;
                   o.bytes = std::exp2(shape[0]);
                 },
                 [](auto&) {},
             },
             op);
  return op;
}

namespace {

// The logarithm of corrected time / physical time, of an operator that was measured.
std::optional<double> grid_log(const Operator& op, const hardware::Corrections& known) {
  const auto site = correction_site(op);
  const auto* grid = site ? known.find(site->key) : nullptr;
  return grid != nullptr ? std::optional(log_factor(*grid, *site)) : std::nullopt;
}

// Windows are logarithms to base 2.
struct WindowNode {
  double window;
  double log;
};
double between(const WindowNode& below, const WindowNode& above, double window) {
  return std::lerp(below.log, above.log, (window - below.window) / (above.window - below.window));
}

// What prefill without a window says of prefill in one: the less, the more octaves of keys are hidden.
std::optional<double> windowless_log(PrefillAttention op, const hardware::Corrections& known) {
  const double hidden = log2_of(all_keys(op)) - log2_of(std::exchange(op.heads.window, 0));
  const auto log = grid_log(op, known);
  return log ? std::optional(*log * std::max(0.0, 1.0 - hidden / hardware::CorrectionGrid::kReach))
             : std::nullopt;
}

// Octaves above a window within which keys become so many that its kernels have their own correction.
constexpr double kOwnKernels = 0.3219280948873623;  // log2 1.25

// Prefill in a window that hides keys.
std::optional<double> windowed_log(const PrefillAttention& op, const hardware::Corrections& known) {
  const double keys = log2_of(all_keys(op));
  if (keys - log2_of(op.heads.window) >= kOwnKernels) {
    if (const auto own = grid_log(op, known)) {
      return own;
    }
  }
  const auto whole = windowless_log(op, known);
  std::optional<WindowNode> below;
  WindowNode above{keys, whole.value_or(0.0)};
  for (const std::int64_t window : known.windows()) {
    PrefillAttention measured = op;
    measured.heads.window = window;
    const auto own = hiding_window(measured) > 0 ? grid_log(measured, known) : std::nullopt;
    if (!own) {
      continue;
    }
    const double at = log2_of(window);
    const double share = std::min(1.0, (keys - at) / kOwnKernels);
    const WindowNode node{at, std::lerp(whole.value_or(0.0), *own, share)};
    if (window > op.heads.window) {
      above = node;
      break;
    }
    below = node;
  }
  if (!below) {
    return above.window < keys ? above.log : whole;
  }
  return between(*below, above, log2_of(op.heads.window));
}

std::optional<double> without_window(DecodeAttention op, std::int64_t context,
                                     const hardware::Corrections& known) {
  op.heads.window = 0;
  op.context = context;
  return grid_log(op, known);
}

// Decode in a window, whether it hides keys or not: some stacks have kernels of their own for it.
std::optional<double> windowed_log(const DecodeAttention& op, const hardware::Corrections& known) {
  const auto in_window = [&](std::int64_t window) {
    DecodeAttention other = op;
    other.heads.window = window;
    return grid_log(other, known);
  };
  const double keys = log2_of(op.context);
  const bool is_own =
      op.heads.window >= op.context || keys - log2_of(op.heads.window) >= kOwnKernels;
  if (const auto own = is_own ? in_window(op.heads.window) : std::nullopt) {
    return own;
  }
  const auto without = [&](std::int64_t context) { return without_window(op, context, known); };
  // The shortest window of all keys, then those that hide some.
  std::optional<double> whole;
  for (const std::int64_t window : known.windows()) {
    if (window >= op.context && !whole) {
      whole = in_window(window);
    }
  }
  const std::int64_t held = std::min(op.heads.window, op.context);
  std::optional<WindowNode> below;
  WindowNode above{keys, whole ? *whole : without(op.context).value_or(0.0)};
  for (const std::int64_t window : known.windows()) {
    const auto own = window < op.context ? in_window(window) : std::nullopt;
    if (!own) {
      continue;
    }
    const double at = log2_of(window);
    const double share = std::min(1.0, (keys - at) / kOwnKernels);
    const WindowNode node{at, std::lerp(above.log, *own, share)};
    if (window > held) {
      above = node;
      break;
    }
    below = node;
  }
  if (!below) {
    return whole || above.window < keys ? std::optional(above.log) : without(held);
  }
  return between(*below, above, log2_of(held));
}

// A GEMM in fp16, where none was measured, is what one in bf16 is: kernels, tiles, bytes and rates are the same. (int8 is not
// like fp8: with fp8's corrections roofcast-bench's rows are forecast worse.)
std::optional<double> measured_log(const Operator& op, const hardware::Corrections& known) {
  if (const auto* prefill = std::get_if<PrefillAttention>(&op);
      prefill != nullptr && !prefill->heads.bidirectional && hiding_window(*prefill) > 0) {
    return windowed_log(*prefill, known);
  }
  if (const auto* decode = std::get_if<DecodeAttention>(&op);
      decode != nullptr && decode->heads.window > 0) {
    return windowed_log(*decode, known);
  }
  const auto* gemm = std::get_if<Gemm>(&op);
  const auto measured = grid_log(op, known);
  if (measured || gemm == nullptr) {
    return measured;
  }
  if (gemm->activations != base::NumberFormat::fp16 || gemm->weights != gemm->activations) {
    return std::nullopt;
  }
  Gemm like = *gemm;
  like.activations = like.weights = base::NumberFormat::bf16;
  return grid_log(like, known);
}

// On an H100, products with 64 rows take as long as 4-bit weights take from memory, and with twice the bits twice as many
// (A100: 35). The share must not depend on the machine, or a faster one could lose its correction and become slower.
constexpr double kRowsPerBit = 16.0;

// A GEMM whose weights are widened, where none was measured: as far as its products take the time, it is what the GEMM
// without widening is.
std::optional<double> like_the_wide_one(const Operator& op, const hardware::Corrections& known) {
  const auto* gemm = std::get_if<Gemm>(&op);
  if (gemm == nullptr || base::bits(gemm->weights) >= base::bits(gemm->activations)) {
    return std::nullopt;
  }
  Gemm wide = *gemm;
  wide.weights = wide.activations;
  const auto log = measured_log(wide, known);
  const auto rows = static_cast<double>(gemm->m);
  const double share = rows / (rows + kRowsPerBit * base::bits(gemm->weights));
  return log ? std::optional(share * *log) : std::nullopt;
}

// Collectives of the library were measured inside one domain.
bool leaves_what_was_measured(const Operator& op, const Machine& m) {
  return error_kind(op, m.scale_up_domain) == ErrorKind::nccl_hosts;
}

double log_by(const Operator& op, const std::shared_ptr<const hardware::Corrections>& known) {
  if (known == nullptr) {
    return 0.0;
  }
  const auto measured = measured_log(op, *known);
  return measured ? *measured : like_the_wide_one(op, *known).value_or(0.0);
}

}  // namespace

double correction_log(const Operator& op, const hardware::Calibration& c) {
  double log = c.corrections_share * log_by(op, c.corrections);
  for (const hardware::Relative& relative : c.relatives) {
    log += relative.corrections_share * log_by(op, relative.of->corrections);
  }
  return log;
}

// factor  –  corrected time / physical time
// light   s  the least time that the datasheet allows; the factor never goes below light / time
void correct(const Operator& op, const Machine& m, Cost& cost) {
  const double log = leaves_what_was_measured(op, m) ? 0.0 : correction_log(op, m.calibration);
  if (log == 0.0) {
    return;
  }
  double factor = std::exp(log);
  if (factor < 1.0) {
    const base::FlopsPerSecond peak = m.peak[static_cast<std::size_t>(math_of(op, m))];
    const base::Seconds light = base::max(
        peak.si() > 0.0 ? cost.flop / peak : base::Seconds{},
        base::max(
            cost.dram_bytes / m.dram * m.calibration.dram_efficiency,
            cost.network * std::min(m.calibration.link_efficiency, m.calibration.nic_efficiency)));
    factor = std::max(factor, std::min(1.0, light / cost.time));
  }
  for (base::Seconds* term : {&cost.time, &cost.launch, &cost.fill, &cost.compute, &cost.waiting,
                              &cost.dram, &cost.l2, &cost.network, &cost.runner_up_time}) {
    *term *= factor;
  }
}

}  // namespace roofcast::models
