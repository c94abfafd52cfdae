// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/saturation.hpp"

#include <algorithm>
#include <cmath>

#include "workloads/traffic/even_sample.hpp"

namespace roofcast::sim {
namespace {

using base::Hertz;
using base::Seconds;

constexpr std::size_t kPacked = 200;  // lengths that are packed
constexpr int kFewer = 12;            // numbers of decodes that are tried
constexpr double kFewerRatio = 1.12;  // of one to the next
constexpr double kDip = 1.03;         // the best rate over that with all slots taken, at most
constexpr double kVaries = 0.25;      // of the prompts of an iteration
constexpr int kHalvings = 10;

class Saturated {
 public:
  Saturated(const ScenarioView& s, IterationCosts& costs, ReplicaSlots slots)
      : s_(s),
        costs_(costs),
        slots_(slots),
        ranks_(static_cast<double>(s.mapping->data_parallel)),
        stages_(static_cast<double>(s.mapping->pipeline_parallel)),
        prompt_(std::max(1.0,
                         static_cast<double>(s.traffic->input_tokens - s.traffic->cached_tokens))) {
    const workloads::Lengths& lengths = s.traffic->input;
    longer_ = std::llround(0.5 * workloads::squared_variation(lengths) *
                           static_cast<double>(s.traffic->input_tokens));
    if (lengths.shape == workloads::Lengths::Shape::fixed) {
      prompts_.assign(1, prompt_);
    } else {
      base::Random random(1, "saturation");
      prompts_ = workloads::even_lengths(lengths, s.traffic->input_tokens, kPacked, random);
      for (double& tokens : prompts_) {
        tokens = std::max(1.0, tokens - static_cast<double>(s.traffic->cached_tokens));
      }
    }
  }

  Hertz best() {
    if (slots_.decodes <= 0.0) {
      const double fit = fitting(0.0);
      return fit / with_prompts(0.0, fit).period;
    }
    double most = slots_.slots;
    if (!at(most).possible) {
      double least = std::min(1.0, most);
      for (int i = 0; i < kHalvings; ++i) {
        const double middle = std::sqrt(least * most);
        (at(middle).possible ? least : most) = middle;
      }
      most = least;
    }
    const Hertz full = at(most).rate;
    Hertz best = full;
    for (int i = 1; i < kFewer; ++i) {
      best = base::max(best, at(most * std::pow(kFewerRatio, -i)).rate);
    }
    return base::min(best, kDip * full);
  }

 private:
  struct Rate {
    Hertz rate;
    bool possible = true;
  };

  Rate at(double decodes) {
    const double in_flight = std::min(decodes, stages_);
    const double each = std::max(1.0, decodes / (ranks_ * stages_));
    const double begin = decodes / (in_flight * slots_.decodes);
    const bool first = costs_.prompts_first();
    const double fit = fitting(first ? 0.0 : each);
    const IterationTime alone = costs_.decode(each);
    const double random = 1.0 - std::exp(-begin * std::max(1.0, 1.0 / fit));
    const double share = std::max(random, begin / fit);
    // Their number varies.
    const double usual = std::min(fit, begin / share);
    const double varies = std::min(kVaries, fit / usual - 1.0);
    const double beside = first ? 0.0 : each;
    const IterationTime fewer = with_prompts(beside, (1.0 - varies) * usual);
    const IterationTime more = with_prompts(beside, (1.0 + varies) * usual);
    const IterationTime with{0.5 * (fewer.latency + more.latency),
                             0.5 * (fewer.period + more.period)};
    // A decode iteration, and those with prompts between two of them.
    const double all = first ? 1.0 + share : 1.0;
    const double fast = 1.0 - std::min(1.0, share / all);
    const double slow = 1.0 - (stages_ > 1.0 ? fast * fast : fast);
    const Seconds gap =
        all * (alone.period + slow * base::max(Seconds{}, with.period - alone.period));
    const Seconds interval = base::max(gap + (alone.latency - alone.period), in_flight * gap);
    const Hertz rate = decodes / (slots_.decodes * interval);
    const Seconds own = std::max(1.0, 1.0 / fit) * with.latency;
    return {rate, (first || begin <= fit) && decodes + rate * own <= std::max(2.0, slots_.slots)};
  }

  IterationTime with_prompts(double decodes, double count) {
    workloads::Batch batch = costs_.prompts_of(std::llround(decodes), count);
    batch.cached_tokens += longer_;
    return costs_.time(batch);
  }

  // M(D)
  double fitting(double decodes) {
    const double room =
        static_cast<double>(s_.serving->limits.max_tokens_per_iteration) -
        std::round(decodes) * static_cast<double>(s_.serving->speculation.query_tokens());
    return ranks_ * packed(std::max(1.0, room));
  }

  double packed(double room) const {
    if (s_.serving->policy.chunked_prompts) {
      return room / prompt_;
    }
    const auto budget = static_cast<double>(s_.serving->limits.max_tokens_per_iteration);
    double iterations = 0.0;
    double left = 0.0;
    for (std::size_t i = 0; i < kPacked; ++i) {
      double tokens = prompts_[i % prompts_.size()];
      if (tokens <= budget && tokens > left) {
        left = 0.0;
      }
      const double more = std::ceil(std::max(0.0, tokens - left) / room);
      iterations += more;
      left += more * room - tokens;
    }
    return static_cast<double>(kPacked) / iterations;
  }

  const ScenarioView& s_;
  IterationCosts& costs_;
  ReplicaSlots slots_;
  double ranks_;
  double stages_;
  double prompt_;            // tokens, mean new tokens
  std::int64_t longer_ = 0;  // tokens before them: as many pairs as prompts that vary have
  std::vector<double> prompts_;
};

}  // namespace

Hertz saturation_of(const ScenarioView& s, IterationCosts& costs, ReplicaSlots slots) {
  return Saturated(s, costs, slots).best();
}

}  // namespace roofcast::sim
