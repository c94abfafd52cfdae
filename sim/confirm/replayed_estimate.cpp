// SPDX-License-Identifier: Apache-2.0
#include "sim/confirm/replayed_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/statistics/batch_means.hpp"
#include "sim/class_attainment.hpp"
#include "sim/estimate.hpp"
#include "sim/iteration/draft_model.hpp"
#include "sim/iteration/memory.hpp"
#include "sim/replay/task_summary.hpp"

namespace roofcast::sim {
namespace {

constexpr std::size_t kBatches = 10;
constexpr std::int64_t kOpen = 4000;          // requests of the first run of an open loop
constexpr std::int64_t kFewestOpen = 500;     // below, a run says little
constexpr std::int64_t kClosed = 400;         // of a closed loop, at least
constexpr std::int64_t kPerClient = 14;       // 10 that are counted, 3 before them, 1 at the end
constexpr std::int64_t kFewestPerClient = 6;  // below, there is no steady state to count
constexpr std::int64_t kPerAgent =
    5;  // tasks of an agent: 2 that are counted; a task has many requests
constexpr std::int64_t kFewestPerAgent = 4;
constexpr double kBlocksAtOnce = 40.0;    // whose look costs as much as a request
constexpr std::int64_t kOpenTasks = 200;  // of tasks that arrive by themselves
constexpr std::int64_t kFewestOpenTasks = 100;
constexpr std::int64_t kEqual = 100;  // the same where all requests are alike
constexpr std::int64_t kEqualPerClient = 8;
constexpr std::int64_t kSlowPerClient = 31;  // where it takes long to a steady state; 20 before it
constexpr double kShareError = 0.005;   // standard error of shares, and of goodput as a share of it
constexpr double kMostGrowth = 8.0;     // from run to run
constexpr double kMostRejected = 0.01;  // share of the requests
constexpr double kReplicasAtOnce = 30.0;  // whose look costs as much as a token of an answer

constexpr std::string_view kSimulated[] = {"ttft_",
                                           "tpot_",
                                           "e2e_",
                                           "interactivity_",
                                           "throughput_",
                                           "requests_per_s",
                                           "attainment",
                                           "goodput",
                                           "cost_",
                                           "input_cost",
                                           "output_cost",
                                           "cached_cost",
                                           "energy_",
                                           "tok_per_",
                                           "co2_",
                                           "power_budget_tok_per_s",
                                           "decode_batch",
                                           "memory_",
                                           "answer_s",
                                           "usd_per_answer",
                                           "gpu_s_per_answer",
                                           "task_",
                                           "tasks_per_gpu_hour",
                                           "usd_per_task",
                                           "prefix_hit_rate",
                                           "tools_share"};

// Clients whose requests are all alike.
bool is_alike(const workloads::RequestStream& stream) {
  return !workloads::is_open(stream) && !stream.agents &&
         squared_variation(stream.input) + squared_variation(stream.output) == 0.0;
}
// Whether nothing is drawn.
bool is_equal(const ScenarioView& s, const workloads::RequestStream& stream) {
  return is_alike(stream) && s.draft == nullptr && s.pools == nullptr &&
         s.serving->speculation.query_tokens() == 1;
}
// Whether they take long to find their rhythm.
bool is_slow(const ScenarioView& s, const workloads::RequestStream& stream) {
  return is_alike(stream) && s.pools != nullptr;
}

// How many requests a run may have; of agents, how many tasks.
struct Length {
  std::int64_t first = 0;
  std::int64_t least = 0;
  std::int64_t most = 0;
};

std::int64_t replicas_of(const ScenarioView& s) {
  return s.pools == nullptr ? s.serving->replicas
                            : s.pools->prefill.replicas + s.pools->decode.replicas;
}

Length length_of(const ScenarioView& s, const workloads::RequestStream& stream,
                 const ServingEstimate& closed_form, const ReplayPlan& plan) {
  const double turns = stream.agents ? std::max(1.0, workloads::mean_turns(*stream.agents)) : 1.0;
  const std::int64_t clients = workloads::is_open(stream) ? 0 : stream.concurrency;
  const double looks = static_cast<double>(replicas_of(s)) / kReplicasAtOnce /
                       std::max(1.0, closed_form.steady.decode_batch);
  const double tokens = turns *
                        static_cast<double>(std::max<std::int64_t>(s.traffic->output_tokens, 8)) *
                        (1.0 + looks);
  Length l;
  if (stream.agents) {  // tasks, of at least as many requests as of other traffic
    const auto requests = static_cast<double>(clients == 0 ? kOpen : kClosed);
    l.first = std::max(clients == 0 ? kOpenTasks : kPerAgent * clients,
                       static_cast<std::int64_t>(requests / turns));
    l.least = clients == 0 ? kFewestOpenTasks : kFewestPerAgent * clients;
  } else {
    l.first = clients == 0          ? kOpen
              : is_equal(s, stream) ? std::max(kEqual, kEqualPerClient * clients)
              : is_slow(s, stream)  ? std::max(kClosed, kSlowPerClient * clients)
                                    : std::max(kClosed, kPerClient * clients);
    l.least = clients > 0 ? kFewestPerClient * clients : kFewestOpen;
  }
  // A prompt of an agent is looked up block by block.
  const double blocks = stream.agents ? static_cast<double>(s.traffic->input_tokens) /
                                            static_cast<double>(workloads::kAgentBlockTokens)
                                      : 0.0;
  const double by_requests =
      std::max(static_cast<double>(plan.most_requests) / turns / (1.0 + blocks / kBlocksAtOnce),
               static_cast<double>(l.first));
  l.most = static_cast<std::int64_t>(std::min(by_requests, plan.most_tokens / tokens));
  l.first = std::min(l.first, l.most);
  return l;
}

// One run, and the figures of parts of it.
class Run {
 public:
  Run(const ScenarioView& s, workloads::RequestStream stream, std::int64_t length,
      ReplaySpace& space)
      : s_(s), stream_(std::move(stream)), space_(space) {
    clients_ = workloads::is_open(stream_) ? 0 : stream_.concurrency;
    if (stream_.trace) {  // all of it, from its first request on
      simulation_ = simulate(s_, workloads::draw_requests(stream_), clients_, space_.iterations);
      last_ = simulation_.requests.size();
      return;
    }
    (stream_.agents ? stream_.agents->tasks : stream_.requests) = length;
    simulation_ = simulate(s_, workloads::draw_requests(stream_), clients_, space_.iterations);
    const auto skipped =
        std::max(is_slow(s_, stream_) ? length * 2 / 3 : length / 10, 2 * clients_);
    first_ = start_of(skipped);
    last_ = start_of(length - std::max<std::int64_t>(clients_, 1));
    if (stream_.agents) {
      tasks_ = summarise_tasks(simulation_, static_cast<std::size_t>(skipped),
                               static_cast<std::size_t>(clients_));
    }
  }

  const std::string& reason() const { return simulation_.reason; }
  std::size_t counted() const { return last_ - first_; }
  double rejected() const {
    const auto count = std::count_if(simulation_.requests.begin(), simulation_.requests.end(),
                                     [](const ServedRequest& r) { return r.rejected; });
    return static_cast<double>(count) / static_cast<double>(simulation_.requests.size());
  }

  // Shares of the requests of each class that meet its objectives.
  std::vector<double> class_attainment() const {
    std::vector<double> shares;
    for (const workloads::RequestClass& each : stream_.classes) {
      double count = 0.0;
      double good = 0.0;
      for (std::size_t i = first_; i < last_ && has_classes(s_); ++i) {
        const ServedRequest& request = simulation_.requests[i];
        count += request.priority == each.priority ? 1.0 : 0.0;
        good += request.priority == each.priority && meets(request, stream_.classes) ? 1.0 : 0.0;
      }
      shares.push_back(good / count);
    }
    return shares;
  }

  ServingEstimate whole(const ServingEstimate& closed_form) const {
    return part(closed_form, first_, last_);
  }
  ServingEstimate batch(const ServingEstimate& closed_form, std::size_t which) const {
    return part(closed_form, start_of_batch(which), start_of_batch(which + 1));
  }

 private:
  // The first request of the n-th request or task.
  std::size_t start_of(std::int64_t n) const {
    if (!stream_.agents) {
      return static_cast<std::size_t>(n);
    }
    const auto at = std::find_if(simulation_.requests.begin(), simulation_.requests.end(),
                                 [&](const ServedRequest& r) { return r.task >= n; });
    return static_cast<std::size_t>(at - simulation_.requests.begin());
  }

  // A task is in one batch, with all of its turns.
  std::size_t start_of_batch(std::size_t which) const {
    const std::vector<ServedRequest>& all = simulation_.requests;
    std::size_t at = first_ + which * counted() / kBatches;
    while (stream_.agents && at > first_ && at < last_ && all[at].task == all[at - 1].task) {
      ++at;
    }
    return at;
  }

  // Requests that are answered between the arrivals of two, over the time between.
  double completions(std::size_t first, std::size_t last) const {
    const base::Seconds from = simulation_.requests[first].arrival;
    const base::Seconds to =
        last < simulation_.requests.size() ? simulation_.requests[last].arrival : simulation_.end;
    const auto count = std::count_if(
        simulation_.requests.begin(), simulation_.requests.end(), [&](const ServedRequest& r) {
          return !r.rejected && r.last_token > from && r.last_token <= to;
        });
    return static_cast<double>(count) / (to - from).si();
  }

  // Of a closed loop by Little's law, X = N/R.
  double rate(std::size_t first, std::size_t last, const SimulationSummary& s) const {
    return clients_ > 0 ? static_cast<double>(clients_) / s.end_to_end.mean.si()
                        : completions(first, last);
  }

  // The figures of requests first to last. holding: s, mean time that a request has a slot.
  ServingEstimate part(const ServingEstimate& closed_form, std::size_t first,
                       std::size_t last) const {
    Simulation of;
    of.requests.assign(simulation_.requests.begin() + static_cast<std::ptrdiff_t>(first),
                       simulation_.requests.begin() + static_cast<std::ptrdiff_t>(last));
    const SimulationSummary s = summarise(of, 0, stream_.classes);
    ServingEstimate e = closed_form;
    const auto seconds = [](base::Seconds value) {
      return std::isnan(value.si()) ? base::Seconds{} : value;
    };
    SteadyState& r = e.steady;
    r.ttft_mean = seconds(s.ttft.mean);
    r.ttft_p50 = seconds(s.ttft.p50);
    r.ttft_tail = {seconds(s.ttft.p95), seconds(s.ttft.p99)};
    r.tpot = seconds(s.tpot.mean);
    r.tpot_tail = {seconds(s.tpot.p95), seconds(s.tpot.p99)};
    r.end_to_end = seconds(s.end_to_end.mean);
    TaskSummary tasks;
    if (tasks_) {
      tasks = summarise_tasks(of, 0, 0);
      tasks.tasks_per_second =
          clients_ > 0 ? tasks_->in_progress / tasks.time.mean.si() : tasks_->tasks_per_second;
    }
    r.requests_per_second = tasks_ ? tasks.tasks_per_second * tasks.turns : rate(first, last, s);
    if (!stream_.classes.empty()) {
      r.attainment = s.attainment;
    }
    e.output_rate = r.requests_per_second * s.output_rate / s.requests_per_second;
    double holding = 0.0;
    for (const ServedRequest& request : of.requests) {
      holding += request.rejected ? 0.0 : (request.last_token - request.scheduled).si();
    }
    holding /= static_cast<double>(s.requests);
    const double groups = static_cast<double>(
        (s_.pools == nullptr ? s_.serving->replicas : s_.pools->decode.replicas) *
        s_.mapping->data_parallel);
    r.decode_batch = r.requests_per_second * (s.end_to_end.mean - s.ttft.mean).si() / groups;
    if (s_.pools == nullptr) {
      r.running = r.requests_per_second * holding / groups;
      e.memory =
          e.footprint.fixed() + base::min(r.running * cache_of(s_).mean_request, e.footprint.cache);
    }
    const workloads::Stack& stack = s_.serving->stack;
    e.spreads = spreads_of(s_, r, s_.pools == nullptr ? stack.errors : stack.pool_errors);
    if (tasks_) {
      e.task.mean = seconds(tasks.time.mean);
      e.task.p50 = seconds(tasks.time.p50);
      e.task.p95 = seconds(tasks.time.p95);
      e.task.per_second = tasks.tasks_per_second;
      e.task.prefix_hit_rate = s.prefix_hit_rate;
      e.task.tools_share = tasks_->tools_share;
    }
    add_costs(s_, e, space_.workspace);
    return e;
  }

  const ScenarioView& s_;
  workloads::RequestStream stream_;
  ReplaySpace& space_;
  std::int64_t clients_ = 0;  // 0: an open loop
  Simulation simulation_;
  std::size_t first_ = 0;  // what is counted
  std::size_t last_ = 0;
  std::optional<TaskSummary> tasks_;  // of agents
};

double standard_error(const std::vector<ServingEstimate>& batches, const Metric& metric) {
  std::vector<double> values;
  for (const ServingEstimate& batch : batches) {
    values.push_back(metric.value(batch));
  }
  return base::mean_of_batches(values).error;
}

// The worst standard error of what is asked, over the one that is aimed at.
double worst_error(const Replayed& r, const ReplayPlan& plan) {
  double worst = 0.0;
  for (const auto& [metric, error] : r.errors) {
    const double value = std::abs(metric->value(r.estimate));
    const double aim = metric->name == "attainment" ? kShareError
                       : metric->name == "goodput"  ? kShareError * value
                                                    : plan.error * value;
    worst = aim > 0.0 ? std::fmax(worst, error / aim) : worst;
  }
  return worst;
}

}  // namespace

double Replayed::error(const Metric& metric) const {
  for (const auto& [target, error] : errors) {
    if (target == &metric && std::isfinite(error)) {
      return error;
    }
  }
  return 0.0;
}

bool is_simulated(const Metric& metric) {
  const std::string_view name = metric.bounds.empty() ? metric.name : metric.bounds;
  return std::any_of(std::begin(kSimulated), std::end(kSimulated),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

Replayed replay(const ScenarioView& scenario, const workloads::RequestStream& stream,
                const ServingEstimate& closed_form, const ReplayPlan& plan, ReplaySpace& space) {
  Replayed r;
  r.closed_form = r.estimate = closed_form;
  if (scenario.training != nullptr) {
    r.why_not = "it trains";
    return r;
  }
  if (!closed_form.fits()) {
    r.why_not = sim::reason(closed_form);
    return r;
  }
  workloads::Traffic sampled;
  ScenarioView s = with_samples(scenario, sampled);
  const std::unique_ptr<const DraftModel> draft = s.pools == nullptr ? draft_model_of(s) : nullptr;
  s.draft = draft.get();
  workloads::RequestStream drawn = stream;
  drawn.seed += plan.seed;
  const Length length = length_of(s, stream, closed_form, plan);
  if (!stream.trace && length.most < length.least) {
    r.why_not = "too long to replay";
    return r;
  }
  for (std::int64_t count = length.first;;) {
    const Run run(s, drawn, count, space);
    if (!run.reason().empty()) {
      r.why_not = fmt::format("the simulation does not run: {}", run.reason());
      return r;
    }
    if (run.rejected() > kMostRejected) {
      r.why_not =
          fmt::format("{:.0f} % of the requests are longer than the context or the KV cache",
                      100.0 * run.rejected());
      return r;
    }
    r.estimate = run.whole(closed_form);
    r.class_attainment = run.class_attainment();
    r.requests = run.counted();
    std::vector<ServingEstimate> batches;
    const bool equal = is_equal(s, stream);
    for (std::size_t i = 0; i < kBatches && !plan.targets.empty() && !equal; ++i) {
      batches.push_back(run.batch(closed_form, i));
    }
    r.errors.clear();
    for (const Metric* metric : plan.targets) {
      r.errors.emplace_back(metric, equal ? 0.0 : standard_error(batches, *metric));
    }
    const double worst = worst_error(r, plan);
    if (worst <= 1.0 || count >= length.most || plan.once || stream.trace) {
      return r;
    }
    const double growth = std::clamp(1.1 * worst * worst, 2.0, kMostGrowth);
    count = std::min(length.most, static_cast<std::int64_t>(growth * static_cast<double>(count)));
  }
}

}  // namespace roofcast::sim
