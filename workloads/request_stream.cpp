// SPDX-License-Identifier: Apache-2.0
#include "workloads/request_stream.hpp"

#include <cmath>

namespace roofcast::workloads {
namespace {

constexpr std::int64_t kRequestsPerClient = 10;
constexpr std::int64_t kOpenRequests = 1000;
constexpr base::Range kCount{1.0, 1e9};

std::int64_t whole(double tokens) { return std::llround(tokens); }

void read(base::Fields& f, Priorities& p) {
  f.integers("values", p.values, {0.0, 1e6}, base::required);
  f.integers("weights", p.weights, kCount, base::required);
  if (f.has("values") && f.has("weights") &&
      (p.values.empty() || p.values.size() != p.weights.size())) {
    f.problem("weights", "must be as many as values: how often each is drawn");
  }
}

}  // namespace

void read(base::Fields& f, RequestStream& s) {
  read(f, "input_tokens", s.input);
  read(f, "output_tokens", s.output);
  f.integer("cached_tokens", s.cached_tokens, base::not_negative, base::optional);
  if (f.has("arrivals")) {
    f.group("arrivals", [&](base::Fields& g) { read(g, s.arrivals.emplace()); });
    f.integer("concurrency", s.concurrency, kCount, base::optional);
    if (f.has("concurrency")) {
      f.problem("concurrency", "either clients that wait (concurrency) or arrivals, not both");
    }
  } else {
    f.integer("concurrency", s.concurrency, kCount);
  }
  f.integer("requests", s.requests, kCount);
  if (f.has("priorities")) {
    f.group("priorities", [&](base::Fields& g) { read(g, s.priorities.emplace()); });
  }
  f.integer("seed", s.seed, base::not_negative, base::optional);
  f.group(
      "objectives",
      [&](base::Fields& g) {
        g.quantity("ttft", s.objectives.ttft);
        g.quantity("tpot", s.objectives.tpot);
        g.quantity("end_to_end", s.objectives.end_to_end);
      },
      base::optional);
  if (f.has("input_tokens") && s.cached_tokens >= whole(mean(s.input))) {
    f.problem("cached_tokens",
              "must be fewer than input_tokens: the last prompt token is never reused");
  }
}

Traffic mean_traffic(const RequestStream& s) {
  return {whole(mean(s.input)),
          whole(mean(s.output)),
          s.concurrency,
          s.cached_tokens,
          s.arrivals,
          s.input,
          s.output};
}

Requests draw_requests(const RequestStream& s) {
  const std::int64_t count =
      s.requests.value_or(s.arrivals ? kOpenRequests : kRequestsPerClient * s.concurrency);
  Arrivals at_once;
  at_once.process = ArrivalProcess::constant;
  at_once.rate = base::Hertz::infinity();
  Requests requests =
      draw_requests(s.arrivals.value_or(at_once), s.input, s.output,
                    static_cast<std::size_t>(count), static_cast<std::uint64_t>(s.seed));
  if (s.priorities) {
    const std::vector<double> weights(s.priorities->weights.begin(), s.priorities->weights.end());
    const base::Discrete which(weights);
    base::Random random(static_cast<std::uint64_t>(s.seed), "priorities");
    for (Request& request : requests.requests) {
      request.priority = s.priorities->values[which(random)];
    }
  }
  return requests;
}

}  // namespace roofcast::workloads
