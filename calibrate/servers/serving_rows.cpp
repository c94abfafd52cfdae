// SPDX-License-Identifier: Apache-2.0
#include "calibrate/servers/serving_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "calibrate/platforms/error_summary.hpp"
#include "calibrate/platforms/held_back.hpp"
#include "calibrate/platforms/named_parts.hpp"
#include "sim/replay/simulation_summary.hpp"
#include "sim/scenario/section_readers.hpp"

namespace roofcast::calibrate {
namespace {

constexpr std::int64_t kMostClients = 100'000;

constexpr const char* kNotTogether = "parallel sizes do not fit together";

// As rules have it: in small letters, PyTorch's names by the catalog's.
std::string precision_called(std::string_view name) {
  std::string small(name);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small == "bfloat16" ? "bf16" : small == "float16" ? "fp16" : small;
}

}  // namespace

ServingRows::ServingRows(const base::CsvTable& table, const std::string& calibration,
                         hardware::Unmeasured unmeasured)
    : table_(table),
      id_(table.find_column("id")),
      mode_(table.column("mode")),
      model_(table.column("model_path")),
      system_(table.column("system")),
      backend_(table.column("backend")),
      precision_(table.column("precision")),
      gemm_(table.column("gemm_quant_mode")),
      source_(table.column("source")),
      version_(table.column("backend_version")),
      date_(table.find_column("measured_date")),
      tp_(table.column("tp_size")),
      pp_(table.column("pp_size")),
      attention_dp_(table.column("attention_dp_size")),
      moe_tp_(table.column("moe_tp_size")),
      moe_ep_(table.column("moe_ep_size")),
      isl_(table.column("isl")),
      osl_(table.column("osl")),
      concurrency_(table.column("concurrency")),
      batch_(table.column("batch_size")),
      ttft_(table.column("silicon_ttft_ms")),
      tpot_(table.column("silicon_tpot_ms")),
      platforms_(calibration, unmeasured) {}

std::string_view ServingRows::text(std::size_t row, std::size_t column) const {
  return table_.cell(row, column);
}

std::int64_t ServingRows::count(std::size_t row, std::size_t column) const {
  return std::llround(base::parse_number(text(row, column)).value_or(0.0));
}

void ServingRows::read_pools(std::size_t row, Facts& facts, MeasuredServer& server) {
  if (!disaggregated_) {
    disaggregated_.emplace(table_);
  }
  const DisaggregatedServer known = disaggregated_->row(row, facts);
  server.reason = known.reason;
  server.may_speculate = known.may_speculate;
  server.listed_workers = known.listed_workers;
  server.listed_speculation = known.listed_speculation;
  server.pools = known.pools;
  server.mapping = known.pools.decode.mapping;
  server.traffic.concurrency = known.concurrency;
}

void ServingRows::read_mapping(std::size_t row, const RowSettings& recorded,
                               MeasuredServer& server) const {
  const std::int64_t tp = count(row, tp_);
  const std::int64_t dp = std::max<std::int64_t>(1, count(row, attention_dp_));
  const std::int64_t moe_tp = std::max<std::int64_t>(1, count(row, moe_tp_));
  const std::int64_t moe_ep = std::max<std::int64_t>(1, count(row, moe_ep_));
  if (tp < 1) {
    server.reason = "parallel sizes are not recorded";
    return;
  }
  constexpr std::int64_t kMostRanks = 1'000'000;
  if (std::max({tp, dp, moe_tp, moe_ep}) > kMostRanks) {
    server.reason = kNotTogether;
    return;
  }
  const bool is_moe = server.architecture->moe.experts > 0;
  std::int64_t width = is_moe ? std::max(tp * dp, moe_tp * moe_ep) : tp * dp;
  std::int64_t data = width / tp;
  std::int64_t experts = moe_ep;
  if (recorded.attention_dp != AttentionDp::degree) {
    if (tp == dp && dp > 1) {
      width = dp;
      experts = moe_ep / dp;
    } else if (moe_tp > 1) {
      width = moe_tp;
    }
    const bool all = recorded.attention_dp == AttentionDp::all ||
                     (dp > 1 && recorded.attention_dp == AttentionDp::all_or_none);
    data = all ? width : 1;
  } else if (is_moe && text(row, attention_dp_).empty() &&
             count(row, concurrency_) == width * count(row, batch_)) {
    data = width;
  }
  if (data < 1 || width < data || (is_moe && experts < 1)) {
    server.reason = kNotTogether;
    return;
  }
  workloads::Mapping& mapping = server.mapping;
  mapping.tensor_parallel = width / data;
  mapping.data_parallel = data;
  mapping.pipeline_parallel = std::max<std::int64_t>(1, count(row, pp_));
  mapping.expert_parallel = !is_moe ? 1 : recorded.whole_experts ? width : experts;
}

void ServingRows::read_concurrency(std::size_t row, bool batch, MeasuredServer& server) const {
  if (!server.pools) {
    server.traffic.concurrency = count(row, concurrency_);
  }
  const std::int64_t of_one_replica = count(row, attention_dp_) * count(row, batch_);
  if (batch && of_one_replica > 0) {
    server.traffic.concurrency = of_one_replica;
  }
}

void ServingRows::read_traffic(std::size_t row, const RunSettings& run,
                               MeasuredServer& server) const {
  const std::int64_t input = count(row, isl_);
  const std::int64_t output = count(row, osl_);
  workloads::Traffic& traffic = server.traffic;
  traffic.input_tokens = run.input.mean(input);
  traffic.output_tokens = run.output.mean(output);
  traffic.cached_tokens = run.cached_prompts ? input - 1 : 0;
  if (traffic.concurrency < 1) {
    server.reason = "the concurrency is not recorded";
  } else if (traffic.concurrency > kMostClients) {
    server.reason = fmt::format("more than {} clients are not simulated", kMostClients);
  } else if (traffic.input_tokens < 1 || traffic.output_tokens < 1) {
    server.reason = "the lengths are not recorded";
  }
  server.stream.input = run.input.of(input);
  server.stream.output = run.output.of(output);
  server.stream.cached_tokens = traffic.cached_tokens;
  server.stream.concurrency = traffic.concurrency;
  server.stream.requests = run.requests * traffic.concurrency;
}

Facts ServingRows::facts_of(std::size_t row, const MeasuredServer& server) const {
  Facts facts;
  for (const auto& [name, column] : {std::pair{"source", source_},
                                     {"mode", mode_},
                                     {"version", version_},
                                     {"input", isl_},
                                     {"output", osl_},
                                     {"table.model_path", model_},
                                     {"table.gemm_quant_mode", gemm_}}) {
    facts.set(name, text(row, column));
  }
  facts.set("table.precision", precision_called(text(row, precision_)));
  facts.set("model", server.model);
  facts.set("chip", server.chip);
  facts.set("chip.architecture", server.platform->system.chip.architecture);
  facts.set("stack", server.stack);
  facts.set("year", "");
  std::string date(date_ ? text(row, *date_) : std::string_view());
  date.erase(std::remove(date.begin(), date.end(), '-'), date.end());
  facts.set("date", date);
  facts.set("decode_ranks", "");
  facts.set("draft_tokens", 0);
  facts.set("clients", count(row, concurrency_));
  facts.set("table.tp_size", text(row, tp_));
  facts.set("id", id_ ? text(row, *id_) : std::string_view());
  return facts;
}

void ServingRows::read_settings(std::size_t row, Facts facts, MeasuredServer& server) {
  const workloads::Mapping& mapping = server.mapping;
  facts.set("clients", server.traffic.concurrency);
  facts.set("gpus", mapping.ranks());
  facts.set("tensor_parallel", mapping.tensor_parallel);
  facts.set("data_parallel", mapping.data_parallel);
  facts.set("expert_parallel", mapping.expert_parallel);
  const ServerSettings& settings = conventions_.of(server.stack, facts);
  if (!settings.precision) {
    server.reason =
        fmt::format("no rule of conventions/servers reads the precision {}", text(row, precision_));
    return;
  }
  server.began_cold = settings.run.began_cold;
  server.precision = &*settings.precision;
  server.section = &settings.section;
  server.held_back =
      held_back(draw_of(fmt::format("{} {} {} {} {}", server.model, server.chip, server.stack,
                                    text(row, precision_), mapping.ranks())));
  read_traffic(row, settings.run, server);
  const auto serving_of = [&](const ServerSettings& s) {
    return s.of(server.traffic.concurrency, mapping.data_parallel, server.stream.input.most);
  };
  server.serving = serving_of(settings);
  if (server.serving.version.empty()) {
    server.serving.version = text(row, version_);
  }
  server.platform = platform_of(row, server);
  if (server.pools) {
    std::int64_t& tokens = server.pools->prefill.limits.max_tokens_per_iteration;
    tokens = tokens > 0 ? tokens : settings.run.prefill_iteration;
    return;
  }
  server.may_speculate = settings.run.speculates == Speculates::perhaps;
  if (server.may_speculate) {
    facts.set("run.speculates", "yes");
    server.speculating = serving_of(conventions_.of(server.stack, facts));
  }
}

const sim::Platform* ServingRows::platform_of(std::size_t row, const MeasuredServer& server) {
  const std::string& version = server.serving.version;
  return text(row, mode_) == "agg" ? platforms_.find(server.chip, server.stack, version)
                                   : platforms_.find_cluster(server.chip, server.stack, version);
}

MeasuredServer ServingRows::row(std::size_t row) {
  MeasuredServer server;
  server.architecture = model_called(text(row, model_));
  const hardware::Chip* chip = chip_called(text(row, system_));
  const std::string_view mode = text(row, mode_);
  const bool disaggregated = mode == "disagg";
  server.model =
      server.architecture != nullptr ? server.architecture->id : std::string(text(row, model_));
  server.chip = chip != nullptr ? chip->id : std::string(text(row, system_));
  server.stack = text(row, backend_);
  server.platform = platform_of(row, server);
  server.ttft_ms = base::parse_number(text(row, ttft_)).value_or(0.0);
  server.tpot_ms = base::parse_number(text(row, tpot_)).value_or(0.0);
  const auto stacks = base::catalog_ids(workloads::stack_catalog());
  if (server.architecture == nullptr) {
    server.reason = fmt::format("{} is not in the catalog", server.model);
  } else if (server.platform == nullptr) {
    server.reason = no_system_with(server.chip);
  } else if (std::find(stacks.begin(), stacks.end(), server.stack) == stacks.end()) {
    server.reason = fmt::format("the stack {} is not in the catalog", server.stack);
  } else if (!disaggregated && mode != "agg") {
    server.reason = fmt::format("the mode {} is neither agg nor disagg", mode);
  } else if (!positive(server.ttft_ms) || !(positive(server.tpot_ms) || count(row, osl_) == 1)) {
    server.reason = "no measured TTFT or TPOT";
  }
  if (!server.reason.empty()) {
    return server;
  }
  Facts facts = facts_of(row, server);
  if (disaggregated) {
    read_pools(row, facts, server);
  }
  const RowSettings& recorded = row_conventions_.of(facts);
  if (!disaggregated) {
    read_mapping(row, recorded, server);
  }
  if (recorded.whole_deployment) {
    server.reason = "a disaggregated deployment recorded as one server";
  }
  if (recorded.unknown_places) {
    server.reason = "its clients waited for a server with fewer places, which are not recorded";
  }
  if (server.reason.empty()) {
    read_concurrency(row, recorded.batch, server);
    read_settings(row, std::move(facts), server);
  }
  return server;
}

ServerForecast forecast(const MeasuredServer& server, sim::Workspace& workspace) {
  ServerForecast result;
  result.reason = server.reason;
  result.explanation = server.reason;
  if (!server.reason.empty()) {
    return result;
  }
  const sim::ScenarioView scenario = server.scenario();
  const sim::ServingEstimate estimate = sim::estimate(scenario, workspace);
  result.provenance = hardware::name(estimate.provenance);
  result.reason = sim::reason_kind(estimate.infeasible);
  result.explanation = sim::reason(estimate);
  if (!estimate.fits()) {
    return result;
  }
  const sim::Simulation run =
      sim::simulate(scenario, workloads::draw_requests(server.stream), server.stream.concurrency);
  const sim::SimulationSummary summary = sim::summarise(run, 0, {});
  result.ttft_ms = summary.ttft.mean.si() * 1e3;
  result.tpot_ms = server.one_token() ? std::nan("") : summary.tpot.mean.si() * 1e3;
  result.ttft_spread = estimate.spreads.ttft;
  result.tpot_spread = estimate.spreads.tpot;
  if (!positive(result.ttft_ms) || !(positive(result.tpot_ms) || server.one_token())) {
    result.reason = result.explanation = kNoForecast;
  }
  return result;
}

}  // namespace roofcast::calibrate
