// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/request_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "base/document/problems.hpp"

namespace roofcast::workloads {
namespace {

constexpr std::int64_t kRequestsPerClient = 10;
constexpr std::int64_t kOpenRequests = 1000;
constexpr std::int64_t kOpenTasks = 400;
constexpr base::Range kCount{1.0, 1e9};

std::int64_t whole(double tokens) { return std::llround(tokens); }

void read_seed(base::Fields& f, RequestStream& s) {
  f.integer("seed", s.seed, base::not_negative, base::optional);
}

void check_cached(base::Fields& f, const RequestStream& s) {
  if (s.cached_tokens >= whole(mean(s.input))) {
    f.problem("cached_tokens",
              "must be fewer than input_tokens: the last prompt token is never reused");
  }
}

// The keys that also hold with a trace.
void read_common(base::Fields& f, RequestStream& s) {
  f.integer("cached_tokens", s.cached_tokens, base::not_negative, base::optional);
  f.integer("images", s.images, {0.0, 1e6}, base::optional);
  f.integer("requests", s.requests, {1.0, static_cast<double>(kMostRequests)});
  read_seed(f, s);
  s.classes = read_classes(f);
}

void read_trace(base::Fields& f, RequestStream& s) {
  for (const std::string_view key : kReplacedByTrace) {
    if (f.node().find(key) != nullptr) {
      f.take(key);
      f.problem(key, "has no effect beside a trace, which has its own; remove it or the trace");
    }
  }
  read(f, "trace", s.trace.emplace());
  read_common(f, s);
  if (s.trace->window == nullptr) {
    return;
  }
  s.input = s.trace->window->input;
  s.output = s.trace->window->output;
  if (s.trace->window->has_priorities && f.node().find("priorities") != nullptr) {
    f.problem("priorities", "the trace has priorities of its own; remove these");
  }
  check_cached(f, s);
}

}  // namespace

void read(base::Fields& f, RequestStream& s) {
  if (f.has("trace")) {
    read_trace(f, s);
    return;
  }
  if (f.has("agents")) {
    f.group("agents", [&](base::Fields& g) { read(g, s.agents.emplace()); });
    if (s.agents) {
      s.concurrency = s.agents->concurrent;
      s.arrivals = s.agents->arrivals;
    }
    read_seed(f, s);
    s.classes = read_objectives(f);
    return;
  }
  read(f, "input_tokens", s.input);
  read(f, "output_tokens", s.output);
  if (f.has("arrivals")) {
    f.group("arrivals", [&](base::Fields& g) { read(g, s.arrivals.emplace()); });
  }
  f.integer("concurrency", s.concurrency, kCount, base::optional);
  if (f.has("concurrency") == s.arrivals.has_value()) {
    f.problem("concurrency",
              "one of concurrency (clients that wait), arrivals, agents and trace is expected");
  }
  read_common(f, s);
  if (f.has("input_tokens")) {
    check_cached(f, s);
  }
}

namespace {

Traffic mean_traffic(const Agents& agents, std::uint64_t seed) {
  Traffic t;
  t.concurrency = agents.concurrent;
  t.agents = sample(agents, seed);
  if (t.agents == nullptr) {
    return t;
  }
  double turns = 0.0;
  double input = 0.0;
  double output = 0.0;
  double shared = 0.0;
  for (const AgentTask& task : t.agents->tasks) {
    for (const std::vector<AgentTurn>& session : task.sessions) {
      for (const AgentTurn& turn : session) {
        turns += 1.0;
        input += static_cast<double>(turn.input_tokens);
        output += static_cast<double>(turn.output_tokens);
        shared += static_cast<double>(turn.shared_known);
      }
    }
  }
  if (agents.arrivals) {
    t.arrivals = arrivals_of_turns(*agents.arrivals, t.agents->turns);
  }
  t.input_tokens = whole(input / turns);
  t.output_tokens = whole(output / turns);
  t.shared_tokens = static_cast<std::int64_t>(shared / turns);
  t.input.least = t.input.most = t.input_tokens;
  t.output = agents.output;
  return t;
}

}  // namespace

Traffic mean_traffic(const RequestStream& s) {
  if (s.agents) {
    Traffic of_turns = mean_traffic(*s.agents, static_cast<std::uint64_t>(s.seed));
    of_turns.classes = s.classes;
    return of_turns;
  }
  return {whole(mean(s.input)),
          whole(mean(s.output)),
          s.concurrency,
          s.cached_tokens,
          s.trace && s.trace->window ? arrivals_of(*s.trace) : s.arrivals,
          s.input,
          s.output,
          s.images,
          s.classes};
}

namespace {

void draw_priorities(const RequestClasses& classes, std::uint64_t seed, Requests& requests) {
  std::vector<double> shares;
  for (const RequestClass& each : classes) {
    shares.push_back(each.share);
  }
  const base::Discrete which(shares);
  base::Random random(seed, "priorities");
  for (Request& request : requests.requests) {
    request.priority = classes[which(random)].priority;
  }
}

void check_count(double requests, std::string_view key) {
  if (requests > static_cast<double>(kMostRequests)) {
    throw base::InputError(
        fmt::format("error: {:.0f} requests are more than {}, the most that are drawn; set {}\n",
                    requests, kMostRequests, key));
  }
}

}  // namespace

Requests draw_requests(const RequestStream& s) {
  const auto seed = static_cast<std::uint64_t>(s.seed);
  if (s.agents) {
    const std::int64_t tasks =
        s.agents->tasks.value_or(s.arrivals ? kOpenTasks : kRequestsPerClient * s.concurrency);
    check_count(static_cast<double>(tasks) * mean_turns(*s.agents), "traffic.agents.tasks");
    return requests_of(*s.agents, draw_tasks(*s.agents, static_cast<std::size_t>(tasks), seed),
                       seed);
  }
  Requests requests;
  if (s.trace) {
    requests = replay_of(*s.trace, s.requests, seed);
  } else {
    const std::int64_t count =
        s.requests.value_or(s.arrivals ? kOpenRequests : kRequestsPerClient * s.concurrency);
    check_count(static_cast<double>(count), "traffic.requests");
    Arrivals at_once;
    at_once.process = ArrivalProcess::constant;
    at_once.rate = base::Hertz::infinity();
    requests = draw_requests(s.arrivals.value_or(at_once), s.input, s.output,
                             static_cast<std::size_t>(count), seed);
  }
  requests.seed = seed;
  if (!s.classes.empty() && !(s.trace && s.trace->window->has_priorities)) {
    draw_priorities(s.classes, seed, requests);
  }
  return requests;
}

}  // namespace roofcast::workloads
