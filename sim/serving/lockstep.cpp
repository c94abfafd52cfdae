// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/lockstep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/queueing/fifo.hpp"
#include "base/queueing/time_samples.hpp"

#include "sim/serving/lockstep_costs.hpp"
#include "sim/serving/lockstep_front_end.hpp"

namespace roofcast::sim {
namespace {

using base::Hertz;
using base::Seconds;

constexpr int kWarmUp = 2;         // rounds before the one that counts, at most
constexpr double kSteady = 0.001;  // difference of two rounds that are alike
constexpr int kMostEvents = 4000;
constexpr double kEnough = 64;          // events of rounds that count
constexpr double kMostOwn = 8;          // followed clients for each between two answers
constexpr double kLeastAnswer = 8;      // iterations of a followed client's answer
constexpr double kApart = 4;            // iterations between two answers of a client, about
constexpr double kBundles = 4;          // arrivals of an iteration, or of a quarter of the places
constexpr double kFullRounds = 2;       // that count, where the cache is full at times
constexpr double kCoarseBundles = 1.5;  // the same, where the front end keeps up
constexpr double kScarcePlaces = 64;    // clients that are followed where many wait for the cache
constexpr double kBehind = 0.65;        // of an iteration, that the front end works for it
constexpr int kLongWarmUp = 8;          // rounds, where it may fall behind
constexpr double kFollowed = 800;       // iterations with prompts of a round there, at most
constexpr double kPreempted = 0.04;     // of the sequences, at once
constexpr Seconds kNever = Seconds::infinity();
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

Seconds distance(Seconds a, Seconds b) { return base::max(a - b, b - a); }

class Lockstep : LockstepCosts {
 public:
  // `cache`: tokens of a rank, if sequences in step may fill it.
  Lockstep(const ScenarioView& s, double slots, double cache, Workspace& workspace)
      : LockstepCosts(s, slots, workspace),
        cache_(ranks_ * cache),
        limited_(cache_ < kNoLimit),
        ahead_(s.serving->policy.plans_ahead && s.mapping->pipeline_parallel == 1) {
    input_ = static_cast<double>(s.traffic->input_tokens);
    per_token_ = 1.0 / prompt_;
    follow(fits_);
    enough_ = ranks_ + 3.0 * std::max(1.0, budget(0.0) * per_token_) + 2.0;
    front_.set(intake() * front_share_, message(), s.serving->stack.request_overhead);
  }

  SteadyState solve() {
    front_.arrive(followed_, {});
    double ends = places_;  // prompts served at the end of a round
    Seconds began;          // of the round
    Seconds before;         // that the round before took
    int rounds = 0;
    const int warm_up = behind_ ? kLongWarmUp : kWarmUp;
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
      if (++rounds > warm_up || event > kMostEvents / 2 ||
          (!full_ && !behind_ && distance(round_, before) < kSteady * round_)) {
        break;
      }
      counted_.restart();
      front_.restart();
      if (rounds == warm_up) {
        counted = std::max(full_ ? kFullRounds : 1.0,
                           std::floor(kEnough / static_cast<double>(event + 1 - last)));
      }
      last = event + 1;
      ends += counted * places_;
      began = end;
      before = round_;
    }
    return result();
  }

 private:
  // Sequences that decode together.
  struct Group {
    double count = 0;
    double ends = 0;  // iteration of the last token
    Seconds began;    // clients have the first token
  };
  // Sequences that were preempted. Their tokens are computed again.
  struct Preempted {
    double count = 0;
    double tokens = 0;
    double left = 0;  // iterations of the answer
    Seconds began;
  };
  // What happened since a round began.
  struct Round {
    double iterations = 0;
    double mixed = 0;  // of these, with prompts
    Seconds time;
    Seconds present;  // of all sequences, from their first tokens to their last
    Seconds lost;     // of these, preempted
    double prompts = 0;
    Seconds sending;  // of these: from the end of the iteration to the client
    base::TimeSamples ttft;
    base::TimeSamples stays;  // from the first token to the last

    Round() {
      ttft.reserve(128);
      stays.reserve(128);
    }

    void restart() {
      iterations = mixed = prompts = 0;
      time = present = lost = sending = Seconds{};
      ttft.clear();
      stays.clear();
    }
  };

  // Time of the front end for a sequence's tokens of an iteration.
  Seconds message() const {
    return message_time() * front_share_ * s_.serving->speculation.tokens_per_iteration();
  }

  // Whether the front end may fall behind the iterations, without prompts or with `fit` of them.
  bool falls_behind(double fit) const {
    if (decodes_ <= 0.0) {
      return false;
    }
    const Seconds messages = running_ * message();
    const Seconds t = alone(running_);
    return messages > kBehind * t ||
           messages + fit * intake() * front_share_ > kBehind * (t + extra(fit));
  }

  // How many clients are followed, where `fit` prompts fill an iteration.
  void follow(double fit) {
    // Where prompts are cut, each rank has one.
    const double own = kApart * std::max({1.0, fit, ranks_ > 1.0 ? 0.5 * ranks_ : 1.0});
    const double most = std::max(1.0, decodes_ > 0.0 ? decodes_ / kLeastAnswer : clients_);
    const bool scarce = running_ * held_tokens(s_) > cache_;  // sequences wait for the cache
    const double enough = scarce ? kScarcePlaces : kMostOwn * own;
    behind_ = falls_behind(fit);
    const double alike = behind_ ? running_ / (kFollowed * fit) : running_ / enough;
    places_ = std::max(1.0, std::round(running_ / std::clamp(alike, 1.0, most)));
    share_ = running_ / places_;
    own_ = scarce ? 0.0 : std::min(own, 0.5 * places_);
    others_ = (running_ - places_) / (places_ - own_);
    // All whole rounds of those that wait for a slot are alike: the last one is followed.
    const double wait = (clients_ - running_) / share_;
    const double last = std::fmod(wait, places_);
    followed_ = places_ + (last > own_ ? last : std::min(wait, last + places_));
    answer_ = decodes_;
    if (share_ > 1.0 && decodes_ > 0.0) {
      // Where prompts come in every iteration, what lies between two answers is a wait, and grows with the clients.
      const double waits = std::clamp(5.0 * running_ / (fit * decodes_) - 4.0, 0.0, 1.0);
      const double apart = own_ > 0.0 ? (1.0 - waits) * own / fit : 0.0;
      answer_ = std::max(1.0, std::round((decodes_ + apart) / share_ - apart));
    }
    const double bundles = behind_ ? kBundles : kCoarseBundles;
    front_.bundle(std::max(1.0, std::floor(std::min(fit, places_ / kBundles) / bundles)));
    grown_ = decodes_ / answer_;
  }

  // Sequences of all clients that decode.
  double decoding() const {
    return b_ > 0.0 ? std::max(b_, running_ - between(places_ - b_)) : 0.0;
  }

  // Of all clients, where so many of the followed ones hold a slot and do not decode.
  double between(double followed) const {
    return followed + others_ * std::max(0.0, followed - own_);
  }

  // Prompts that the scheduler has, as far as there are slots, and no more than prompts() takes.
  double ready() const {
    const double free = places_ - b_;
    const Seconds known = ahead_ && b_ > 0.0 ? planned_ : now_;
    return std::min(free, front_.ready(known, std::min(free, enough_)));
  }

  // Tokens in the KV cache.
  double held(double b) const { return b_ > 0.0 ? held_ * b / b_ : 0.0; }
  // Sequences of so many tokens that the cache has room for, beside the next token of those that decode.
  double room_for(double tokens, double b) const {
    const double each = b_ >= places_ - own_ ? 1.0 : 1.0 + others_;
    return b_ > 0.0 ? (cache_ - held(b) - b * grown_) / (each * tokens) : kNoLimit;
  }

  void step() {
    const double b = decoding();
    if (!preempted_.empty() && room_for(preempted_.back().tokens, b) >= preempted_.back().count) {
      resume(b);
      return;
    }
    const double waits = preempted_.empty() ? ready() : 0.0;
    const double n = limited_ ? std::min(waits, std::floor(room_for(input_, b))) : waits;
    full_ = full_ || n < waits;
    if (n > 1e-6) {
      prompts(n, b);
      return;
    }
    const bool closed =
        b_ >= places_ || front_.nobody_waits() || waits > 0.0 || !preempted_.empty();
    const Seconds t = alone(b);
    // No message comes before these intakes.
    front_.take_in(closed || b_ <= 0.0 ? kNever : now_ + t);
    const bool intake = !closed && front_.sent() < front_.first();
    const Seconds next = closed ? kNever : intake ? front_.sent() : front_.first();
    if (b_ <= 0.0) {
      now_ = base::max(now_, next);
      return;
    }
    // Iterations without prompts, until one arrives or a group ends.
    const double arrives = next > now_ ? std::ceil((next - now_) / t - 1e-9) : 0.0;
    const double until = arrives + (ahead_ && !intake ? 1.0 : 0.0);
    double count = std::max(1.0, std::min(until, groups_.front().ends - iteration_));
    if (limited_) {
      const double full = std::floor((cache_ - held(b)) / (b * grown_));
      if (full < 1.0 && b_ > quantum()) {
        preempt();
        return;
      }
      count = std::max(1.0, std::min(count, full));
    }
    without_ = first_ ? Seconds{} : t;
    pass(count, t, b);
    decode(count);
    counted_.iterations += count;
    front_.send(count * b, b, now_);
    end_groups();
  }

  // One iteration with prompts, or several that follow each other; b decodes.
  void prompts(double n, double b) {
    // Each prompt is on one attention-DP rank. Fewer prompts than ranks leave some of them without.
    const double used =
        ranks_ > 1.0 ? std::min(1.0, std::ceil(n) / ranks_) : 1.0;  // share of the ranks
    const double tokens = used * budget(b);
    const bool cut = s_.serving->policy.chunked_prompts || prompt_ > tokens;
    const double fit = cut ? tokens * per_token_ : std::floor(tokens * per_token_);
    double iterations = 1.0;
    if (fit < 1.0) {
      iterations = std::max(1.0, std::ceil((std::min(n, 1.0) - done_) / fit - 1e-9));
    }
    const double reached = done_ + iterations * fit + 1e-9;
    double whole = reached >= n + 1.0 ? n : std::min(n, std::floor(reached));
    whole = std::max(whole, std::min(n, 1.0));
    const double share = std::min(n - done_, iterations * fit);  // prompts' worth of tokens
    done_ = n > whole && cut ? std::clamp(done_ + share - whole, 0.0, 0.999) : 0.0;
    without_ = beside_prompts(b);
    const Seconds t =
        mixed(std::max(iterations > 1.0 ? share / iterations : share, 0.01), b, without_);
    run_mixed(iterations, t, b, whole);
    served_ += whole;
    each_ = iterations * t / whole;
    front_.leave(whole, [this](Seconds sent, double count) {
      counted_.ttft.push_back({front_.free() - sent, count});
    });
    counted_.prompts += whole;
    counted_.sending += whole * (front_.free() - now_);
    if (decodes_ > 0.0) {
      join({whole, input_, answer_, front_.free()});
    } else {
      front_.arrive(whole, now_);
    }
    end_groups();
  }

  void pass(double iterations, Seconds t, double b) {
    const Seconds time = iterations * t;
    planned_ = now_ + time - t;
    now_ += time;
    if (limited_) {
      counted_.time += time;
      counted_.present += (b + lost_ * (1.0 + others_)) * time;
      counted_.lost += lost_ * (1.0 + others_) * time;
    }
  }

  void decode(double iterations) {
    iteration_ += iterations;
    held_ += iterations * b_ * grown_;
  }

  // Iterations with prompts, each of time t, and b decodes unless prompts run alone. So many get their first tokens.
  void run_mixed(double iterations, Seconds t, double b, double firsts) {
    pass(iterations, t, b);
    counted_.mixed += iterations;
    counted_.iterations += iterations;
    const double beside = first_ ? 0.0 : b;
    if (!first_) {
      decode(iterations);
    }
    front_.send(beside * iterations + firsts, beside + firsts, now_);
  }

  void join(const Preempted& sequences) {
    b_ += sequences.count;
    held_ += sequences.count * sequences.tokens;
    groups_.push_back({sequences.count, iteration_ + sequences.left, sequences.began});
  }

  // Sequences that are preempted at once.
  double quantum() const { return std::max(1.0 / share_, kPreempted * b_); }

  // The newest sequences lose their place in the cache.
  void preempt() {
    full_ = true;
    Group& newest = groups_.back();
    const double left = newest.ends - iteration_;
    const double count = std::min(quantum(), newest.count);
    const double tokens = input_ + grown_ * (answer_ - left);
    preempted_.push_back({count, tokens, left, newest.began});
    b_ -= count;
    lost_ += count;
    held_ -= count * tokens;
    newest.count -= count;
    if (newest.count <= 1e-9) {
      groups_.pop_back();
    }
  }

  // The tokens of those that were preempted last are computed again.
  void resume(double b) {
    const Preempted again = preempted_.back();
    preempted_.pop_back();
    lost_ -= again.count;
    const double share = again.count * again.tokens * per_token_;  // prompts' worth of tokens
    const double iterations = std::max(1.0, std::ceil(share / (budget(b) * per_token_) - 1e-9));
    without_ = beside_prompts(b);
    run_mixed(iterations, mixed(share / iterations, b, without_), b, again.count);
    join(again);
    end_groups();
  }

  void end_groups() {
    while (!groups_.empty() && groups_.front().ends <= iteration_ + 1e-6) {
      const Group group = groups_.front();
      groups_.pop_front();
      b_ -= group.count;
      held_ -= group.count * (input_ + decodes_);
      counted_.stays.push_back({front_.free() - group.began, group.count});
      front_.arrive(group.count, now_ + without_);
    }
    if (b_ < 1e-9) {
      b_ = held_ = 0.0;
    }
  }

  SteadyState result() {
    for (base::TimeSample& stay : counted_.stays) {
      stay.value = stay.value / answer_;
    }
    // A wait for others is one for all that they stand for.
    for (base::TimeSample& first : counted_.ttft) {
      first.value += (share_ - 1.0) * base::max(Seconds{}, first.value - own_ * each_);
    }
    base::merge(counted_.ttft);
    base::merge(counted_.stays);
    if (counted_.stays.empty() && decodes_ > 0.0) {  // no answer ended: prompts without end
      counted_.stays.push_back({both(whole_, std::max(1.0, decoding())), 1.0});
    }
    if (counted_.ttft.empty()) {
      counted_.ttft.push_back({base::max(now_, mixed(1.0, 0.0)), 1.0});
    }
    Solution found;
    SteadyState r;
    return finish(found, r);
  }

  SteadyState finish(Solution& found, SteadyState& r) {
    found.rate = round_ > Seconds{} ? places_ / round_ : Hertz{};
    LatencyMixture tpot(counted_.stays.size());
    const double a_token =
        decodes_ > 0.0 ? decodes_ / static_cast<double>(s_.traffic->output_tokens - 1) : 0.0;
    const Seconds followed = mean_of(counted_.ttft);
    Seconds stay;
    if (decodes_ > 0.0) {
      const Seconds interval = mean_of(counted_.stays);
      stay = interval * decodes_;
      if (full_) {  // Little's law: rounds are not alike
        found.rate = counted_.present / counted_.time / stay;
      } else if (round_ > Seconds{} && own_ > 0.0) {
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
    const double scale =
        decodes_ > 0.0 ? a_token * (stay / (mean_of(counted_.stays) * decodes_)) : 0.0;
    for (const base::TimeSample& s : counted_.stays) {
      tpot.add(s.weight, scale * s.value, {}, {});
    }
    const Seconds first = base::max(Seconds{}, clients_ / found.rate - stay);  // Little's law
    const double shorter = std::min(1.0, first / followed);
    const Seconds later = base::max(Seconds{}, first - followed);
    const base::SquareSeconds variance =
        workloads::squared_variation(s_.traffic->input) * extra(1.0) * extra(1.0);
    LatencyMixture firsts(counted_.ttft.size());
    for (const base::TimeSample& s : counted_.ttft) {
      firsts.add(s.weight, shorter * s.value + later, variance, {});
    }
    found.present = std::min(running_, found.rate * stay);
    found.present *= full_ ? 1.0 - counted_.lost / counted_.present : 1.0;
    found.running =
        std::max(found.present, std::min(running_, std::floor(cache_ / held_tokens(s_))));
    found.interval = decodes_ > 0.0 ? stay / decodes_ : Seconds{};
    const Seconds iterations = both(1.0, found.present);
    const double prompts = std::max(1.0, counted_.prompts);
    found.sending = counted_.sending / prompts;
    found.first = iterations + found.sending;
    const Seconds waited = base::max(Seconds{}, first - found.first - front_.mean_intake());
    (clients_ > slots_ ? found.slot : found.waits) = waited;
    found.first += found.waits;
    found.share = decodes_ > 0.0 ? counted_.mixed / std::max(1.0, counted_.iterations) : 1.0;
    report(found, firsts, tpot, r);
    r.end_to_end = clients_ / found.rate;  // Little's law
    r.throughput_limit = r.front_end_is_full() ? Limit::host
                         : clients_ > running_ ? Limit::slots
                                               : r.tpot_limit;
    return r;
  }

  double cache_;          // tokens that the KV cache holds; infinite: it never fills
  bool limited_;          // it may fill
  double input_ = 0;      // tokens of a sequence that begins to decode
  double grown_ = 1;      // tokens of a sequence in an iteration that is followed
  double per_token_ = 1;  // prompts
  double share_ = 1;      // clients that one followed client stands for
  double followed_ = 1;   // clients that are followed
  double places_ = 1;     // slots of these
  double answer_ = 1;     // decode iterations of their answers
  double own_ = 1;        // clients between two answers that stand for themselves alone
  double others_ = 0;     // clients that each further one stands for beside itself
  double enough_ = 1;     // prompts: more of them change nothing in the next iterations
  bool behind_ = false;   // the front end falls behind
  bool ahead_;            // iterations are planned ahead
  Seconds now_;
  Seconds without_;       // least time of an iteration
  Seconds planned_;       // start of the last iteration, when the next one was planned
  double iteration_ = 0;  // iterations with decodes so far
  double b_ = 0;          // sequences that decode
  double held_ = 0;       // their tokens
  double lost_ = 0;       // sequences that are preempted
  bool full_ = false;     // the cache was full
  double done_ = 0;       // share of the next prompt that is computed
  double served_ = 0;     // prompts
  Seconds each_;          // of those of the last iteration with prompts
  Round counted_;
  Seconds round_;  // that it took
  LockstepFrontEnd front_;
  base::queueing::Fifo<Group> groups_;
  std::vector<Preempted> preempted_;  // the last is the first to run again
};

}  // namespace

SteadyState lockstep(const ScenarioView& s, double max_running, Workspace& workspace) {
  const double cache = max_running * held_tokens(s);  // tokens of a rank
  const auto input = static_cast<double>(s.traffic->input_tokens);
  const double clients = static_cast<double>(s.traffic->concurrency) /
                         static_cast<double>(s.serving->replicas * s.mapping->data_parallel);
  const bool reserved = s.serving->policy.reserves == workloads::Reservation::request;
  const double all = std::min(clients, static_cast<double>(s.serving->limits.max_sequences)) *
                     (input + static_cast<double>(s.traffic->output_tokens));
  const bool fills = !reserved && s.mapping->data_parallel == 1 && all > cache;
  const double slots = std::max(1.0, std::floor(fills ? cache / input : max_running));
  return Lockstep(s, slots, fills ? cache : kNoLimit, workspace).solve();
}

}  // namespace roofcast::sim
