// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/sampled_requests.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/statistics/batch_means.hpp"
#include "base/statistics/random.hpp"
#include "workloads/traffic/even_sample.hpp"

namespace roofcast::sim {
namespace {

using base::Hertz;
using base::Seconds;
namespace queueing = base::queueing;
using queueing::IterationRequest;

constexpr std::size_t kOpen = 5000;             // requests that count
constexpr std::size_t kMostPhases = 4 * kOpen;  // to have whole cycles of phases
constexpr std::size_t kScan = 8;                // times fewer in a scan
constexpr std::size_t kBatches = 10;
constexpr std::size_t kClosed = 2000;  // of all clients, at least
constexpr std::size_t kPerClient = 14;
constexpr std::size_t kMostClosed = 8000;
constexpr std::uint64_t kSeed = 1;
constexpr std::size_t kParts = 250;  // of the distribution of a latency
// Half of the requests that wait where a replica has more than it can serve:
constexpr double kWaiting = 200.0;      // at least
constexpr double kIterations = 10.0;    // those that so many iterations begin
constexpr double kReplaced = 4.0;       // for each that runs
constexpr double kLeastReplaced = 1.5;  // where they would be more than kMostWaiting
constexpr double kMostWaiting = 5000.0;
constexpr double kScanReplaced = 1.0;
constexpr double kUnlike = 0.2;  // of an answer that is as long as all others: it varies by so much
constexpr std::size_t kAnswers = 200;  // lengths of those that run
constexpr double kLonger = 2.0;        // the later half of the requests, than the earlier one
constexpr double kSpreads = 1.3;       // TTFT of the earlier half, over that of the later one

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
    const auto prompts = even_prompts(n);
    const auto outputs = workloads::even_lengths(t_.output, t_.output_tokens, n, random_);
    for (std::size_t i = 0; i < n; ++i) {
      answers.push_back(std::max(1.0, std::floor(outputs[i])));
      all.push_back(
          {{}, prompts[i].input, prompts[i].cached, 1 + decodes(answers.back()), 0, priority()});
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
  // Answers from this request on are longer or shorter: those that end together once do so no more.
  void vary(std::size_t from) {
    base::Random random(kSeed, "vary");
    for (std::size_t i = from; i < all.size(); ++i) {
      const auto most = static_cast<std::int64_t>(kUnlike * static_cast<double>(all[i].output - 1));
      all[i].output += random.integer(-most, most);
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
  std::vector<workloads::Prompt> even_prompts(std::size_t n) {
    std::vector<workloads::Prompt> prompts;
    if (t_.prompts == nullptr) {
      for (const double input : workloads::even_lengths(t_.input, t_.input_tokens, n, random_)) {
        prompts.push_back({static_cast<std::int64_t>(input), t_.cached_tokens});
      }
      return prompts;
    }
    std::vector<double> places;
    for (std::size_t i = 0; i < n; ++i) {
      places.push_back((static_cast<double>(i) + 0.5) / static_cast<double>(n) *
                       static_cast<double>(t_.prompts->size()));
    }
    workloads::shuffle(places, random_);
    for (const double place : places) {
      prompts.push_back((*t_.prompts)[static_cast<std::size_t>(place)]);
    }
    return prompts;
  }

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

FollowedSample sample(const queueing::IterationPools& pools, const SampledRequests& requests,
                      const workloads::Traffic& traffic, std::size_t clients, std::size_t from,
                      std::size_t upto) {
  FollowedSample r;
  r.path = queueing::follow(pools, requests.all, static_cast<std::int64_t>(clients), from);
  std::vector<double> first;
  std::vector<double> token;
  // Of each class. Without priorities, every request may be of any.
  const workloads::RequestClasses& classes = traffic.classes;
  std::vector<double> good(classes.size(), 0.0);
  std::vector<double> counted(classes.size(), 0.0);
  for (std::size_t i = from; i < upto; ++i) {
    const queueing::IterationOutcome& o = r.path.outcomes[i];
    const Seconds decodes = o.last - o.first;
    const double tokens = requests.answers[i];
    const Seconds each = tokens > 1.0 ? decodes / (tokens - 1.0) : Seconds{};
    first.push_back((o.first - o.arrival).si());
    if (tokens > 1.0) {
      token.push_back(each.si());
    }
    for (std::size_t k = 0; k < classes.size(); ++k) {
      if (!requests.by_priority() || classes[k].priority == requests.all[i].priority) {
        counted[k] += 1.0;
        good[k] +=
            meets(classes[k].objectives, o.first - o.arrival, each, o.last - o.arrival) ? 1.0 : 0.0;
      }
    }
    r.pause += clients > 0 ? requests.all[i].arrival : Seconds{};
    r.stay += o.last - o.arrival;
    r.later += (i < (from + upto) / 2 ? -kLonger : 1.0) * (o.last - o.arrival);
    r.spreads += (i < (from + upto) / 2 ? 1.0 : -kSpreads) * (o.first - o.arrival);
    r.decoding += decodes;
    r.holding += o.last - o.scheduled;
    r.slot += o.place;
    r.waits += o.scheduled - o.queued - o.place;
    r.first += o.first - o.queued - o.place;
    r.handed += o.first - o.computed;
    r.held_up += o.held_up;
  }
  const auto count = static_cast<double>(upto - from);
  for (Seconds* of : {&r.pause, &r.stay, &r.decoding, &r.holding, &r.slot, &r.waits, &r.first,
                      &r.handed, &r.held_up}) {
    *of /= count;
  }
  if (any_objective(classes)) {
    r.attainment = 0.0;
    for (std::size_t k = 0; k < classes.size(); ++k) {
      r.attainment += classes[k].share * good[k] / std::max(1.0, counted[k]);
    }
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
std::size_t margin(std::size_t running, std::size_t n) {
  const std::size_t usual = std::min(n, kOpen);
  return std::clamp(running, usual / 20, usual / 2);
}

// Requests of an overload of a replica, which so many sequences fill, that come before those that count.
double half_of_waiting(const queueing::IterationServer& q, const ScenarioView& s, double running) {
  const workloads::Traffic& t = *s.traffic;
  const auto prompt = std::max(1.0, static_cast<double>(t.input_tokens - t.cached_tokens));
  const double decodes = s.serving->speculation.iterations(t.output_tokens - 1);
  const double begin = std::min(running / std::max(1.0, decodes),  // in an iteration
                                static_cast<double>(q.ranks * q.budget) / prompt);
  const double replaced =
      s.scans ? kScanReplaced : std::clamp(kMostWaiting / running, kLeastReplaced, kReplaced);
  return std::max({kWaiting, decodes > 0.0 ? replaced * running : 0.0, kIterations * begin});
}

}  // namespace

std::size_t open_count(const ScenarioView& s, double share) {
  const auto times = static_cast<std::size_t>(s.sample);
  const std::size_t fewer = s.scans ? kScan : 1;
  return workloads::whole_cycles(*s.traffic->arrivals, share, kOpen * times / fewer,
                                 kMostPhases * times / fewer);
}

FollowedSample open_sample(const queueing::IterationPools& pools, const ScenarioView& s,
                           double share, double running, std::size_t n) {
  const workloads::Traffic& t = *s.traffic;
  SampledRequests requests(s);
  const auto begun = static_cast<std::size_t>(t.output_tokens > 1 ? running : 0.0);
  requests.add_running(begun);
  requests.arrive(*t.arrivals, share, n, margin(begun, n));
  const std::size_t from = begun + margin(begun, n);
  return sample(pools, requests, t, 0, from, from + n);
}

Hertz overloaded_rate(const queueing::IterationServer& server, const ScenarioView& s,
                      double running) {
  queueing::IterationServer one = server;
  one.servers = 1;
  one.take = one.take_token = one.send = one.ahead = Seconds{};
  one.by_priority = false;
  SampledRequests requests(s);
  const auto begun = static_cast<std::size_t>(s.traffic->output_tokens > 1 ? running : 0.0);
  const auto half =
      static_cast<std::size_t>(static_cast<double>(s.sample) * half_of_waiting(one, s, running));
  requests.add_running(begun);
  requests.add(half);
  requests.add(half);
  if (squared_variation(s.traffic->output) <= 0.0) {
    requests.vary(begun);
  }
  const auto outcomes = queueing::follow({one, {}, {}, {}}, requests.all, 0, begun).outcomes;
  const Seconds from = outcomes[begun + half].scheduled;
  const Seconds upto = outcomes.back().scheduled;
  const auto begin = std::count_if(outcomes.begin(), outcomes.end(), [&](const auto& each) {
    return each.scheduled > from && each.scheduled <= upto;
  });
  return static_cast<double>(begin) / (upto - from);
}

FollowedSample closed_sample(const queueing::IterationPools& pools, const ScenarioView& s,
                             std::size_t clients, std::size_t running,
                             std::span<const Seconds> pauses) {
  SampledRequests requests(s);
  requests.add_running(running);
  const std::size_t usual = std::clamp(kPerClient * clients, kClosed, kMostClosed);
  const std::size_t n =
      std::max(4 * clients, usual / (s.scans ? kScan : 1)) * static_cast<std::size_t>(s.sample);
  requests.add(n - running);
  if (!pauses.empty()) {
    requests.pause(pauses);
  }
  return sample(pools, requests, *s.traffic, clients, std::max(n / 10, 2 * clients), n - clients);
}

}  // namespace roofcast::sim
