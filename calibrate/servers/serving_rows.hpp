// SPDX-License-Identifier: Apache-2.0
//
// Measured servers as scenarios: what a row of serving_silicon.csv asks roofcast to forecast.
//
// The table gathers dumps of InferenceX and of a vendor, each with its own conventions. This is all
// that is known of a row:
//
//   parallel sizes  InferenceX knows a width TP, an expert-parallel size EP of 1 or TP, and whether
//                   attention is data-parallel over the width. Its dumps write that three ways:
//                     tp_size=TP adp=1 (or tp_size=1 adp=TP)      moe_tp=TP/EP  moe_ep=EP
//                     tp_size·adp=TP·EP, one of them 1            moe_tp=TP     moe_ep=EP
//                     tp_size=TP adp=TP                           moe_tp=1      moe_ep=TP·EP
//                   so that "tp_size 64" is TP 8, EP 8 on one node of eight GPUs; where a row's
//                   id tells TP and EP (…_tp8_ep8_…), it agrees. The vendor's rows are tp_size,
//                   moe_tp and moe_ep as they stand; where moe_tp·moe_ep is more than tp_size, or
//                   the batch of a rank is concurrency/width, attention is data-parallel over the
//                   rest.
//   concurrency     of one replica; vendor's rows that name adp but have batch_size·adp below the
//                   concurrency counted several replicas, whose share is batch_size·adp.
//   two pools       calibrate/servers/disaggregated_rows.hpp, in clusters of the chip
//   client          ten requests a client (`run.requests`), all clients' first at once
//
// Which rows are InferenceX's, and what else a row's source says of its columns: calibrate/conventions/server_rows.yaml.
// How the servers were run otherwise: calibrate/conventions/servers.yaml. A row's model and chip
// are those that the catalog knows by the table's names.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/csv/csv.hpp"
#include "calibrate/platforms/chip_platforms.hpp"
#include "calibrate/servers/disaggregated_rows.hpp"
#include "calibrate/servers/server_settings.hpp"
#include "sim/estimate.hpp"
#include "sim/scenario/scenario.hpp"
#include "workloads/traffic/request_stream.hpp"

namespace roofcast::calibrate {

struct MeasuredServer {
  std::string model;  // catalog ids; the table's words where there is none
  std::string chip;
  std::string stack;
  bool may_speculate = false;   // not recorded, and nothing else tells
  bool listed_workers = false;  // as of DisaggregatedServer
  bool listed_speculation = false;
  bool began_cold = false;  // its first requests were the server's first
  bool held_back = false;  // of a configuration that only judges: model, chip, stack, precision, TP
  double ttft_ms = 0.0;    // means
  double tpot_ms = 0.0;    // of one_token() it says nothing
  std::string reason;      // why it is no scenario; empty when it is one

  const sim::Platform* platform = nullptr;  // shared by rows; owned by ServingRows
  const workloads::Architecture* architecture = nullptr;
  const workloads::Precision* precision = nullptr;
  workloads::Serving serving;
  const base::Node* section = nullptr;  // `serving:` without what `run.` sets; owned by ServingRows
  std::optional<workloads::Serving> speculating;  // as it would be if it did; of one that may
  workloads::Mapping mapping;
  workloads::Traffic traffic;  // of mean lengths
  workloads::RequestStream stream;
  std::optional<workloads::Pools> pools;  // of a disaggregated deployment

  // An output of one token has a TTFT alone.
  bool one_token() const { return traffic.output_tokens == 1; }

  sim::ScenarioView scenario() const {
    return {.platform = platform,
            .model = architecture,
            .precision = precision,
            .mapping = &mapping,
            .serving = &serving,
            .traffic = &traffic,
            .pools = pools ? &*pools : nullptr};
  }
};

// Reads rows of one table. Sections of the scenarios are loaded once and shared.
class ServingRows {
 public:
  // CsvError when a column is missing. `calibration` and `unmeasured` as of ChipPlatforms.
  explicit ServingRows(const base::CsvTable& table, const std::string& calibration = {},
                       hardware::Unmeasured unmeasured = hardware::Unmeasured::nothing);
  MeasuredServer row(std::size_t row);

 private:
  std::string_view text(std::size_t row, std::size_t column) const;
  std::int64_t count(std::size_t row, std::size_t column) const;  // 0 when empty
  Facts facts_of(std::size_t row, const MeasuredServer& server) const;
  // With kernels of the version that serves.
  const sim::Platform* platform_of(std::size_t row, const MeasuredServer& server);
  void read_pools(std::size_t row, Facts& facts, MeasuredServer& server);
  void read_mapping(std::size_t row, const RowSettings& recorded, MeasuredServer& server) const;
  void read_concurrency(std::size_t row, bool batch, MeasuredServer& server) const;
  void read_traffic(std::size_t row, const RunSettings& run, MeasuredServer& server) const;
  void read_settings(std::size_t row, Facts facts, MeasuredServer& server);

  const base::CsvTable& table_;
  std::optional<std::size_t> id_;
  std::size_t mode_, model_, system_, backend_, precision_, gemm_, source_, version_;
  std::optional<std::size_t> date_;
  std::size_t tp_, pp_, attention_dp_, moe_tp_, moe_ep_, isl_, osl_, concurrency_, batch_, ttft_,
      tpot_;
  ChipPlatforms platforms_;
  std::optional<DisaggregatedRows> disaggregated_;  // once a row needs its columns
  RowConventions row_conventions_;
  ServerConventions conventions_;
};

// A row's forecast, by simulation of the benchmark (sim/replay/simulate.hpp), in the measurement's units; no numbers where there is a reason.
struct ServerForecast {
  double ttft_ms = 0.0;
  double tpot_ms = 0.0;        // NaN of one token
  models::Spread ttft_spread;  // 90 % intervals
  models::Spread tpot_spread;
  std::string provenance;
  std::string reason;       // a short one, to count by
  std::string explanation;  // the whole sentence
  bool predicted() const { return reason.empty(); }
};
ServerForecast forecast(const MeasuredServer& server, sim::Workspace& workspace);

}  // namespace roofcast::calibrate
