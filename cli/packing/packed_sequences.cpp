// SPDX-License-Identifier: Apache-2.0
#include "cli/packing/packed_sequences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/csv/csv.hpp"
#include "base/integers.hpp"
#include "cli/tables/text_table.hpp"

namespace roofcast::cli {
namespace {

using base::as_double;
using Json = nlohmann::ordered_json;
using Lengths = std::vector<std::int64_t>;

std::int64_t as_count(std::size_t size) { return static_cast<std::int64_t>(size); }

void add_reason(const std::string& reason, PackedSequences& p) {
  p.reason += (p.reason.empty() || reason.empty() ? "" : "; ") + reason;
}

Lengths lengths_of(const base::Bin& bin, const Lengths& lengths) {
  Lengths own;
  for (const std::size_t item : bin.items) {
    own.push_back(lengths[item]);
  }
  return own;
}

std::vector<sim::Iteration> iterations_of(const base::Bins& bins, const Lengths& lengths) {
  std::vector<sim::Iteration> iterations;
  iterations.reserve(bins.size());
  for (const base::Bin& bin : bins) {
    iterations.push_back(sim::iteration_of(lengths_of(bin, lengths)));
  }
  return iterations;
}

double tokens_per_second(const PackedSequences& p, const PackedWay& way) {
  return as_double(p.tokens) / way.time.si();
}

double above_the_fewest(const PackedSequences& p, const PackedWay& way) {
  return as_double(way.bins) / as_double(p.fewest) - 1.0;
}

// Adds a way to pack, with its times if the engine can compute the bins. `lengths` are those that it computes.
std::vector<base::Seconds> add_way(const std::string& name, const base::Bins& bins,
                                   const Lengths& lengths, PackedSequences& p) {
  PackedWay way{name, as_count(bins.size()), fill_of(bins, p.question.capacity)};
  way.padding = 1.0 - way.fill.mean;
  for (const base::Bin& bin : bins) {
    p.most_in_a_bin = std::max(p.most_in_a_bin, as_count(bin.items.size()));
  }
  std::vector<base::Seconds> times;
  if (p.timed) {
    auto timed = p.question.engine->times(iterations_of(bins, lengths));
    way.time = timed.all;
    times = std::move(timed.batches);
  }
  p.ways.push_back(std::move(way));
  return times;
}

// Every sequence that fits in a bin, padded to the longest of these.
void add_padded(PackedSequences& p) {
  const SequenceQuestion& q = p.question;
  Lengths padded = q.lengths;
  for (std::int64_t& length : padded) {
    length = std::max(length, p.longest);
  }
  base::Bins bins = packed(padded, q.capacity, "kept", 1).bins;
  add_way("padded", bins, padded, p);
  for (base::Bin& bin : bins) {
    const Lengths own = lengths_of(bin, q.lengths);
    bin.size = std::accumulate(own.begin(), own.end(), std::int64_t{0});
  }
  p.ways.back().fill = fill_of(bins, q.capacity);
  p.ways.back().padding =
      1.0 - as_double(p.tokens) / (as_double(p.longest) * as_double(p.sequences));
}

}  // namespace

PackedSequences pack_sequences(SequenceQuestion question) {
  PackedSequences p;
  p.question = std::move(question);
  const SequenceQuestion& q = p.question;
  for (const std::int64_t length : q.lengths) {
    if (length <= q.capacity) {
      ++p.sequences;
      p.tokens += length;
      p.longest = std::max(p.longest, length);
    }
  }
  p.left_out = as_count(q.lengths.size()) - p.sequences;
  if (p.left_out > 0) {
    add_reason(
        fmt::format(
            "longer than a bin of {} tokens and left out: {} of {} sequences, the longest has {}",
            grouped(q.capacity), grouped(p.left_out), grouped(as_count(q.lengths.size())),
            grouped(*std::max_element(q.lengths.begin(), q.lengths.end()))),
        p);
  }
  if (p.sequences == 0) {
    return p;
  }
  p.fewest = base::ceil_div(p.tokens, q.capacity);
  if (q.engine != nullptr) {
    const std::string misfit = q.engine->misfit(q.capacity, p.longest);
    p.timed = misfit.empty();
    add_reason(misfit, p);
  }
  for (const std::string& order : kOrders) {
    base::Bins bins = packed(q.lengths, q.capacity, order, q.window).bins;
    std::vector<base::Seconds> times = add_way(order, bins, q.lengths, p);
    if (order == q.order) {
      p.bins = std::move(bins);
      p.times = std::move(times);
    }
  }
  add_padded(p);
  if (p.timed && p.most_in_a_bin > q.engine->most_sequences()) {
    add_reason(fmt::format("a bin has {} sequences, the engine runs {} at once "
                           "(serving.max_sequences)",
                           grouped(p.most_in_a_bin), grouped(q.engine->most_sequences())),
               p);
  }
  return p;
}

std::string text_of(const PackedSequences& p) {
  const SequenceQuestion& q = p.question;
  std::string text;
  if (!p.ways.empty()) {
    text = fmt::format(
        "{} sequences of {} tokens on average, the longest {}, in bins of {} tokens\n"
        "{} tokens need at least {} bins\n\n",
        grouped(p.sequences), display(as_double(p.tokens) / as_double(p.sequences), ""),
        grouped(p.longest), grouped(q.capacity), grouped(p.tokens), grouped(p.fewest));
    std::vector<std::string> header = {"order",     "bins",       "above the least",
                                       "mean fill", "least fill", "padding"};
    if (q.engine != nullptr) {
      header.insert(header.end(), {"time", "tokens/s"});
    }
    TextTable table(header);
    for (const PackedWay& way : p.ways) {
      std::vector<std::string> row = {
          q.window > 1 && way.name == "kept" ? fmt::format("kept, window {}", q.window) : way.name,
          grouped(way.bins),
          share_text(above_the_fewest(p, way)),
          share_text(way.fill.mean),
          share_text(way.fill.least),
          share_text(way.padding)};
      if (q.engine != nullptr) {
        row.insert(row.end(),
                   {display(way.time.si(), "s"), display(tokens_per_second(p, way), "")});
      }
      table.add(std::move(row));
    }
    text += table.text() + (p.reason.empty() ? "" : "\n");
  }
  return p.reason.empty() ? text : text + fmt::format("does not fit: {}\n", p.reason);
}

Json json_of(const PackedSequences& p) {
  const SequenceQuestion& q = p.question;
  Json json = {{"fits", p.reason.empty()}, {"reason", p.reason},     {"sequences", p.sequences},
               {"left_out", p.left_out},   {"tokens", p.tokens},     {"longest_tokens", p.longest},
               {"bin_tokens", q.capacity}, {"least_bins", p.fewest}, {"window", q.window},
               {"orders", Json::object()}};
  for (const PackedWay& way : p.ways) {
    json["orders"][way.name] = {{"bins", way.bins},
                                {"above_least_share", above_the_fewest(p, way)},
                                {"fill_mean", way.fill.mean},
                                {"fill_least", way.fill.least},
                                {"padding_share", way.padding},
                                {"time_s", way.time.si()},
                                {"input_tok_per_s", tokens_per_second(p, way)}};
  }
  return json;
}

void write_csv(const PackedSequences& p, const std::string& file) {
  base::CsvWriter csv(std::filesystem::path(file),
                      {"bin", "sequences", "tokens", "fill", "longest_tokens", "time_s", "items"});
  for (std::size_t i = 0; i < p.bins.size(); ++i) {
    const base::Bin& bin = p.bins[i];
    const Lengths own = lengths_of(bin, p.question.lengths);
    csv.append(i);
    csv.append(bin.items.size());
    csv.append(bin.size);
    csv.append(as_double(bin.size) / as_double(p.question.capacity));
    csv.append(*std::max_element(own.begin(), own.end()));
    csv.append(p.times.empty() ? NAN : p.times[i].si());
    csv.append(fmt::format("{}", fmt::join(bin.items, " ")));
    csv.end_row();
  }
  csv.close();
}

}  // namespace roofcast::cli
