// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/sampled_loop.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

#include "base/queueing/iteration_servers.hpp"
#include "base/statistics/batch_means.hpp"
#include "sim/scenario/pools.hpp"
#include "sim/serving/followed_servers.hpp"
#include "sim/serving/server.hpp"
#include "workloads/traffic/even_sample.hpp"

namespace roofcast::sim {
namespace {

using base::Hertz;
using base::Seconds;
namespace queueing = base::queueing;
using queueing::IterationRequest;

constexpr double kMostServers = 8;   // ranks of all replicas
constexpr double kLeastServers = 2;  // replicas
constexpr std::size_t kOpen = 5000;  // requests that count
constexpr std::size_t kMostOpen = 16 * kOpen;
constexpr std::size_t kMostPhases = 4 * kOpen;  // to have whole cycles of phases
constexpr double kOpenError = 0.03;             // standard error of the time between tokens
constexpr double kFirstError = 0.1;             // and of TTFT
constexpr double kHeldUp = 2.0;                 // time between tokens, over that without prompts
constexpr std::size_t kBatches = 10;
constexpr std::size_t kClosed = 2000;  // of all clients, at least
constexpr std::size_t kPerClient = 14;
constexpr std::size_t kMostClosed = 8000;
constexpr std::uint64_t kSeed = 1;
constexpr std::size_t kParts = 250;    // of the distribution of a latency
constexpr std::size_t kAnswers = 200;  // lengths of those that run
constexpr int kSampleRounds = 8;
constexpr double kFrontEndBusy = 0.95;  // utilisation from which it is the limit
constexpr double kPilesUp = 0.85;       // of the slots
constexpr double kOtherState = 1.3;     // time between tokens there, over that which was found
constexpr double kLonger = 2.0;         // the later half of the requests, than the earlier one

// The requests of a sample. Those that arrive are drawn by themselves: other hardware has another number that runs at the
// start, and meets the same arrivals.
class SampledRequests {
 public:
  explicit SampledRequests(const ScenarioView& s)
      : t_(*s.traffic),
        speculation_(s.serving->speculation),
        random_(kSeed, "estimate"),
        at_the_start_(kSeed, s.traffic->arrivals ? "running" : "estimate"),
        accepted_(kSeed, "acceptance"),
        by_priority_(s.serving->policy.queue == workloads::Queue::priority),
        urgent_(kSeed, "priority") {}

  std::vector<IterationRequest> all;
  std::vector<double> answers;  // tokens of each
  bool by_priority() const { return by_priority_; }

  void add(std::size_t n) {
    const auto inputs = workloads::even_lengths(t_.input, t_.input_tokens, n, random_);
    const auto outputs = workloads::even_lengths(t_.output, t_.output_tokens, n, random_);
    for (std::size_t i = 0; i < n; ++i) {
      answers.push_back(std::max(1.0, std::floor(outputs[i])));
      all.push_back({{},
                     static_cast<std::int64_t>(inputs[i]),
                     t_.cached_tokens,
                     1 + decodes(answers.back()),
                     0,
                     priority()});
    }
  }
  // Sequences that decode at the start. Their answers weigh by their length.
  void add_running(std::size_t n) {
    const auto inputs = workloads::even_lengths(t_.input, t_.input_tokens, n, at_the_start_);
    const auto outputs = t_.output.shape == workloads::Lengths::Shape::fixed
                             ? std::vector<double>(1, static_cast<double>(t_.output_tokens))
                             : workloads::quantiles(t_.output, kAnswers);
    const double sum = std::accumulate(outputs.begin(), outputs.end(), 0.0);
    std::vector<double> running;
    std::size_t which = 0;
    double upto = outputs[0];
    while (running.size() < n) {
      const double at = (static_cast<double>(running.size()) + 0.5) / static_cast<double>(n) * sum;
      while (which + 1 < outputs.size() && upto < at) {
        upto += outputs[++which];
      }
      running.push_back(std::max(2.0, std::floor(outputs[which])));
    }
    workloads::shuffle(running, at_the_start_);
    for (std::size_t i = 0; i < n; ++i) {
      const std::int64_t output = 1 + decodes(running[i]);
      answers.push_back(running[i]);
      all.push_back({{},
                     static_cast<std::int64_t>(inputs[i]),
                     0,
                     output,
                     at_the_start_.integer(1, output - 1),
                     priority()});
    }
  }
  // Their clients pause before them, for these times in a random order, and for their mean.
  void pause(std::span<const Seconds> pauses) {
    std::vector<double> times;
    for (const Seconds time : pauses) {
      times.push_back(time.si());
    }
    const double mean =
        std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
    workloads::shuffle(times, random_);
    double sum = 0.0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      sum += times[i % times.size()];
    }
    const double scale = sum > 0.0 ? mean * static_cast<double>(all.size()) / sum : 0.0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].arrival = Seconds::from_si(scale * times[i % times.size()]);
    }
  }
  // Adds n requests that arrive. So many of the same ones arrive before them, and after them.
  void arrive(const workloads::Arrivals& arrivals, double share, std::size_t n,
              std::size_t margin) {
    const std::size_t from = all.size();
    add(n);
    const std::vector<IterationRequest> period(all.begin() + static_cast<std::ptrdiff_t>(from),
                                               all.end());
    const std::vector<double> lengths(answers.begin() + static_cast<std::ptrdiff_t>(from),
                                      answers.end());
    all.resize(from);
    answers.resize(from);
    const auto times = workloads::even_arrivals(arrivals, share, n, random_);
    const Seconds whole = static_cast<double>(n) / (share * workloads::mean_rate(arrivals));
    const Seconds start = times[n - margin - 1];
    for (std::size_t i = n - margin; i < 2 * n + margin; ++i) {
      answers.push_back(lengths[i % n]);
      all.push_back(period[i % n]);
      all.back().arrival = times[i % n] + static_cast<double>(i / n) * whole - start;
    }
  }

 private:
  // Of an answer of so many tokens: their number varies with the drafts that are accepted.
  std::int64_t decodes(double tokens) {
    const auto rest = static_cast<std::int64_t>(tokens) - 1;
    if (speculation_.verified() == 0 || rest == 0) {
      return rest;
    }
    const double mean = speculation_.iterations(rest);
    const double deviation = std::sqrt(mean * speculation_.squared_variation());
    return std::clamp<std::int64_t>(std::llround(accepted_.normal(mean, deviation)), 1, rest);
  }

  std::int32_t priority() {
    if (!by_priority_ || t_.classes.empty()) {
      return 0;
    }
    double at = urgent_.uniform();
    std::size_t which = 0;
    while (which + 1 < t_.classes.size() && at >= t_.classes[which].share) {
      at -= t_.classes[which++].share;
    }
    return static_cast<std::int32_t>(t_.classes[which].priority);
  }

  const workloads::Traffic& t_;
  const workloads::Speculation& speculation_;
  base::Random random_;
  base::Random at_the_start_;
  base::Random accepted_;
  bool by_priority_;
  base::Random urgent_;
};

// What became of the requests that count.
struct Sample {
  queueing::IterationPath path;
  LatencyMixture ttft;
  LatencyMixture tpot;
  // Means:
  Seconds pause;  // of clients, before it
  Seconds stay;
  Seconds decoding;
  Seconds holding;  // of a slot
  Seconds front;
  Seconds slot;   // wait for it
  Seconds waits;  // for other prompts
  Seconds first;  // these waits, and the iterations of the prompt
  double attainment = std::numeric_limits<double>::quiet_NaN();
  double error = 0.0;        // standard error of `decoding`, over it
  double first_error = 0.0;  // of TTFT
  Seconds
      later;  // mean stay of the later half of the requests, less kLonger times that of the earlier one
};

// Standard error of the mean over the mean.
double error_of_mean(const std::vector<double>& values) {
  std::array<double, kBatches> means{};
  for (std::size_t i = 0; i < kBatches; ++i) {
    const std::size_t from = i * values.size() / kBatches;
    const std::size_t to = (i + 1) * values.size() / kBatches;
    means[i] = std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(from),
                               values.begin() + static_cast<std::ptrdiff_t>(to), 0.0) /
               static_cast<double>(to - from);
  }
  const auto [mean, error] = base::mean_of_batches(means);
  return error / mean;
}

LatencyMixture distribution(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  LatencyMixture mixture;
  const std::size_t parts = std::min(kParts, values.size());
  for (std::size_t i = 0; i < parts; ++i) {
    const std::size_t from = i * values.size() / parts;
    const std::size_t to = (i + 1) * values.size() / parts;
    const double sum = std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(from),
                                       values.begin() + static_cast<std::ptrdiff_t>(to), 0.0);
    const auto count = static_cast<double>(to - from);
    mixture.add(count, Seconds::from_si(sum / count), {}, {});
  }
  return mixture;
}

bool meets(const workloads::Objectives& o, Seconds first, Seconds token, Seconds stay) {
  return (!o.ttft || first <= *o.ttft) && (!o.tpot || token <= *o.tpot) &&
         (!o.end_to_end || stay <= *o.end_to_end);
}

Sample sample(const queueing::IterationPools& pools, const SampledRequests& requests,
              const workloads::Traffic& traffic, std::size_t clients, std::size_t from,
              std::size_t upto) {
  Sample r;
  r.path = queueing::follow(pools, requests.all, static_cast<std::int64_t>(clients), from);
  std::vector<double> first;
  std::vector<double> token;
  double good = 0.0;
  for (std::size_t i = from; i < upto; ++i) {
    const queueing::IterationOutcome& o = r.path.outcomes[i];
    const Seconds decodes = o.last - o.first;
    const double tokens = requests.answers[i];
    const Seconds each = tokens > 1.0 ? decodes / (tokens - 1.0) : Seconds{};
    first.push_back((o.first - o.arrival).si());
    if (tokens > 1.0) {
      token.push_back(each.si());
    }
    // Without priorities, each request may be of any class.
    for (const workloads::RequestClass& c : traffic.classes) {
      const double share = !requests.by_priority()                          ? c.share
                           : c.priority == requests.all[i].priority ? 1.0
                                                                    : 0.0;
      good += meets(c.objectives, o.first - o.arrival, each, o.last - o.arrival) ? share : 0.0;
    }
    r.pause += clients > 0 ? requests.all[i].arrival : Seconds{};
    r.stay += o.last - o.arrival;
    r.later += (i < (from + upto) / 2 ? -kLonger : 1.0) * (o.last - o.arrival);
    r.decoding += decodes;
    r.holding += o.last - o.scheduled;
    r.front += o.queued - o.arrival;
    r.slot += o.place;
    r.waits += o.scheduled - o.queued - o.place;
    r.first += o.first - o.queued - o.place;
  }
  const auto count = static_cast<double>(upto - from);
  for (Seconds* of :
       {&r.pause, &r.stay, &r.decoding, &r.holding, &r.front, &r.slot, &r.waits, &r.first}) {
    *of /= count;
  }
  if (any_objective(traffic.classes)) {
    r.attainment = good / count;
  }
  const auto error = [](const std::vector<double>& values) {
    return values.size() >= kOpen / 2 ? error_of_mean(values) : 0.0;
  };
  r.error = error(token);
  r.first_error = error(first);
  if (token.empty()) {
    token.push_back(0.0);
  }
  r.ttft = distribution(first);
  r.tpot = distribution(token);
  return r;
}

// Requests before and after those that count in an open loop, of which so many run at the start.
std::size_t margin(std::size_t running) { return std::clamp(running, kOpen / 20, kOpen / 2); }

// Requests of an open loop that count.
std::size_t open_count(const ScenarioView& s, double share) {
  const auto times = static_cast<std::size_t>(s.sample);
  return workloads::whole_cycles(*s.traffic->arrivals, share, kOpen * times, kMostPhases * times);
}

Sample open_sample(const queueing::IterationPools& pools, const ScenarioView& s, double share,
                   double running, std::size_t n) {
  const workloads::Traffic& t = *s.traffic;
  SampledRequests requests(s);
  const auto begun = static_cast<std::size_t>(t.output_tokens > 1 ? running : 0.0);
  requests.add_running(begun);
  requests.arrive(*t.arrivals, share, n, margin(begun));
  const std::size_t from = begun + margin(begun);
  return sample(pools, requests, t, 0, from, from + n);
}

// `running`: clients whose requests run at the start.
Sample closed_sample(const queueing::IterationPools& pools, const ScenarioView& s,
                     std::size_t clients, std::size_t running,
                     std::span<const Seconds> pauses = {}) {
  SampledRequests requests(s);
  requests.add_running(running);
  const std::size_t n =
      std::max(4 * clients, std::clamp(kPerClient * clients, kClosed, kMostClosed)) *
      static_cast<std::size_t>(s.sample);
  requests.add(n - running);
  if (!pauses.empty()) {
    requests.pause(pauses);
  }
  return sample(pools, requests, *s.traffic, clients, std::max(n / 10, 2 * clients), n - clients);
}

// A deployment of one pool.
class SampledLoop : Server {
 public:
  SampledLoop(const ScenarioView& s, double slots, Workspace& workspace)
      : Server(s, slots, workspace),
        share_(
            std::min(1.0, std::max(kLeastServers, std::floor(kMostServers / ranks_)) / replicas_)),
        servers_(s, share_ * replicas_, workspace) {}

  SteadyState open() {
    SteadyState r;
    Solution found;
    found.rate = workloads::mean_rate(*s_.traffic->arrivals) / replicas_;
    const Hertz most = saturation();
    r.saturation = most * replicas_ / base::hertz;
    r.utilisation = found.rate / most;
    if (r.utilisation >= 1.0) {
      return r;
    }
    const Hertz rate = found.rate * static_cast<double>(servers_.q.servers);
    const queueing::IterationPools pools{servers_.q, {}, {}, {}};
    std::size_t n = open_count(s_, share_);
    const std::size_t longest = std::max(kMostOpen, 4 * n);
    Sample followed =
        open_sample(pools, s_, share_, present_at(found.rate) * (rate / found.rate), n);
    while (4 * n <= longest && is_rough(followed, rate)) {
      n *= 4;
      followed = open_sample(pools, s_, share_, rate * followed.decoding, n);
    }
    summarise(followed, found, r);
    r.piles_up = found.running > kPilesUp * slots_ || followed.later > Seconds{};
    r.two_states = has_two_states(found);
    r.throughput_limit = Limit::arrivals;
    return r;
  }

  SteadyState closed(std::span<const Seconds> pauses) {
    const double clients = std::max(1.0, std::round(share_ * replicas_ * clients_));
    const Sample followed = closed_sample({servers_.q, {}, {}, {}}, s_,
                                          static_cast<std::size_t>(clients), 0, pauses);
    SteadyState r;
    Solution found;
    found.rate = clients_ / (followed.pause + followed.stay);
    summarise(followed, found, r);
    const bool host = found.rate * (intake() + messages()) * front_share_ > kFrontEndBusy;
    r.throughput_limit = host ? Limit::host : clients_ > running_ ? Limit::slots : r.tpot_limit;
    return r;
  }

 private:
  // Near saturation, few bursts decide over TTFT. Where prompts run first and hardly leave the decodes an iteration, a
  // rare one decides over their time.
  bool is_rough(const Sample& followed, Hertz rate) {
    if (followed.first_error > kFirstError) {
      return true;
    }
    const double present = rate * followed.decoding / static_cast<double>(servers_.q.servers);
    return costs_.prompts_first() && followed.error > kOpenError &&
           followed.decoding > kHeldUp * decodes_ * servers_.interval(present);
  }

  bool has_two_states(const Solution& found) {
    if (stages_ > 1.0 || costs_.prompts_first() || decodes_ <= 0.0) {
      return false;
    }
    const auto prompt = static_cast<double>(s_.traffic->input_tokens - s_.traffic->cached_tokens);
    return servers_.longest_interval(found.rate, prompt, decodes_, slots_) >
           kOtherState * found.mean.interval;
  }

  // D of a replica, about.
  double present_at(Hertz rate) {
    const auto prompt = static_cast<double>(s_.traffic->input_tokens - s_.traffic->cached_tokens);
    double d = 1.0;
    for (int i = 0; i < kSampleRounds; ++i) {
      const double busy = std::min(0.9, servers_.busy(rate, prompt, d));
      d = std::min(rate * decodes_ * servers_.interval(d) / (1.0 - busy), 0.9 * slots_);
    }
    return d;
  }

  void summarise(const Sample& followed, Solution& found, SteadyState& r) {
    found.present = found.rate * followed.decoding;
    found.running = std::min(found.rate * followed.holding, clients_ > 0.0 ? running_ : slots_);
    // Those that lost their places wait between two tokens.
    found.present = std::min(found.present, found.running);
    found.front = followed.front;
    found.slot = followed.slot;
    found.mean.waits = followed.waits;
    found.mean.first = followed.first;
    found.mean.share = followed.path.mixed;
    found.mean.iteration = followed.path.iteration;
    found.mean.interval = decodes_ > 0.0 ? followed.decoding / decodes_ : Seconds{};
    LatencyMixture ttft = followed.ttft;
    const workloads::StageTime& stages = s_.traffic->stages;
    if (stages.mean > Seconds{} || stages.variance > base::SquareSeconds{}) {
      ttft.shift(stages.mean, stages.variance, {});
    }
    report(found, ttft, followed.tpot, r);
    r.end_to_end = followed.stay + stages.mean;
    r.attainment = followed.attainment;
  }

  double share_;  // of the replicas, that are followed
  FollowedServers servers_;
};

}  // namespace

bool is_followed(const ScenarioView& s) {
  const bool few = s.pools == nullptr ||
                   static_cast<double>(std::max(s.pools->prefill.replicas,
                                                s.pools->decode.replicas)) <= 2.0 * kMostServers;
  return few && !s.formulas_only;
}

bool stay_in_step(const ScenarioView& s) {
  const workloads::Traffic& t = *s.traffic;
  const bool answers_vary = t.output_tokens > 1 && (squared_variation(t.output) > 0.0 ||
                                                    s.serving->speculation.verified() > 0);
  const bool spread = s.mapping->data_parallel > 1 || s.mapping->pipeline_parallel > 1;
  const bool one_by_one =
      is_followed(s) && (s.serving->replicas > 1 || spread || squared_variation(t.input) > 0.0);
  return !t.arrivals && !answers_vary && !one_by_one;
}

SteadyState sampled_loop(const ScenarioView& scenario, double slots, Workspace& workspace) {
  SampledLoop solver(scenario, slots, workspace);
  return scenario.traffic->arrivals ? solver.open() : solver.closed({});
}

SteadyState sampled_sessions(const ScenarioView& scenario, double slots,
                             std::span<const Seconds> pauses, Workspace& workspace) {
  return SampledLoop(scenario, slots, workspace).closed(pauses);
}

void sample_pools(const ScenarioView& s, const PoolScenarios& pools, Workspace& workspace,
                  SteadyState& r) {
  const workloads::Traffic& t = *s.traffic;
  FollowedServers prefill(pools.prefill(), static_cast<double>(s.pools->prefill.replicas),
                          workspace);
  FollowedServers decode(pools.decode(), static_cast<double>(s.pools->decode.replicas), workspace);
  const auto input = static_cast<double>(t.input_tokens);
  const Seconds whole = kv_transfer(s, input).time;
  const Seconds half = kv_transfer(s, 0.5 * input).time;
  const Seconds token = base::max(Seconds{}, 2.0 / input * (whole - half));
  const queueing::IterationPools two{prefill.q, decode.q, whole - token * input, token};
  const double ranks = static_cast<double>(s.pools->decode.replicas * s.mapping->data_parallel);
  const double running = r.decode_batch * ranks;
  const bool alike = squared_variation(t.input) + squared_variation(t.output) == 0.0;
  const auto clients = static_cast<std::size_t>(t.concurrency);
  const Sample followed =
      t.arrivals ? open_sample(two, s, 1.0, running, open_count(s, 1.0))
                 : closed_sample(two, s, clients,
                                 alike && t.output_tokens > 1
                                     ? std::min(clients, static_cast<std::size_t>(running))
                                     : 0);
  if (!t.arrivals) {
    r.requests_per_second = static_cast<double>(t.concurrency) / followed.stay.si();
  }
  r.ttft_mean = followed.ttft.mean();
  r.ttft_p50 = followed.ttft.quantile(0.5);
  r.ttft_tail = followed.ttft.tail();
  if (t.output_tokens > 1) {
    r.tpot = followed.tpot.mean();
    r.tpot_tail = followed.tpot.tail();
  }
  r.end_to_end = followed.stay;
  r.decode_batch = r.running = r.requests_per_second * followed.decoding.si() / ranks;
  r.attainment = followed.attainment;
}

}  // namespace roofcast::sim
