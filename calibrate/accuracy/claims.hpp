// SPDX-License-Identifier: Apache-2.0
//
// What others published of models and servers, and how roofcast computes the same: data, one file a topic.
//
//   section: 2                                   # where on the page
//   page: runs                                   # docs/runs.md or mlperf; without it, docs/workloads.md
//   title: Nemotron 3
//   source: "NVIDIA-NeMo/Nemotron@e27b371 …"     # of claims that name none
//   loads:
//     reasoning:                                 # a scenario, or the best of several
//       base: {system: hgx_h200, model: …, traffic: {…}}
//       axes: {traffic.concurrency: [16, 64, 256]}              # as a sweep's; the best value counts
//       where: ['tpot_mean_s <= 0.05']
//       metric: throughput_tok_per_s_per_gpu
//       whole_run: true                          # simulated: all traffic.requests are there at once, until the last is answered
//   claims:
//     - claim: Nano over Qwen3-30B-A3B
//       conditions: 8K in, 16K out, one H200
//       published: 3.3                           # with published_to: a range
//       unit: x
//       ours: {load: reasoning, set: {model: nemotron-3-nano-30b-a3b}}
//       over: {set: {model: qwen3-30b-a3b}}      # a ratio: what it leaves out is as in ours
//       reason: …                                # where the difference is more than 20 %, and only there
//   not_computed:
//     - {claim: …, published: …, because: …}
//
// A figure (ours, over) is one of
//   load       a metric of it; or `operators`, the time of those operators (names, or beginnings that end in *)
//              in one pass of the load, pass: decode or prefill
//   row        one row of a table of measured operators (calibrate/operators/operator_rows.hpp), its kind and columns
//   count      of a model in a precision, those of a load or of `set`: total_parameters, active_parameters, weights_b,
//              cache_b_per_token, state_b_per_sequence; of traffic.agents, means of a task:
//              prompt_tokens_per_task, answer_tokens_per_task, tools_s_per_task
//   number     itself
// `set` changes knobs of the scenario, or columns of the row; `times` is a factor.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/document/catalog.hpp"
#include "base/document/fields.hpp"
#include "sim/decide/sweep.hpp"

namespace roofcast::calibrate {

// The best of a sweep's points; a sweep without axes is one scenario.
struct BestOf {
  sim::Sweep sweep;
  std::string metric;
};
// Output tokens over the time of the whole run, on each GPU.
struct WholeRunOf {
  base::Node scenario;
};
struct TimeOf {
  base::Node scenario;
  std::vector<std::string> operators;
  bool prompts = false;  // of the pass that carries prompts
};
struct RowOf {
  std::string kind;
  std::vector<std::pair<std::string, std::string>> cells;  // by column
};
enum class Count {
  total_parameters,
  active_parameters,
  weights_b,
  cache_b_per_token,
  state_b_per_sequence,
  prompt_tokens_per_task,
  answer_tokens_per_task,
  tools_s_per_task
};
struct CountOf {
  Count count = Count::total_parameters;
  base::Node scenario;  // model and precision, or traffic
};

struct Figure {
  std::variant<double, BestOf, WholeRunOf, TimeOf, RowOf, CountOf> of;
  double times = 1.0;
};

struct Claim {
  std::string claim;
  std::string conditions;
  std::string source;
  double least = 0.0;  // published, in the unit
  double most = 0.0;
  std::string unit;
  double unit_si = 1.0;
  Figure ours;
  std::optional<Figure> over;
  std::string reason;  // of a difference of more than kExplained
  std::string fitted;  // what of ours was fitted to the same run; empty: nothing
};
inline constexpr double kExplained = 0.2;

struct NotComputed {
  std::string claim;
  std::string published;
  std::string source;
  std::string because;
};

// docs/workloads.md, docs/runs.md, docs/mlperf.md
enum class ClaimsPage : std::uint8_t { workloads, runs, mlperf };

struct Claims {
  ClaimsPage page = ClaimsPage::workloads;
  std::int64_t section = 0;
  std::string title;
  std::vector<Claim> claims;
  std::vector<NotComputed> not_computed;
};

base::Catalog claim_catalog();

// Throws InputError with every problem of the document's form.
Claims read_claims(const base::Node& document);

struct Computed {
  double value = 0.0;       // in the claim's unit; NaN where it cannot be
  double difference = 0.0;  // value / published − 1, 0 within a published range
  // 90 % interval of the value, of a load whose metric has one and that is no ratio; NaN: none
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
  std::string
      how;  // what was divided by what, at which point of the axes; or why there is no value
};
// Throws InputError where a scenario is bad input.
Computed compute(const Claim& claim);

}  // namespace roofcast::calibrate
