// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace roofcast::sim {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

using E = ServingEstimate;

double positive(double value) { return value > 0.0 ? value : kNone; }

constexpr Metric kMetrics[] = {
    {"ttft_mean_s", "TTFT, mean", "s", Better::lower,
     "time to first token: request overhead, waiting, prefill",
     [](const E& e) { return e.steady.ttft_mean.si(); }},
    {"ttft_p50_s", "TTFT, median", "s", Better::lower, "median time to first token",
     [](const E& e) { return e.steady.ttft_p50.si(); }},
    {"tpot_mean_s", "TPOT", "s", Better::lower,
     "time per output token after the first, slowed by other requests' prefills",
     [](const E& e) { return positive(e.steady.tpot.si()); }},
    {"e2e_mean_s", "End to end", "s", Better::lower, "mean time from request to last token",
     [](const E& e) { return e.steady.end_to_end.si(); }},
    {"interactivity_tok_per_s_per_user", "Interactivity", "tok/s/user", Better::higher,
     "output tokens per second that one user sees, 1/TPOT",
     [](const E& e) { return positive(1.0 / positive(e.steady.tpot.si())); }},
    {"throughput_tok_per_s_per_gpu", "Throughput per GPU", "tok/s/GPU", Better::higher,
     "output tokens per second of the replica, divided by its GPUs",
     [](const E& e) { return e.output_rate / static_cast<double>(e.gpus); }},
    {"throughput_tok_per_s", "Throughput", "tok/s", Better::higher,
     "output tokens per second of the replica", [](const E& e) { return e.output_rate; }},
    {"requests_per_s", "Request rate", "1/s", Better::higher,
     "requests the replica completes per second",
     [](const E& e) { return e.steady.requests_per_second; }},
    {"cost_usd_per_mtok", "Cost", "USD/Mtok", Better::lower,
     "rental price of the replica's GPUs per million output tokens",
     [](const E& e) { return e.usd_per_mtok; }},
    {"power_w_per_gpu", "Power per GPU", "W", Better::lower,
     "mean power of one GPU, without hosts, switches and cooling",
     [](const E& e) { return e.steady.power.si(); }},
    {"energy_j_per_tok", "Energy", "J/tok", Better::lower,
     "energy of the replica's GPUs per output token, prompts included",
     [](const E& e) { return e.joules_per_token; }},
    {"tok_per_j", "Tokens per joule", "tok/J", Better::higher,
     "output tokens per joule of the replica's GPUs",
     [](const E& e) { return 1.0 / e.joules_per_token; }},
    {"gpus", "GPUs", "", Better::lower, "GPUs of one replica",
     [](const E& e) { return static_cast<double>(e.gpus); }},
    {"decode_batch", "Decode batch", "seq", Better::none,
     "sequences decoding at once on one attention-DP rank",
     [](const E& e) { return e.steady.decode_batch; }},
    {"max_running", "KV cache holds", "seq", Better::higher,
     "requests of this length the KV cache of one attention-DP rank can hold",
     [](const E& e) { return e.max_running; }},
    {"prefill_share", "Prefill share", "", Better::none,
     "share of iterations that carry prompt tokens",
     [](const E& e) { return e.steady.prefill_share; }},
    {"memory_b_per_gpu", "Memory per GPU", "B", Better::lower,
     "weights, activations, reserve and KV cache in use on the fullest GPU",
     [](const E& e) { return e.memory.si(); }},
    {"weights_b_per_gpu", "Weights per GPU", "B", Better::lower, "weights on the fullest GPU",
     [](const E& e) { return e.footprint.weights.si(); }},
};

constexpr TextMetric kTextMetrics[] = {
    {"bound_ttft", "TTFT bound", "what most of TTFT is made of",
     [](const E& e) { return name(e.steady.ttft_limit); }},
    {"bound_tpot", "TPOT bound", "what most of TPOT is made of",
     [](const E& e) { return e.steady.tpot.si() > 0.0 ? name(e.steady.tpot_limit) : ""; }},
    {"bound_throughput", "Throughput bound", "what stops more throughput at this concurrency",
     [](const E& e) { return name(e.steady.throughput_limit); }},
    {"provenance", "Provenance",
     "where the efficiencies behind the row come from, or that figures of the chip are assumed",
     [](const E& e) { return hardware::name(e.provenance); }},
};

}  // namespace

std::span<const Metric> metrics() { return kMetrics; }

const Metric* find_metric(std::string_view name) {
  const auto it = std::find_if(std::begin(kMetrics), std::end(kMetrics),
                               [&](const Metric& m) { return m.name == name; });
  return it == std::end(kMetrics) ? nullptr : it;
}

std::span<const TextMetric> text_metrics() { return kTextMetrics; }

}  // namespace roofcast::sim
