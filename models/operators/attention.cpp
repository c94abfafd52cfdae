// SPDX-License-Identifier: Apache-2.0
#include "models/operators/attention.hpp"

#include <algorithm>
#include <cmath>

#include "models/operators/anatomy.hpp"
#include "models/work.hpp"

namespace roofcast::models {
namespace {

using base::Seconds;

constexpr double kQueryTile = 64.0;     // rows of queries that a CTA owns
constexpr double kKeyBlock = 128.0;     // keys that a CTA takes at a time
constexpr double kLeastKeys = 16.0;     // the fewest, where there is no room for more
constexpr double kLeastQueries = 16.0;  // the fewest rows that a CTA owns
constexpr double kCtasPerSm = 2.0;      // the most CTAs an SM for which a context is split
constexpr double kBlocksOnTheirWay = 2.0;
constexpr double kEndElements = 512.0;  // qk + value of a head that doubles the ends of a CTA
constexpr double kWarmShare = 0.66;    // share of the L2 that an iteration leaves to its repetition
constexpr double kWarmEviction = 3.0;  // bytes evicted by each byte beyond that share

// FLOP/s that the tensor cores reach with a cache of this format. `efficiency` is their share of the peak in bf16.
double tensor_rate(const Machine& machine, base::NumberFormat cache, double efficiency) {
  const base::MathType math = machine.attention_math(cache);
  const double fp8 =
      math == base::MathType::fp8 ? machine.calibration.attention_fp8_efficiency : 1.0;
  return efficiency * fp8 * machine.peak[static_cast<std::size_t>(math)].si();
}

// Bytes that a repeated iteration of `bytes` finds in the L2.
base::Bytes found_in_l2(base::Bytes bytes, const Machine& machine) {
  const base::Bytes kept = kWarmShare * machine.l2_capacity;
  return bytes <= kept ? bytes : base::max(base::Bytes{}, kept - kWarmEviction * (bytes - kept));
}

double bytes_of_key(const workloads::AttentionHeads& h) {
  return base::byte_count(static_cast<double>(h.cache_elements) / static_cast<double>(h.kv_heads),
                          h.cache);
}

// Whether the shared memory holds the queries of so many CTAs and the least blocks of keys and values.
bool feeds(const workloads::AttentionHeads& h, const TileRoom& room, double rows, double ctas) {
  const double queries =
      room.feeds_instructions
          ? base::byte_count(ctas * rows * static_cast<double>(h.qk_dim), h.cache)
          : 0.0;
  return queries + kBlocksOnTheirWay * kLeastKeys * bytes_of_key(h) <= room.shared;
}

// Rows of queries that a CTA owns.
double owned_queries(const workloads::AttentionHeads& h, const Machine& machine) {
  const TileRoom& room = machine.tile_room;
  const double row = kSumBytes * (static_cast<double>(h.value_dim) + kLeastKeys);
  double rows = kQueryTile;
  while (rows > kLeastQueries && (!feeds(h, room, rows, 1.0) || rows * row > room.sums)) {
    rows *= 0.5;
  }
  return rows;
}

// CTAs of a decode that an SM runs at once.
double at_once(const workloads::AttentionHeads& h, const Machine& machine) {
  return feeds(h, machine.tile_room, owned_queries(h, machine), kCtasPerSm) ? kCtasPerSm : 1.0;
}

// FLOP of one block of keys.
double block_flop(const workloads::AttentionHeads& h) {
  return 2.0 * static_cast<double>(h.qk_dim + h.value_dim) * kQueryTile * kKeyBlock;
}

// Keys that a CTA takes at a time, where it has room for the scores and for two blocks of keys beside the queries.
double taken_keys(const workloads::AttentionHeads& h, double rows, const Machine& machine) {
  const TileRoom& room = machine.tile_room;
  const double queries = base::byte_count(rows * static_cast<double>(h.qk_dim), h.cache);
  const auto value = static_cast<double>(h.value_dim);
  double keys = kKeyBlock;
  while (keys > kLeastKeys && (queries + kBlocksOnTheirWay * keys * bytes_of_key(h) > room.shared ||
                               kSumBytes * rows * (keys + value) > room.sums)) {
    keys *= 0.5;
  }
  return keys;
}

// Thread blocks of which an SM runs `per_sm` at once. A thread block sums up the scores of a block of keys, and outputs;
// it loads its queries and one block of keys and values.
void describe(Anatomy& a, double blocks, double per_sm, const workloads::AttentionHeads& h,
              const Machine& machine) {
  const auto value = static_cast<double>(h.value_dim);
  const auto key = static_cast<double>(h.qk_dim);
  a.tile_rows = owned_queries(h, machine);
  a.tile_columns = taken_keys(h, a.tile_rows, machine);
  a.sums_bytes = kSumBytes * a.tile_rows * (a.tile_columns + value);
  a.step_bytes = base::byte_count(a.tile_rows * key, h.cache) + a.tile_columns * bytes_of_key(h);
  a.blocks = blocks;
  a.blocks_per_sm = per_sm;
  a.waves = blocks / (per_sm * machine.sms);
  a.busy = std::min(1.0, blocks / machine.sms);
}

void finish(Cost& cost, const Work& work, const Machine& machine) {
  cost.flop = work.flop;
  cost.dram_bytes = work.bytes;
  combine(cost, machine.calibration.overlap_exponent);
}

}  // namespace

// visible       keys    mean that a query sees
// heads         –       heads of all sequences
// reach         keys    width of the window; on both sides for bidirectional attention
// longest       keys    of the longest CTA; a window adds one block that it only touches
// products      s       one block of keys with all tensor cores of the chip
// exponentials  s       the same with all exponential units
// block, ends   s       on one SM
Cost prefill_attention_cost(const workloads::PrefillAttention& op, const Machine& machine,
                            Anatomy* anatomy) {
  const Work work = prefill_attention_work(op);
  const hardware::Calibration& c = machine.calibration;
  const auto& h = op.heads;
  const auto queries = static_cast<double>(op.new_tokens);
  const double visible = attended_pairs(h, op.new_tokens, op.cached_tokens) / queries;
  const auto heads = static_cast<double>(op.sequences * h.query_heads);
  const double ctas = heads * std::ceil(queries / owned_queries(h, machine));
  const double reach = (h.bidirectional ? 2.0 : 1.0) * static_cast<double>(h.window);
  const double longest = std::min(static_cast<double>(op.new_tokens + op.cached_tokens),
                                  h.window > 0 ? reach + kKeyBlock : 1e18);
  const double products = block_flop(h) / tensor_rate(machine, workloads::multiplied(op),
                                                      c.attention_tensor_efficiency);
  const double exponentials = kQueryTile * kKeyBlock / machine.exponential.si();
  const double block = machine.sms * (std::max(products, exponentials) +
                                      c.exposed_softmax * std::min(products, exponentials));
  const double ends = c.prefill_cta_clocks / machine.clock.si();
  Cost cost;
  cost.launch = c.launch;
  cost.fill = c.attention_fill_trips * machine.dram_latency + c.prefill_fill_clocks / machine.clock;
  cost.compute =
      Seconds::from_si(ctas / machine.sms * ((visible / kKeyBlock + 0.5) * block + ends) +
                       longest / kKeyBlock * block + ends);
  // Padded queries load nothing, so tiles that are not full keep fewer SMs busy.
  const double loading = heads * std::max(1.0, queries / kQueryTile);
  cost.dram = work.bytes / machine.dram_rate(loading);
  finish(cost, work, machine);
  if (anatomy != nullptr) {
    Anatomy& a = *anatomy;
    // Of products and exponentials the shorter one is seen as far as it is exposed.
    const bool longer = products >= exponentials;
    const double seen = products * (longer ? 1.0 : c.exposed_softmax);
    const double steps = ctas * (visible / kKeyBlock + 0.5);  // of all SMs together
    const double useful = visible * queries * heads / (kQueryTile * kKeyBlock);
    const base::FlopsPerSecond peak =
        machine.peak[static_cast<std::size_t>(machine.attention_math(workloads::multiplied(op)))];
    describe(a, ctas, 1.0, h, machine);
    a.add_products(useful * block_flop(h) * base::flop, peak / (longer ? 1.0 : c.exposed_softmax),
                   base::FlopsPerSecond::from_si(block_flop(h) / seen));
    a.add(&Cost::compute, Cause::exponential, "exponentials",
          Seconds::from_si(useful * (block / machine.sms - seen)));
    a.add(&Cost::compute, Cause::padding, "masked keys and padded queries",
          Seconds::from_si((steps - useful) * block / machine.sms));
    a.add_idle(&Cost::compute, Seconds::from_si(longest / kKeyBlock * block), machine);
    a.busy = steps / (steps + longest / kKeyBlock * machine.sms);
    a.add(&Cost::compute, Cause::fill, "thread blocks that start and end",
          Seconds::from_si((ctas / machine.sms + 1.0) * ends));
    a.add(&Cost::fill, Cause::fill, "kernel that starts and ends", cost.fill);
    a.loading = loading;
    a.add_dram(cost, work.bytes, machine);
  }
  return cost;
}

// keys          –  keys that one query sees
// groups        –  (sequence, KV head) pairs
// rows          –  query rows that share a KV head
// tiles         –  tiles of 64 rows, or of the rows owned, of one KV head: each is walked by CTAs of its own
// most          –  CTAs that may share a context
// splits        –  CTAs that share the context of one tile
// loading       –  CTAs that load from DRAM: the tiles of one KV head find each other's keys in the L2
// resident      –  CTAs that an SM runs at once
// per_sm        –  CTAs an SM
// ended         –  CTAs of an SM whose ends count
// products      s  all products with all tensor cores of the chip
// exponentials  s  all exponentials with all exponential units
// ends          clocks  of one CTA
Cost decode_attention_cost(const workloads::DecodeAttention& op, const Machine& machine,
                           Anatomy* anatomy) {
  Work work = decode_attention_work(op);
  const hardware::Calibration& c = machine.calibration;
  const auto& h = op.heads;
  const double keys = visible_keys(h, op.context);
  const auto sequences = static_cast<double>(op.sequences);
  const double groups = sequences * static_cast<double>(h.kv_heads);
  const double rows = static_cast<double>(h.query_heads / h.kv_heads * op.query_tokens);
  const double tiles = std::ceil(rows / owned_queries(h, machine));
  const double resident = at_once(h, machine);
  const double most = shares_latent(h) ? c.decode_latent_splits : resident * machine.sms;
  const double splits = std::max(1.0, std::min({keys / c.decode_keys_per_split,
                                                resident * machine.sms / (groups * tiles), most}));
  const double loading = groups * splits;
  const double ctas = loading * tiles;
  const double per_sm = ctas / machine.sms;
  const double ended = std::max(1.0, per_sm * kCtasPerSm / resident);
  const double products = 2.0 * static_cast<double>(h.qk_dim + h.value_dim) * groups * tiles *
                          kQueryTile * keys /
                          tensor_rate(machine, h.cache, c.decode_tensor_efficiency);
  // Of several tiles the fullest one sets the pace.
  const double paced = tiles > 1.0 ? tiles * kQueryTile : rows;
  const double exponentials = paced * groups * keys / machine.exponential.si();
  const double ends =
      c.decode_cta_clocks * (1.0 + static_cast<double>(h.qk_dim + h.value_dim) / kEndElements);
  Cost cost;
  cost.launch = 2.0 * c.launch;
  cost.fill = c.attention_fill_trips * machine.dram_latency + c.decode_fill_clocks / machine.clock;
  cost.compute = Seconds::from_si((products + exponentials) / std::min(1.0, per_sm)) +
                 ended * ends / machine.clock;
  const base::Bytes cache =
      sequences * base::bytes_of(keys * static_cast<double>(h.cache_elements), h.cache);
  const base::Bytes ramp =
      base::min(cache, c.decode_ramp_bytes_per_sm * machine.measured_sms * base::byte);
  cost.l2 = (work.bytes + ramp) / machine.l2;
  cost.dram = (cache + ramp) / machine.dram_rate(loading) + (work.bytes - cache) / machine.dram;
  if (op.repeated) {
    const double missed = 1.0 - found_in_l2(work.bytes, machine) / work.bytes;
    cost.dram *= missed;
    work.bytes *= missed;
  }
  finish(cost, work, machine);
  if (anatomy != nullptr) {
    Anatomy& a = *anatomy;
    const base::FlopsPerSecond peak =
        machine.peak[static_cast<std::size_t>(machine.attention_math(h.cache))];
    const double rate = tensor_rate(machine, h.cache, c.decode_tensor_efficiency);
    describe(a, ctas, resident, h, machine);
    a.split = splits;
    a.kernels = 2.0;
    a.add_products(work.flop, peak, base::FlopsPerSecond::from_si(rate));
    a.add(&Cost::compute, Cause::padding, "rows that only fill up tiles",
          Seconds::from_si(products - work.flop.si() / rate));
    a.add(&Cost::compute, Cause::exponential, "exponentials", Seconds::from_si(exponentials));
    a.add_idle(&Cost::compute,
               Seconds::from_si((products + exponentials) * (1.0 / std::min(1.0, per_sm) - 1.0)),
               machine);
    a.add(&Cost::compute, Cause::fill, "thread blocks that start and end",
          ended * ends / machine.clock);
    a.add(&Cost::fill, Cause::fill, "kernels that start and end", cost.fill);
    a.add(&Cost::l2, Cause::l2, "keys and values", cost.l2);
    a.loading = loading;
    a.add_dram(cost, work.bytes, machine);
  }
  return cost;
}

}  // namespace roofcast::models
