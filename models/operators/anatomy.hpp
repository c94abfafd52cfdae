// SPDX-License-Identifier: Apache-2.0
//
// What a kernel does with its time: the terms of its Cost, cut into parts that each have one cause.
//
// The models of operators fill an Anatomy on request, from the same numbers as the Cost. So the parts of a term add up
// to the term, and there is no second model.
//
//   time = launch + fill + B,  B = (Σ tᵖ)^(1/p)      over t = compute, dram, l2, network (models/cost.hpp)
//
// Overlapped terms share B by how much each one counts: term t has B·(t/B)ᵖ = t·(t/B)^(p−1). That is t·∂B/∂t, so the
// shares add up to the time (Euler, for a function of degree 1). A share is then the elasticity of the time: a cause
// with a share of 30 % that gets 1 % shorter makes the kernel 0.3 % faster.
//
//   cause         what the time is for                                                 part of the term
//   tensor        FLOP at the dense peak of the datasheet                               compute
//   kernel        what the best kernels stay below that peak, at any size               compute
//   padding       rows, columns and keys that only fill up tiles                        compute
//   exponential   exponentials of attention                                             compute
//   vector        FLOP outside the tensor cores, and addresses of rows                  compute
//   few blocks    SMs that have no thread block                                         compute, l2
//   wave tail     SMs that wait for the last wave, or for the longest thread block      compute, l2
//   serial k      steps of a tile along k, which follow each other                      compute
//   HBM           bytes of device memory at the rate of a stream                        dram
//   latency       memory that waits because too few bytes are in flight (Little's law)  dram, network
//   L2            bytes through the L2                                                  l2, fill
//   fill          pipelines, tiles and thread blocks that start and end                 fill, compute
//   launch        kernels that start, and the start of a collective                     launch, fill
//   host          the host launches slower than the GPU runs: only in eager mode        –
//   power         clocks that fall at the power limit (sim/result/causes.hpp)           –
//   link          bytes through the scale-up port                                       network
//   NIC           bytes through the scale-out port, where these take longer             network
//   hops          steps of a collective, one after another                              fill
//   straggler     ranks that wait for the one with most work (sim/result/causes.hpp)    –
//   unexplained   what measured kernels of this shape take beyond the model             –
//
// A correction (models/operators/correction.hpp) that makes a kernel slower is unexplained: nobody knows which part is
// longer. One that makes it faster shortens every part alike, but for products at the peak, which cannot take less.
//
// Symbols: t, B in seconds; p is overlap_exponent of the calibration.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/units/quantity.hpp"
#include "models/cost.hpp"
#include "models/machine.hpp"

namespace roofcast::models {

enum class Cause : std::uint8_t {
  tensor,
  kernel,
  padding,
  exponential,
  vector,
  few_blocks,
  wave_tail,
  serial_depth,
  hbm,
  latency,
  l2,
  fill,
  launch,
  host,
  power,
  link,
  nic,
  hops,
  straggler,
  unexplained,
};
inline constexpr int kCauses = 20;
std::string_view name(Cause cause);     // "wave tail"
std::string_view meaning(Cause cause);  // a sentence without a full stop

// A part of one term of a Cost.
struct Part {
  base::Seconds Cost::*term = &Cost::fill;
  Cause cause = Cause::fill;
  std::string_view what;  // "epilogue"; a literal
  base::Seconds time;
};

// One way to run a collective.
struct Plan {
  Algorithm algorithm = Algorithm::none;
  base::Seconds overhead;  // L·l + L': beyond the launch
  base::Seconds hops;
  base::Seconds transfer;
  base::Seconds waiting = {};  // of the transfer: too few bytes are in flight
  base::Seconds kernel = {};   // of the transfer: kernels that copy slower than the port
  bool leaves = false;         // what leaves the scale-up domain takes the transfer's time
  base::Bytes sent = {};       // of deduplicated: by one rank, what it forwards included
  base::Seconds total() const { return overhead + hops + transfer; }
};

// How a kernel runs. Zero means that the model of the operator has no such thing.
struct Anatomy {
  double tile_rows = 0;      // of the output of one thread block; queries of attention
  double tile_columns = 0;   // the same; keys of one step of attention
  double split = 1;          // parts of k, or of a context
  double blocks = 0;         // thread blocks of the main kernel
  double blocks_per_sm = 1;  // at once
  double waves = 0;          // of thread blocks: full ones and a share of the last
  double busy = 1;           // share of the time of the SMs in which they have a thread block
  double kernels = 1;        // launched
  double loading = 0;        // thread blocks that load different bytes of device memory
  double sums_bytes = 0;     // of a thread block: what it adds up, in fp32
  double step_bytes = 0;     // of a thread block: operands of one step of its main loop
  double buffer_bytes = 0;   // of a thread block: operands on their way (models/tile_room.hpp)
  double sectors = 0;  // that a request of a warp takes, of 32 bytes; 0: every byte of them is used
  double needed_sectors = 0;  // that its bytes fill
  double correction = 1;      // corrected time / physical time
  // Those of a term add up to the term, or to the term / correction where that is more than 1.
  std::vector<Part> parts;
  std::vector<Plan> plans;  // of a collective, fastest first

  // Nothing where the time is 0.
  void add(base::Seconds Cost::*term, Cause cause, std::string_view what, base::Seconds time);
  // Products of tensor cores, or of vector units: at the dense peak, and what the kernels take longer than that at `rate`.
  void add_products(base::Flops flop, base::FlopsPerSecond peak, base::FlopsPerSecond rate,
                    Cause by = Cause::tensor);
  // SMs without work: `excess` of a term beyond what all SMs together take.
  void add_idle(base::Seconds Cost::*term, base::Seconds excess, const Machine& machine);
  // A collective that runs so: its hops, its transfer and its overhead.
  void add_plan(const Plan& plan);
  // The dram term of `bytes`: the time of a stream, and the rest.
  void add_dram(const Cost& cost, base::Bytes bytes, const Machine& machine);
};

// A cause with its share of the time.
struct Share {
  Cause cause = Cause::fill;
  double share = 0.0;
};
// The shares of all causes that there are, greatest first. They add up to 1.
std::vector<Share> shares_of(const Cost& cost, const Anatomy& anatomy, double overlap_exponent);

// What a kernel is limited by: the greatest share. It is the tensor cores only where they reach more than half of their
// dense peak: else it is the greatest share of the others.
Cause verdict_of(const std::vector<Share>& shares, double share_of_peak);

}  // namespace roofcast::models
