// SPDX-License-Identifier: Apache-2.0
#include "calibrate/accuracy/impossible.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "sim/result/metrics.hpp"

namespace roofcast::calibrate {
namespace {

// Metrics that every server has. Bounds of theirs are numbers too.
constexpr std::array<std::string_view, 12> kAlways = {
    "ttft_mean_s",    "ttft_p50_s",           "ttft_p95_s",   "ttft_p99_s",
    "tpot_mean_s",    "tpot_p95_s",           "tpot_p99_s",   "e2e_mean_s",
    "requests_per_s", "throughput_tok_per_s", "decode_batch", "memory_b_per_gpu"};

bool is_needed(std::string_view metric) {
  return std::find(kAlways.begin(), kAlways.end(), metric) != kAlways.end();
}

double value_of(std::string_view metric, const sim::ServingEstimate& e) {
  return sim::find_metric(metric)->value(e);
}

class Laws {
 public:
  std::vector<std::string> broken;

  // `slack` is relative.
  void ordered(std::string_view low_name, double low, std::string_view high_name, double high,
               double slack = 1e-6) {
    if (low > high + slack * std::abs(high)) {
      broken.push_back(fmt::format("{} {:.6g} is above {} {:.6g}", low_name, low, high_name, high));
    }
  }
  void number(const sim::Metric& metric, double value, bool needed) {
    if (value < 0.0 || std::isinf(value) || (needed && std::isnan(value))) {
      broken.push_back(fmt::format("{} is {:.6g}", metric.name, value));
    }
  }
};

// Clients of one attention-DP rank of the replicas that decode. Infinite in an open loop.
double clients_of_rank(const sim::ScenarioView& s) {
  const std::int64_t replicas = s.pools != nullptr ? s.pools->decode.replicas : s.serving->replicas;
  return s.traffic->concurrency > 0 ? static_cast<double>(s.traffic->concurrency) /
                                          static_cast<double>(replicas * s.mapping->data_parallel)
                                    : std::numeric_limits<double>::infinity();
}

}  // namespace

std::vector<std::string> impossible(const sim::ScenarioView& s, const sim::ServingEstimate& e) {
  Laws laws;
  if (!e.fits()) {
    return {};
  }
  const double clients = clients_of_rank(s);
  laws.ordered("batch", e.steady.decode_batch, "clients of a rank", clients);
  laws.ordered("running", e.steady.running, "clients of a rank", clients);
  laws.ordered("memory", e.memory.si(), "capacity", e.footprint.limit.si());
  laws.ordered("TPOT", e.steady.tpot.si(), "end to end", e.steady.end_to_end.si());
  for (const auto& [low, high] : {std::pair{"ttft_p50_s", "ttft_p95_s"},
                                  {"ttft_p95_s", "ttft_p99_s"},
                                  {"tpot_p95_s", "tpot_p99_s"}}) {
    laws.ordered(low, value_of(low, e), high, value_of(high, e));
  }
  constexpr double kRounding = 1e-3;
  for (const sim::Metric& metric : sim::metrics()) {
    const double value = metric.value(e);
    laws.number(metric, value, is_needed(metric.name) || is_needed(metric.bounds));
    if (metric.name.starts_with("low90_")) {
      laws.ordered(metric.name, value, metric.bounds, value_of(metric.bounds, e), kRounding);
    } else if (metric.name.starts_with("high90_")) {
      laws.ordered(metric.bounds, value_of(metric.bounds, e), metric.name, value, kRounding);
    }
  }
  return laws.broken;
}

}  // namespace roofcast::calibrate
