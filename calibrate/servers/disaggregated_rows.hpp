// SPDX-License-Identifier: Apache-2.0
//
// Rows of serving_silicon.csv that were measured on two pools of workers (mode "disagg").
//
//   workers         those a row records, or the list of single runs has (calibrate/conventions/published_runs.yaml). Else the
//                   published configuration of
//                   its year, stack, chip, precision, lengths and concurrency, of those with its widths
//                   (calibrate/conventions/disaggregated.yaml): one that does not speculate if there is one, of
//                   several the one with the fewest GPUs
//   widths          a pool's tp_size, or the GPUs of the whole deployment in each (run.widths); "1" says nothing
//   experts         a recorded worker's moe_ep
//   speculation     not recorded. A row speculates when all configurations of its clients do. Where some do, the list of
//                   single runs tells; else the row may speculate. Those with recorded or listed workers did not: none is
//                   of a concurrency that only speculating ones have
//   concurrency     the vendor's, where it is missing: decode batch · attention DP · workers
//   decode limits   the recipe's batch, often fewer sequences than there are clients; where none is
//                   published, run.decode_sequences
//
// No measured time of a row tells its deployment, nor does another row. `run.` is what
// calibrate/conventions/server_rows.yaml sets. The servers' other settings:
// calibrate/conventions/servers.yaml.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv/csv.hpp"
#include "calibrate/servers/published_deployments.hpp"
#include "calibrate/servers/row_settings.hpp"
#include "workloads/serving/deployment.hpp"
#include "workloads/serving/serving.hpp"

namespace roofcast::calibrate {

struct DisaggregatedServer {
  workloads::Pools pools;
  std::int64_t concurrency = 0;
  bool may_speculate = false;       // some of its configurations do
  bool listed_workers = false;      // the list of single runs told them
  bool listed_speculation = false;  // it told whether the row speculates
  std::string reason;               // why its deployment is not known; empty when it is
};

class DisaggregatedRows {
 public:
  // CsvError when a column is missing.
  explicit DisaggregatedRows(const base::CsvTable& table);
  // `facts` as of calibrate/conventions/servers.yaml. Sets `year`, `decode_ranks` and `draft_tokens`.
  DisaggregatedServer row(std::size_t row, Facts& facts);

 private:
  struct Columns {
    std::size_t workers, tp, attention_dp, moe_tp, moe_ep;
  };
  Columns columns_of(std::string_view pool) const;
  std::int64_t count(std::size_t row, std::size_t column) const;  // 0 when empty
  workloads::Pool recorded(std::size_t row, const Columns& columns,
                           const RowSettings& settings) const;
  // Nothing where some configurations of the row's clients do, and some do not.
  std::optional<bool> speculates(std::size_t row,
                                 const std::vector<PublishedDeployment>& deployments) const;
  // The published deployment of a row, with the workers given if any are; nullptr when there is none.
  const PublishedDeployment* find(std::size_t row, const Facts& facts, const RowSettings& settings,
                                  const workloads::Pools* workers, DisaggregatedServer& server);

  const base::CsvTable& table_;
  std::size_t concurrency_, date_, decode_batch_;
  Columns prefill_, decode_;
  RowConventions conventions_;
  PublishedDeployments deployments_;
  PublishedRuns runs_;
};

}  // namespace roofcast::calibrate
