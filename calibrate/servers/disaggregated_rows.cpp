// SPDX-License-Identifier: Apache-2.0
#include "calibrate/servers/disaggregated_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/document/node.hpp"
#include "base/integers.hpp"

namespace roofcast::calibrate {

DisaggregatedRows::DisaggregatedRows(const base::CsvTable& table)
    : table_(table),
      stack_(table.column("backend")),
      chip_(table.column("system")),
      model_(table.column("model_path")),
      precision_(table.column("precision")),
      isl_(table.column("isl")),
      osl_(table.column("osl")),
      concurrency_(table.column("concurrency")),
      ttft_(table.column("silicon_ttft_ms")),
      tpot_(table.column("silicon_tpot_ms")),
      date_(table.column("measured_date")),
      source_(table.column("source")),
      decode_batch_(table.column("decode_batch_size")),
      prefill_(columns_of("prefill")),
      decode_(columns_of("decode")) {
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (count(row, prefill_.workers) > 0 && count(row, decode_.workers) > 0) {
      recorded_.emplace(run_of(row), row);
    }
  }
}

DisaggregatedRows::Columns DisaggregatedRows::columns_of(std::string_view pool) const {
  const auto column = [&](std::string_view name) {
    return table_.column(fmt::format("{}_{}", pool, name));
  };
  return {column("num_workers"), column("tp_size"), column("attention_dp_size"),
          column("moe_tp_size"), column("moe_ep_size")};
}

std::int64_t DisaggregatedRows::count(std::size_t row, std::size_t column) const {
  return std::llround(base::parse_number(table_.cell(row, column)).value_or(0.0));
}

bool DisaggregatedRows::is_inferencex(std::size_t row) const {
  return table_.cell(row, source_).starts_with("inferencex");
}

std::int64_t DisaggregatedRows::year(std::size_t row) const {
  return table_.cell(row, date_).starts_with("2025") ? 2025 : 2026;
}

std::string DisaggregatedRows::run_of(std::size_t row) const {
  std::string run;
  for (const std::size_t column :
       {stack_, chip_, precision_, isl_, osl_, concurrency_, ttft_, tpot_}) {
    run += fmt::format("{} ", table_.cell(row, column));
  }
  return run;
}

workloads::Pool DisaggregatedRows::recorded(std::size_t row, const Columns& c) const {
  workloads::Pool pool;
  pool.replicas = std::max<std::int64_t>(1, count(row, c.workers));
  pool.mapping.tensor_parallel = std::max<std::int64_t>(1, count(row, c.tp));
  pool.mapping.data_parallel = std::max<std::int64_t>(1, count(row, c.attention_dp));
  pool.mapping.expert_parallel = std::max<std::int64_t>(1, count(row, c.moe_ep));
  const bool named_dep = table_.cell(row, stack_) == "sglang" && year(row) == 2025;
  if (named_dep && count(row, c.moe_tp) == pool.mapping.data_parallel) {
    pool.mapping.expert_parallel = pool.mapping.data_parallel;
  }
  return pool;
}

const Configuration* DisaggregatedRows::find(std::size_t row, const workloads::Pools* workers,
                                             bool& may_speculate) const {
  const bool gpt_oss = table_.cell(row, model_).starts_with("openai/gpt-oss");
  const std::string_view precision = gpt_oss ? "gpt-oss" : table_.cell(row, precision_);
  const std::int64_t prefill = count(row, prefill_.tp);
  const std::int64_t decode = count(row, decode_.tp);
  const bool says_nothing = prefill == 1 && decode == 1 && !gpt_oss;
  const bool all_together = !says_nothing && year(row) == 2025 && prefill == decode &&
                            count(row, prefill_.moe_tp) == prefill;
  const auto as_wide = [&](const workloads::Pools& pools) {
    const std::int64_t p = pools.prefill.mapping.ranks();
    const std::int64_t d = pools.decode.mapping.ranks();
    if (workers != nullptr) {
      return pools.prefill.replicas == workers->prefill.replicas &&
             pools.decode.replicas == workers->decode.replicas &&
             p == workers->prefill.mapping.ranks() && d == workers->decode.mapping.ranks();
    }
    return says_nothing || (all_together ? pools.ranks() == prefill : p == prefill && d == decode);
  };
  const std::int64_t clients = count(row, concurrency_);
  const Configuration* found = nullptr;
  for (const Configuration& each : disaggregated_configurations()) {
    const bool listed = std::find(each.concurrencies.begin(), each.concurrencies.end(), clients) !=
                        each.concurrencies.end();
    if (each.year != year(row) || each.stack != table_.cell(row, stack_) ||
        each.chip != table_.cell(row, chip_) || each.precision != precision ||
        each.input_tokens != count(row, isl_) || each.output_tokens != count(row, osl_) ||
        !listed || !as_wide(each.pools)) {
      continue;
    }
    may_speculate = may_speculate || each.speculates;
    const bool plainer = found != nullptr && found->speculates && !each.speculates;
    const bool smaller = found != nullptr && found->speculates == each.speculates &&
                         each.pools.ranks() < found->pools.ranks();
    if (found == nullptr || plainer || smaller) {
      found = &each;
    }
  }
  return found;
}

void DisaggregatedRows::set_limits(std::size_t row, DisaggregatedServer& server) const {
  if (!is_inferencex(row)) {
    return;
  }
  workloads::Pools& pools = server.pools;
  if (table_.cell(row, stack_) == "trtllm") {
    const bool is_long = count(row, isl_) > 1024;
    const std::int64_t step = year(row) == 2025 ? (is_long ? 8448 : 4608) : (is_long ? 8320 : 8192);
    const bool gpt_oss = table_.cell(row, model_).starts_with("openai/gpt-oss");
    pools.prefill.limits.max_tokens_per_iteration = gpt_oss ? 20000 : step;
  }
  const std::int64_t ranks = pools.decode.replicas * pools.decode.mapping.data_parallel;
  std::int64_t& sequences = pools.decode.limits.max_sequences;
  constexpr std::int64_t kLeast = 1024;
  sequences =
      sequences > 0 ? sequences : std::max(kLeast, base::ceil_div(server.concurrency, ranks));
  pools.decode.limits.max_tokens_per_iteration = sequences;
  if (table_.cell(row, stack_) == "sglang" && table_.cell(row, chip_) == "gb200") {
    pools.prefill.limits.memory_fraction = pools.decode.limits.memory_fraction = 0.95;
  }
}

DisaggregatedServer DisaggregatedRows::row(std::size_t row) const {
  DisaggregatedServer server;
  server.concurrency = count(row, concurrency_);
  const auto repeated = recorded_.find(run_of(row));
  if (repeated != recorded_.end()) {
    workloads::Pools& pools = server.pools;
    pools.prefill = recorded(repeated->second, prefill_);
    pools.decode = recorded(repeated->second, decode_);
    const bool low_latency = table_.cell(row, stack_) == "sglang" && year(row) == 2025 &&
                             pools.decode.mapping.ranks() == 4;
    for (workloads::Pool* pool : {&pools.prefill, &pools.decode}) {
      if (low_latency) {
        pool->mapping = {};
        pool->mapping.tensor_parallel = 4;
      }
    }
    bool speculates = false;
    if (const Configuration* known = find(row, &pools, speculates)) {
      pools.decode.limits.max_sequences = known->pools.decode.limits.max_sequences;
    }
  } else if (const Configuration* known = find(row, nullptr, server.may_speculate)) {
    server.pools = known->pools;
  } else {
    server.reason = "the disaggregated deployment is not published";
  }
  if (server.concurrency == 0) {
    const workloads::Pool& decode = server.pools.decode;
    server.concurrency = count(row, decode_batch_) * decode.replicas * decode.mapping.data_parallel;
  }
  set_limits(row, server);
  return server;
}

}  // namespace roofcast::calibrate
