// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/lockstep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/queueing/fifo.hpp"
#include "sim/serving/line.hpp"
#include "sim/serving/server.hpp"

namespace roofcast::sim {
namespace {

using base::Hertz;
using base::Seconds;

constexpr int kWarmUp = 2;         // rounds before the one that counts, at most
constexpr double kSteady = 0.001;  // difference of two rounds that are alike
constexpr double kAlike = 0.001;   // of two times
constexpr int kMostEvents = 4000;
constexpr double kEnough = 64;         // events of rounds that count
constexpr double kMostOwn = 8;         // followed clients for each between two answers
constexpr double kLeastAnswer = 8;     // iterations of a followed client's answer
constexpr double kApart = 4;           // iterations between two answers of a client, about
constexpr double kBundles = 4;         // arrivals of as many prompts as fill an iteration
constexpr double kFrontEndBusy = 0.9;  // utilisation from which it is the limit
constexpr Seconds kNever = Seconds::infinity();

Seconds distance(Seconds a, Seconds b) { return base::max(a - b, b - a); }

class Solver : Server {
 public:
  Solver(const ScenarioView& s, double slots, Workspace& workspace) : Server(s, slots, workspace) {
    prompt_ = static_cast<double>(s.traffic->input_tokens - s.traffic->cached_tokens);
    per_token_ = 1.0 / prompt_;
    first_ = costs_.prompts_first();
    query_ = static_cast<double>(s.serving->speculation.query_tokens());
    ways_ = ranks_ * stages_;
    time_iterations();
  }

  SteadyState solve() {
    arrive(followed_, {});
    double ends = places_;  // prompts served at the end of a round
    Seconds began;          // of the round
    Seconds before;         // that the round before took
    int rounds = 0;
    double counted = 1.0;  // rounds that are counted
    int last = 0;          // event of the round before
    for (int event = 0; event < kMostEvents; ++event) {
      step();
      if (served_ < ends) {
        continue;
      }
      // The last prompt of a round is one of those of this iteration.
      const Seconds end = now_ - (served_ - ends) * each_;
      round_ = (end - began) / counted;
      if (++rounds > kWarmUp || event > kMostEvents / 2 ||
          distance(round_, before) < kSteady * round_) {
        break;
      }
      counted_.restart();
      if (rounds == kWarmUp) {
        counted = std::max(1.0, std::floor(kEnough / static_cast<double>(event + 1 - last)));
      }
      last = event + 1;
      ends += counted * places_;
      began = end;
      before = round_;
    }
    return result();
  }

 private:
  // Prompts that wait. The front end takes them in one after the other; a few count as one bundle.
  struct Waiting {
    double count = 0;
    Seconds sent;   // the clients sent them
    Seconds first;  // the scheduler has them, on average
  };
  // Sequences that decode together.
  struct Group {
    double count = 0;
    double ends = 0;  // iteration of the last token
    Seconds began;    // clients have the first token
  };
  struct Sample {
    Seconds value;
    double weight = 0;
  };

  // What happened since a round began.
  struct Round {
    double iterations = 0;
    double mixed = 0;  // of these, with prompts
    std::vector<Sample> ttft;
    std::vector<Sample> stays;  // from the first token to the last

    Round() {
      ttft.reserve(128);
      stays.reserve(128);
    }

    void restart() {
      iterations = mixed = 0;
      ttft.clear();
      stays.clear();
    }
  };

  void time_iterations() {
    const double most = decodes_ > 0.0 ? running_ : 0.0;
    if (most > 0.0) {
      double last = 0.0;
      for (const double share : {0.0, 0.25, 0.5, 1.0}) {
        const double b = std::max(1.0, std::round(micro(std::max(1.0, share * most))));
        if (b > last) {
          const IterationTime t = costs_.time(costs_.decode_batch(static_cast<std::int64_t>(b)));
          alone_.add(b, base::max(t.latency, stages_ * t.period));
          last = b;
        }
      }
    }
    const double decodes = first_ || clients_ <= 1.0 ? 0.0 : std::round(micro(0.9 * most));
    const auto d = static_cast<std::int64_t>(decodes);
    const Seconds without = d > 0 ? alone_(decodes) : Seconds{};
    whole_ = std::max(1.0, std::floor(budget(most) / prompt_));
    // A prompt that is cut fills an iteration.
    const bool cut = s_.serving->policy.chunked_prompts || prompt_ > budget(most);
    const double fits = std::min(cut ? budget(most) / prompt_ : whole_, std::max(ranks_, clients_));
    double last = 0.0;
    // What one rank takes of a long prompt, where there are several.
    const double part = ranks_ > 1.0 ? std::clamp(budget(most) / ranks_ / prompt_, 0.05, 1.0) : 1.0;
    const double few = cut ? 0.25 * std::min(1.0, fits) : part;
    for (const double n : {std::min(part, few), std::min(1.0, fits), std::sqrt(fits), fits}) {
      if (n > last) {
        const IterationTime t = costs_.time(costs_.prompts_of(d, n));
        extra_.add(n, base::max(Seconds{}, base::max(t.latency, stages_ * t.period) - without));
        last = n;
      }
    }
    if (!first_) {
      const IterationTime t = costs_.time(costs_.prompts_of(0, 1.0));
      empty_ = base::max(Seconds{}, base::max(t.latency, stages_ * t.period) - extra_(1.0));
    }
    follow(cut ? budget(most) / prompt_ : whole_);
    enough_ = ranks_ + 3.0 * std::max(1.0, budget(0.0) * per_token_) + 2.0;
    intake_ = intake() * front_share_;
    message_ = message_time() * front_share_ * s_.serving->speculation.tokens_per_iteration();
    overhead_ = s_.serving->stack.request_overhead;
  }

  // How many clients are followed, where `fit` prompts fill an iteration.
  void follow(double fit) {
    // Where prompts are cut, each rank has one.
    const double own = kApart * std::max({1.0, fit, ranks_ > 1.0 ? 0.5 * ranks_ : 1.0});
    const double most = std::max(1.0, decodes_ > 0.0 ? decodes_ / kLeastAnswer : clients_);
    places_ =
        std::max(1.0, std::round(running_ / std::clamp(running_ / (kMostOwn * own), 1.0, most)));
    share_ = running_ / places_;
    own_ = std::min(own, 0.5 * places_);
    others_ = (running_ - places_) / (places_ - own_);
    // All whole rounds of those that wait for a slot are alike: the last one is followed.
    const double wait = (clients_ - running_) / share_;
    const double last = std::fmod(wait, places_);
    followed_ = places_ + (last > own_ ? last : std::min(wait, last + places_));
    answer_ = decodes_;
    if (share_ > 1.0 && decodes_ > 0.0) {
      // Where prompts come in every iteration, what lies between two answers is a wait, and grows with the clients.
      const double waits = std::clamp(5.0 * running_ / (fit * decodes_) - 4.0, 0.0, 1.0);
      const double apart = (1.0 - waits) * own / fit;
      answer_ = std::max(1.0, std::round((decodes_ + apart) / share_ - apart));
    }
    bundle_ = std::max(1.0, std::floor(fit / kBundles));
  }

  // Tokens of a round of all micro-batches and ranks that b decodes leave to prompts.
  double budget(double b) const {
    const auto tokens = static_cast<double>(s_.serving->limits.max_tokens_per_iteration);
    const double taken = first_ ? 0.0 : b * query_;
    return std::max(1.0, ranks_ * stages_ * tokens - taken);
  }

  // Sequences of all clients that decode.
  double decoding() const {
    return b_ > 0.0 ? std::max(b_, running_ - between(places_ - b_)) : 0.0;
  }

  // Of all clients, where so many of the followed ones hold a slot and do not decode.
  double between(double followed) const {
    return followed + others_ * std::max(0.0, followed - own_);
  }

  // A division by one is left out.
  Seconds alone(double b) const {
    return b > 0.0 ? alone_(ways_ > 1.0 ? micro(b) : std::max(1.0, b)) : empty_;
  }

  // Prompts of clients that have their answers at `now`.
  void arrive(double count, Seconds now) {
    front_ = base::max(front_, now);
    while (count > 1e-9) {
      const double taken = std::min(count, bundle_);
      waiting_.push_back({taken, now, front_ + 0.5 * (taken + 1.0) * intake_ + overhead_});
      front_ += taken * intake_;
      count -= taken;
    }
  }

  // Prompts that the scheduler has, as far as there are slots. Only the first of very many are counted: prompts() takes
  // no more.
  double ready() const {
    const double free = places_ - b_;
    double count = 0.0;
    for (const Waiting& w : waiting_) {
      if (w.first > now_ || count >= enough_) {
        break;
      }
      count += w.count;
      if (count >= free) {
        return free;
      }
    }
    return count;
  }

  void step() {
    const double n = ready();
    if (n > 1e-6) {
      prompts(n);
      return;
    }
    const Seconds next = b_ >= places_ || waiting_.empty() ? kNever : waiting_.front().first;
    if (b_ <= 0.0) {
      now_ = base::max(now_, next);
      return;
    }
    // Iterations without prompts, until one arrives or a group ends.
    const double b = decoding();
    const Seconds t = alone(b);
    const double until = next > now_ ? std::ceil((next - now_) / t - 1e-9) : 1.0;
    const double count = std::max(1.0, std::min(until, groups_.front().ends - iteration_));
    now_ += count * t;
    iteration_ += count;
    counted_.iterations += count;
    send(count * b, b);
    end_groups();
  }

  // One iteration with prompts, or several that follow each other.
  void prompts(double n) {
    // Each prompt is on one attention-DP rank. Fewer prompts than ranks leave some of them without.
    const double used =
        ranks_ > 1.0 ? std::min(1.0, std::ceil(n) / ranks_) : 1.0;  // share of the ranks
    const double b = decoding();
    const double tokens = used * budget(b);
    const bool cut = s_.serving->policy.chunked_prompts || prompt_ > tokens;
    const double fit = cut ? tokens * per_token_ : std::floor(tokens * per_token_);
    double iterations = 1.0;
    if (fit < 1.0) {
      iterations = std::max(1.0, std::ceil((std::min(n, 1.0) - done_) / fit - 1e-9));
    }
    // `done_` is the share of the next prompt that is computed.
    const double reached = done_ + iterations * fit + 1e-9;
    double whole = reached >= n + 1.0 ? n : std::min(n, std::floor(reached));
    whole = std::max(whole, std::min(n, 1.0));
    const double share = std::min(n - done_, iterations * fit);  // prompts' worth of tokens
    done_ = n > whole && cut ? std::clamp(done_ + share - whole, 0.0, 0.999) : 0.0;
    const Seconds t = (first_ ? Seconds{} : alone(b)) +
                      extra_(std::max(iterations > 1.0 ? share / iterations : share, 0.01));
    now_ += iterations * t;
    counted_.mixed += iterations;
    counted_.iterations += iterations;
    if (!first_) {
      iteration_ += iterations;
    }
    send((first_ ? 0.0 : b) * iterations + whole, (first_ ? 0.0 : b) + whole);
    served_ += whole;
    each_ = iterations * t / whole;
    double left = whole;
    while (left > 1e-9) {
      Waiting& w = waiting_.front();
      const double taken = std::min(left, w.count);
      counted_.ttft.push_back({front_ - w.sent, taken});
      left -= taken;
      w.count -= taken;
      if (w.count <= 1e-9) {
        waiting_.pop_front();
      }
    }
    if (decodes_ > 0.0) {
      b_ += whole;
      groups_.push_back({whole, iteration_ + answer_, front_});
    } else {
      arrive(whole, front_);
    }
    end_groups();
  }

  // Messages of iterations that have ended, and of the last of them.
  void send(double tokens, double last) {
    front_ = base::max(front_ + (tokens - last) * message_, now_) + last * message_;
  }

  void end_groups() {
    while (!groups_.empty() && groups_.front().ends <= iteration_ + 1e-6) {
      const Group group = groups_.front();
      groups_.pop_front();
      b_ -= group.count;
      counted_.stays.push_back({front_ - group.began, group.count});
      arrive(group.count, front_);
    }
    if (b_ < 1e-9) {
      b_ = 0.0;
    }
  }

  // Samples that follow each other and are alike become one.
  static void add(std::vector<Sample>& samples, Sample sample) {
    if (samples.empty() ||
        distance(sample.value, samples.back().value) > kAlike * samples.back().value) {
      samples.push_back(sample);
      return;
    }
    Sample& into = samples.back();
    into.weight += sample.weight;
    into.value += sample.weight / into.weight * (sample.value - into.value);
  }

  // In the order of their values, alike ones as one.
  static std::vector<Sample> merged(const std::vector<Sample>& samples) {
    std::vector<Sample> alike;
    alike.reserve(samples.size());
    for (const Sample& sample : samples) {
      add(alike, sample);
    }
    std::sort(alike.begin(), alike.end(),
              [](const Sample& a, const Sample& b) { return a.value < b.value; });
    std::vector<Sample> sorted;
    sorted.reserve(alike.size());
    for (const Sample& sample : alike) {
      add(sorted, sample);
    }
    return sorted;
  }

  static Seconds mean_of(const std::vector<Sample>& samples) {
    Seconds sum;
    double weight = 0.0;
    for (const Sample& s : samples) {
      sum += s.value * s.weight;
      weight += s.weight;
    }
    return sum / weight;
  }

  SteadyState result() {
    for (Sample& stay : counted_.stays) {
      stay.value = stay.value / answer_;
    }
    // A wait for others is one for all that they stand for.
    for (Sample& first : counted_.ttft) {
      first.value += (share_ - 1.0) * base::max(Seconds{}, first.value - own_ * each_);
    }
    ttft_ = merged(counted_.ttft);
    tpot_ = merged(counted_.stays);
    if (tpot_.empty() && decodes_ > 0.0) {  // no answer ended: prompts without end
      tpot_.push_back({alone(std::max(1.0, decoding())) + extra_(whole_), 1.0});
    }
    if (ttft_.empty()) {
      ttft_.push_back({base::max(now_, extra_(1.0)), 1.0});
    }
    Solution found;
    SteadyState r;
    const base::SquareSeconds variance = prompt_variance();
    for (const Sample& s : ttft_) {
      found.first.add(s.weight, s.value, variance, {});
    }
    return finish(found, r);
  }

  // Of the time of a prompt by its own length.
  base::SquareSeconds prompt_variance() const {
    const Seconds own = extra_(1.0);
    return workloads::squared_variation(s_.traffic->input) * own * own;
  }

  SteadyState finish(Solution& found, SteadyState& r) {
    found.rate = round_ > Seconds{} ? places_ / round_ : Hertz{};
    LatencyMixture tpot;
    const double a_token =
        decodes_ > 0.0 ? decodes_ / static_cast<double>(s_.traffic->output_tokens - 1) : 0.0;
    const Seconds followed = mean_of(ttft_);
    Seconds stay;
    if (decodes_ > 0.0) {
      const Seconds interval = mean_of(tpot_);
      stay = interval * decodes_;
      if (round_ > Seconds{}) {
        const double apart = std::max(0.0, places_ - found.rate * interval * answer_);
        const double few = std::clamp(2.0 - apart / own_, 0.0, 1.0);
        stay += few * ((running_ - between(apart)) / found.rate - stay);
      }
    }
    if (round_ <= Seconds{}) {
      found.rate = clients_ / (followed + stay);
    }
    // The front end may be behind for rounds, while there are clients that wait.
    const Hertz most = 1.0 / ((intake() + messages()) * front_share_);
    if (found.rate > most) {
      stay = stay * (found.rate / most);
      found.rate = most;
    }
    const double scale = decodes_ > 0.0 ? a_token * (stay / (mean_of(tpot_) * decodes_)) : 0.0;
    for (const Sample& s : tpot_) {
      tpot.add(s.weight, scale * s.value, {}, {});
    }
    const Seconds first = base::max(Seconds{}, clients_ / found.rate - stay);  // Little's law
    found.first.shift(first - followed, {}, {});
    found.present = std::min(running_, found.rate * stay);
    found.running = running_;
    found.mean.interval = decodes_ > 0.0 ? stay / decodes_ : Seconds{};
    found.mean.first = extra_(1.0) + alone(found.present);
    const Seconds waited = base::max(
        Seconds{}, first - found.mean.first - s_.serving->stack.request_overhead - intake());
    (clients_ > slots_ ? found.slot : found.mean.waits) = waited;
    found.mean.first += found.mean.waits;
    found.mean.share = decodes_ > 0.0 ? counted_.mixed / std::max(1.0, counted_.iterations) : 1.0;
    report(found, found.first, tpot, r);
    r.end_to_end = clients_ / found.rate;  // Little's law
    const bool host = found.rate * (intake() + messages()) * front_share_ > kFrontEndBusy;
    r.tpot_limit = host ? Limit::host : r.tpot_limit;
    r.throughput_limit = host ? Limit::host : clients_ > running_ ? Limit::slots : r.tpot_limit;
    return r;
  }

  double prompt_ = 1;     // tokens of a prompt
  double per_token_ = 1;  // prompts
  Seconds empty_;         // of an iteration without decodes, beyond its prompts' share
  double whole_ = 1;      // prompts that fit in an iteration
  double query_ = 1;
  double ways_ = 1;      // ranks and stages that share the decodes
  double share_ = 1;     // clients that one followed client stands for
  double followed_ = 1;  // clients that are followed
  double places_ = 1;    // slots of these
  double answer_ = 1;    // decode iterations of their answers
  double own_ = 1;       // clients between two answers that stand for themselves alone
  double others_ = 0;    // clients that each further one stands for beside itself
  double enough_ = 1;    // prompts: more of them change nothing in the next iterations
  double bundle_ = 1;    // prompts that count as one arrival
  Seconds intake_;       // of a request
  Seconds message_;      // of a sequence's tokens of an iteration
  Seconds overhead_;     // of a request
  bool first_ = false;   // prompts run alone
  Line alone_;           // iteration of so many decodes of a micro-batch
  Line extra_;           // what so many prompts add

  Seconds now_;
  Seconds front_;         // when the front end is free
  double iteration_ = 0;  // iterations with decodes so far
  double b_ = 0;          // sequences that decode
  double done_ = 0;
  double served_ = 0;  // prompts
  Seconds each_;       // of those of the last iteration with prompts
  Round counted_;
  Seconds round_;             // that it took
  std::vector<Sample> ttft_;  // those of counted_, merged
  std::vector<Sample> tpot_;
  base::queueing::Fifo<Waiting> waiting_;
  base::queueing::Fifo<Group> groups_;
};

}  // namespace

SteadyState lockstep(const ScenarioView& scenario, double slots, Workspace& workspace) {
  return Solver(scenario, slots, workspace).solve();
}

}  // namespace roofcast::sim
