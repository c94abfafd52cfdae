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
#include "sim/serving/server.hpp"

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
constexpr double kGrowth = 3.0;         // standard deviations
constexpr double kReplicasAtOnce = 30.0;  // whose look costs as much as a token of an answer
// Of an open loop, in mean stays of what is in progress:
constexpr double kLasts = 20.0;
constexpr double kFewestLasts = 10.0;
constexpr double kFillsUp = 3.0;
constexpr double kMostDays = 10.0;     // a simulation keeps every second
constexpr double kFallsBehind = 0.03;  // share of the arrivals

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
// Whether they take long to find their rhythm: answers are all as long, and prompts differ or meet in another pool.
bool is_slow(const ScenarioView& s, const workloads::RequestStream& stream) {
  const bool as_long =
      !workloads::is_open(stream) && !stream.agents && squared_variation(stream.output) == 0.0;
  const bool drawn = s.serving->speculation.query_tokens() == 1 && s.traffic->output_tokens > 1 &&
                     squared_variation(stream.input) > 0.0;
  return as_long && (drawn || (is_alike(stream) && s.pools != nullptr));
}

// Requests of an open loop, of agents tasks, that arrive during the mean stay of those in progress. A long one is in progress
// for longer, so stays weigh by their length.
double in_progress(const ScenarioView& s, const workloads::RequestStream& stream,
                   const ServingEstimate& closed_form) {
  if (!stream.arrivals) {
    return 0.0;
  }
  const base::Hertz rate = workloads::mean_rate(*stream.arrivals);
  const base::Seconds mean = stream.agents ? closed_form.task.mean : closed_form.steady.end_to_end;
  const workloads::Lengths& varies =
      stream.agents ? stream.agents->sessions.turns : s.traffic->output;
  return rate * mean * (1.0 + workloads::squared_variation(varies));
}

// How many requests a run may have; of agents, how many tasks.
struct Length {
  double in_progress = 0.0;
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
  l.in_progress = in_progress(s, stream, closed_form);
  l.first = std::min(std::max<std::int64_t>(l.first, std::llround(kLasts * l.in_progress)), l.most);
  l.least = std::max<std::int64_t>(l.least, std::llround(kFewestLasts * l.in_progress));
  return l;
}

// One run, and the figures of parts of it.
class Run {
 public:
  Run(const ScenarioView& s, workloads::RequestStream stream, std::int64_t length,
      double in_progress, ReplaySpace& space)
      : s_(s), stream_(std::move(stream)), space_(space) {
    clients_ = workloads::is_open(stream_) ? 0 : stream_.concurrency;
    if (stream_.trace) {  // all of it, from its first request on
      simulation_ = simulate(s_, workloads::draw_requests(stream_), clients_, space_.iterations);
      last_ = simulation_.requests.size();
      return;
    }
    (stream_.agents ? stream_.agents->tasks : stream_.requests) = length;
    const auto skipped =
        std::max<std::int64_t>({is_slow(s_, stream_) ? length * 2 / 3 : length / 10, 2 * clients_,
                                std::llround(kFillsUp * in_progress)});
    const std::int64_t end =
        length - std::max<std::int64_t>({clients_, std::llround(in_progress), 1});
    simulation_ = simulate(s_, drawn(skipped, end), clients_, space_.iterations);
    first_ = start_of(simulation_.requests, skipped);
    last_ = start_of(simulation_.requests, end);
    behind_ = stream_.arrivals ? measured_behind() : 0.0;
    if (stream_.agents) {
      tasks_ = summarise_tasks(simulation_, static_cast<std::size_t>(skipped),
                               static_cast<std::size_t>(clients_));
    }
  }

  const std::string& reason() const { return simulation_.reason; }
  std::size_t counted() const { return last_ - first_; }
  // Share of the requests that the KV cache cannot hold. The estimate is without those that are longer than the context.
  double beyond_cache() const {
    const auto count = std::count_if(
        simulation_.requests.begin(), simulation_.requests.end(), [&](const ServedRequest& r) {
          return r.rejected && r.input_tokens + r.output_tokens <= s_.model->max_context;
        });
    return static_cast<double>(count) / static_cast<double>(simulation_.requests.size());
  }

  // Share of the arrivals of an open loop that is not answered meanwhile; 0 where it is small or may be chance.
  double behind() const { return behind_; }

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
  // With drawn arrivals: their rate is that of the answers.
  bool keeps_up() const { return stream_.arrivals && !stream_.trace && behind_ == 0.0; }

  template <class Request>
  std::size_t start_of(const std::vector<Request>& requests, std::int64_t n) const {
    return workloads::start_of(requests, n, stream_.agents.has_value());
  }

  // The gaps of what is counted have the mean that the traffic has. Phases of mmpp stay as long as they were drawn.
  workloads::Requests drawn(std::int64_t first, std::int64_t end) const {
    using workloads::ArrivalProcess;
    workloads::Requests requests = workloads::draw_requests(stream_);
    const auto& arrivals = stream_.arrivals;
    if (arrivals && (arrivals->process == ArrivalProcess::poisson ||
                     arrivals->process == ArrivalProcess::gamma)) {
      workloads::set_rate(requests, start_of(requests.requests, first),
                          start_of(requests.requests, end), static_cast<std::size_t>(end - first),
                          arrivals->rate);
    }
    return requests;
  }

  // By chance the requests in flight at two instants differ by the square root of 2·I·n, n being their mean and I the
  // dispersion of arrivals.
  double measured_behind() const {
    const base::Seconds from = simulation_.requests[first_].arrival;
    const base::Seconds to = simulation_.requests[last_].arrival;
    double arrived = 0.0;
    double present = 0.0;
    for (const ServedRequest& r : simulation_.requests) {
      if (!r.rejected && r.arrival > from && r.arrival <= to) {
        arrived += 1.0;
        present += (r.last_token - r.arrival) / (to - from);
      }
    }
    const double dispersion = std::max(1.0, workloads::burstiness(*stream_.arrivals).limit);
    const double missing = arrived - completions(first_, last_) * (to - from).si();
    const double by_chance = kGrowth * std::sqrt(2.0 * dispersion * present);
    return missing > std::max(by_chance, kFallsBehind * arrived) ? missing / arrived : 0.0;
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
    if (!keeps_up()) {  // else those of the arrivals
      r.requests_per_second = tasks_ ? tasks.tasks_per_second * tasks.turns : rate(first, last, s);
      e.output_rate = r.requests_per_second * s.output_rate / s.requests_per_second;
    }
    if (!stream_.classes.empty()) {
      r.attainment = s.attainment;
    }
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
      r.power = tasks_ ? r.power : power_of(s_, r, space_.workspace);
    }
    const workloads::Stack& stack = s_.serving->stack;
    e.spreads = spreads_of(s_, r, s_.pools == nullptr ? stack.errors : stack.pool_errors);
    if (tasks_) {
      e.task.mean = seconds(tasks.time.mean);
      e.task.p50 = seconds(tasks.time.p50);
      e.task.p95 = seconds(tasks.time.p95);
      e.task.per_second = keeps_up() ? e.task.per_second : tasks.tasks_per_second;
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
  double behind_ = 0.0;
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

bool Replayed::is_steady() const { return behind == 0.0; }

std::string Replayed::not_steady() const {
  return is_steady()
             ? ""
             : fmt::format("not a steady state: {:.0f} % fewer requests are answered than arrive",
                           100.0 * behind);
}

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

double most_requests(const workloads::Traffic& traffic, const ReplayPlan& plan) {
  const double turns = traffic.agents == nullptr
                           ? 1.0
                           : std::max(1.0, workloads::mean_turns(traffic.agents->agents));
  const auto clients = static_cast<double>(traffic.concurrency);
  const double first =
      traffic.agents == nullptr
          ? std::max<double>(kOpen, kSlowPerClient * clients)
          : std::max<double>(kOpen, turns * std::max<double>(kOpenTasks, kPerAgent * clients));
  // One run of an open loop may be longer than `first`, until it has long been filled up.
  const bool one_run = plan.once && traffic.concurrency > 0;
  const double most = one_run ? first : std::max(first, static_cast<double>(plan.most_requests));
  return std::min(most, plan.most_tokens /
                            static_cast<double>(std::max<std::int64_t>(traffic.output_tokens, 8)));
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
  const ServedScenario served(scenario);
  ScenarioView s = served.view;
  const std::unique_ptr<const DraftModel> draft = s.pools == nullptr ? draft_model_of(s) : nullptr;
  s.draft = draft.get();
  workloads::RequestStream drawn = stream;
  drawn.seed += plan.seed;
  const Length length = length_of(s, stream, closed_form, plan);
  const double days =
      static_cast<double>(length.first) / closed_form.steady.requests_per_second / 86400.0;
  if (!stream.trace && (length.most < length.least || days > kMostDays)) {
    r.why_not = "too long to replay";
    return r;
  }
  for (std::int64_t count = length.first;;) {
    const Run run(s, drawn, count, length.in_progress, space);
    if (!run.reason().empty()) {
      r.why_not = fmt::format("the simulation does not run: {}", run.reason());
      return r;
    }
    if (run.beyond_cache() > kMostRejected) {
      r.why_not = fmt::format("{:.0f} % of the requests are longer than the KV cache",
                              100.0 * run.beyond_cache());
      return r;
    }
    r.estimate = run.whole(closed_form);
    r.class_attainment = run.class_attainment();
    r.requests = run.counted();
    r.behind = run.behind();
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
