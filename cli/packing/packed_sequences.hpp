// SPDX-License-Identifier: Apache-2.0
//
// Sequences packed into bins of tokens, by every order of cli/packing/packing_order.hpp and padded to the longest.
//
//   symbol   meaning                                              unit
//   C        capacity of a bin                                    tokens
//   n, L     sequences that are packed, and the longest of them   –, tokens
//   Σ        tokens of these sequences                            tokens
//   B        bins                                                 –
//
//   at least  B ≥ ⌈Σ / C⌉
//   packed    fill Σ/(B·C), padding 1 − Σ/(B·C): a bin of fixed shape is padded to C
//   padded    ⌊C/L⌋ sequences in a bin, each padded to L: fill Σ/(B·C), padding 1 − Σ/(n·L)
//
// With an engine each bin is a batch of prompts (sim/replay/prompt_batches.hpp). A packed bin takes the time of its own
// tokens, a padded one the time of n·L. A sequence longer than C is left out: the answer does not fit, and says why.
#pragma once

#include <cmath>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/packing/packing_order.hpp"
#include "sim/replay/prompt_batches.hpp"

namespace roofcast::cli {

struct SequenceQuestion {
  std::vector<std::int64_t> lengths;
  std::int64_t capacity = 0;
  std::string order;  // whose bins are written
  std::size_t window = 1;
  sim::PromptBatches* engine = nullptr;  // nullptr: no times
};

struct PackedWay {
  std::string name;
  std::int64_t bins = 0;
  Fill fill;
  double padding = 0.0;
  base::Seconds time = base::Seconds::from_si(NAN);
};

struct PackedSequences {
  SequenceQuestion question;
  std::string reason;         // why something does not fit; empty: all fits
  std::int64_t left_out = 0;  // sequences
  std::int64_t sequences = 0;
  std::int64_t tokens = 0;
  std::int64_t longest = 0;
  std::int64_t fewest = 0;         // bins
  std::int64_t most_in_a_bin = 0;  // sequences, of any way
  bool timed = false;              // there is an engine that can compute the bins
  std::vector<PackedWay> ways;     // none where nothing is packed
  // The bins of the order that was asked for; items are positions in the question's lengths.
  base::Bins bins;
  std::vector<base::Seconds> times;  // of these bins; none without an engine
};

PackedSequences pack_sequences(SequenceQuestion question);

std::string text_of(const PackedSequences& packed);
nlohmann::ordered_json json_of(const PackedSequences& packed);
void write_csv(const PackedSequences& packed, const std::string& file);

}  // namespace roofcast::cli
