// SPDX-License-Identifier: Apache-2.0
#include "models/operators/anatomy.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace roofcast::models {
namespace {

using base::Seconds;

struct CauseText {
  std::string_view name;
  std::string_view meaning;
};
constexpr CauseText kTexts[kCauses] = {
    {"tensor", "products at the dense peak of the tensor cores"},
    {"kernel", "what the best kernels stay below that peak, at any size"},
    {"padding", "rows, columns and keys that only fill up tiles"},
    {"exponential", "exponentials, of attention or of decays"},
    {"vector", "FLOP outside the tensor cores, and addresses of rows"},
    {"few blocks", "too few thread blocks: SMs that have none"},
    {"wave tail", "SMs that wait for the last wave, or for the longest thread block"},
    {"serial k", "steps of a tile along k, which follow each other"},
    {"HBM", "bytes of device memory at the rate of a stream"},
    {"latency", "memory that waits because too few bytes are in flight"},
    {"L2", "bytes through the L2"},
    {"fill", "pipelines, tiles and thread blocks that start and end"},
    {"launch", "kernels that start"},
    {"host", "the host launches slower than the GPU runs"},
    {"power", "clocks that fall, or chips would draw more than their power limit"},
    {"link", "bytes through the scale-up port"},
    {"NIC", "bytes through the scale-out port"},
    {"hops", "steps of a collective, one after another"},
    {"straggler", "ranks that wait for the one with most work"},
    {"unexplained", "what measured kernels of this shape take beyond the model"},
};

// Terms that overlap, in the order of Cost.
constexpr Seconds Cost::*kOverlapped[] = {&Cost::compute, &Cost::dram, &Cost::l2, &Cost::network};

}  // namespace

std::string_view name(Cause cause) { return kTexts[static_cast<std::size_t>(cause)].name; }
std::string_view meaning(Cause cause) { return kTexts[static_cast<std::size_t>(cause)].meaning; }

void Anatomy::add(Seconds Cost::*term, Cause cause, std::string_view what, Seconds time) {
  if (time.si() != 0.0) {
    parts.push_back({term, cause, what, time});
  }
}

void Anatomy::add_products(base::Flops flop, base::FlopsPerSecond peak, base::FlopsPerSecond rate,
                           Cause by) {
  add(&Cost::compute, by, "products", flop / peak);
  add(&Cost::compute, Cause::kernel, "kernels below the peak", flop / rate - flop / peak);
}

void Anatomy::add_idle(base::Seconds Cost::*term, base::Seconds excess, const Machine& machine) {
  if (blocks < machine.sms) {
    add(term, Cause::few_blocks, "SMs without a thread block", excess);
  } else {
    add(term, Cause::wave_tail, "SMs that wait for the last thread blocks", excess);
  }
}

void Anatomy::add_dram(const Cost& cost, base::Bytes bytes, const Machine& machine) {
  const Seconds stream = base::min(cost.dram, bytes / machine.dram);
  if (machine.dram_behind_l2) {
    add(&Cost::dram, Cause::l2, "bytes of a memory that is faster than the L2", stream);
  } else {
    add(&Cost::dram, Cause::hbm, "bytes", stream);
  }
  add(&Cost::dram, Cause::latency, "bytes that nobody has asked for", cost.dram - stream);
}

void Anatomy::add_plan(const Plan& plan) {
  add(&Cost::launch, Cause::launch, "start of the collective", plan.overhead);
  add(&Cost::fill, Cause::hops, "hops", plan.hops);
  add(&Cost::network, plan.leaves ? Cause::nic : Cause::link, "bytes",
      plan.transfer - plan.waiting - plan.kernel);
  add(&Cost::network, Cause::latency, "bytes that no peer has asked for", plan.waiting);
  add(&Cost::network, Cause::kernel, "copies by a few SMs", plan.kernel);
}

std::vector<Share> shares_of(const Cost& cost, const Anatomy& anatomy, double p) {
  const double time = cost.time.si();
  const double body = (cost.time - cost.launch - cost.fill).si();
  if (!(time > 0.0)) {
    return {};
  }
  std::array<double, kCauses> seconds{};
  for (const Part& part : anatomy.parts) {
    const bool overlapped = std::find(std::begin(kOverlapped), std::end(kOverlapped), part.term) !=
                            std::end(kOverlapped);
    const double weight = overlapped ? std::pow((cost.*part.term).si() / body, p - 1.0) : 1.0;
    seconds[static_cast<std::size_t>(part.cause)] += weight * part.time.si();
  }
  std::vector<Share> shares;
  shares.reserve(kCauses);
  for (std::size_t c = 0; c < seconds.size(); ++c) {
    if (seconds[c] > 0.0) {
      shares.push_back({static_cast<Cause>(c), seconds[c] / time});
    }
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const Share& a, const Share& b) { return a.share > b.share; });
  return shares;
}

Cause verdict_of(const std::vector<Share>& shares, double share_of_peak) {
  const auto found = std::find_if(shares.begin(), shares.end(), [&](const Share& s) {
    return s.cause != Cause::tensor || share_of_peak > 0.5;
  });
  return found != shares.end() ? found->cause : Cause::launch;
}

}  // namespace roofcast::models
