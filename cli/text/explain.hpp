// SPDX-License-Identifier: Apache-2.0
//
// Where the time of an iteration goes, operator by operator: as text, JSON, and CSV.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "models/operators/anatomy.hpp"
#include "sim/estimate.hpp"
#include "workloads/graph/layer_calls.hpp"

namespace roofcast::cli {

// One operator of an iteration, over all its runs.
struct OperatorRow {
  std::string name;
  std::string category;
  std::string format;  // the multiplier's number format; empty when it multiplies nothing
  double count = 0;
  double time_s = 0;
  double low_s = 0;  // 90 % interval of it
  double high_s = 0;
  bool overlapped = false;  // runs beside the operator before it, whose time is not in time_s
  double flop = 0;
  double bytes = 0;          // device memory
  double message_bytes = 0;  // sent to other ranks
  std::string bound;
  std::vector<models::Share> shares;  // the causes of one run, greatest first
  models::Cause limited_by = models::Cause::launch;
  std::string algorithm;
  std::string runner_up;  // of a collective: the next best algorithm
  double runner_up_time_s = 0;
  double start_s = 0;  // parts of time_s: kernels and library, hops, bytes through the port
  double hops_s = 0;
  double transfer_s = 0;
  double light_s =
      0;  // at the datasheet's rates: the longest of FLOP, bytes of memory, bytes of a link
  double intensity() const { return bytes > 0.0 ? flop / bytes : 0.0; }
};

struct PhaseRows {
  std::string name;   // "decode iteration", "decode iteration, first pass of the draft", …
  std::string batch;  // in words
  double time_s = 0;  // of one run
  std::int64_t runs = 1;
  double clock = 1;                    // of the full one
  std::vector<models::Share> shares;   // the causes of its time, greatest first
  std::vector<OperatorRow> operators;  // in the order they run; host time last
  workloads::LayerCalls layers;        // which of them are of which layer; without runs: not known
};

// The iterations behind an estimate: decodes alone, and decodes with prompts; after each the passes of a draft, if there
// is one.
std::vector<PhaseRows> explain(const sim::ScenarioView& scenario,
                               const sim::ServingEstimate& estimate);

std::string explain_text(const sim::ScenarioView& scenario, const sim::ServingEstimate& estimate);
nlohmann::ordered_json explain_json(const sim::ScenarioView& scenario,
                                    const sim::ServingEstimate& estimate);
void print_operators_csv(const sim::ScenarioView& scenario, const sim::ServingEstimate& estimate);

}  // namespace roofcast::cli
