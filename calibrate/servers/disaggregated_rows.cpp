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
      precision_(table.column("precision")),
      isl_(table.column("isl")),
      osl_(table.column("osl")),
      concurrency_(table.column("concurrency")),
      ttft_(table.column("silicon_ttft_ms")),
      tpot_(table.column("silicon_tpot_ms")),
      date_(table.column("measured_date")),
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

std::string DisaggregatedRows::run_of(std::size_t row) const {
  std::string run;
  for (const std::size_t column :
       {stack_, chip_, precision_, isl_, osl_, concurrency_, ttft_, tpot_}) {
    run += fmt::format("{} ", table_.cell(row, column));
  }
  return run;
}

workloads::Pool DisaggregatedRows::recorded(std::size_t row, const Columns& c,
                                            const RowSettings& settings) const {
  workloads::Pool pool;
  pool.replicas = std::max<std::int64_t>(1, count(row, c.workers));
  if (settings.tensor_parallel > 0) {
    pool.mapping.tensor_parallel = settings.tensor_parallel;
    return pool;
  }
  pool.mapping.tensor_parallel = std::max<std::int64_t>(1, count(row, c.tp));
  pool.mapping.data_parallel = std::max<std::int64_t>(1, count(row, c.attention_dp));
  pool.mapping.expert_parallel = std::max<std::int64_t>(1, count(row, c.moe_ep));
  if (settings.experts_in_moe_tp && count(row, c.moe_tp) == pool.mapping.data_parallel) {
    pool.mapping.expert_parallel = pool.mapping.data_parallel;
  }
  return pool;
}

const PublishedDeployment* DisaggregatedRows::find(std::size_t row, const Facts& facts,
                                                   const RowSettings& settings,
                                                   const workloads::Pools* workers,
                                                   bool& may_speculate) {
  const std::int64_t prefill = count(row, prefill_.tp);
  const std::int64_t decode = count(row, decode_.tp);
  const bool says_nothing = prefill == 1 && decode == 1;
  const bool all_together = !says_nothing && settings.widths == Widths::deployment &&
                            prefill == decode && count(row, prefill_.moe_tp) == prefill;
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
  const PublishedDeployment* found = nullptr;
  for (const PublishedDeployment& each : deployments_.of(facts)) {
    const bool listed = std::find(each.concurrencies.begin(), each.concurrencies.end(), clients) !=
                        each.concurrencies.end();
    if (!listed || !as_wide(each.pools)) {
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

DisaggregatedServer DisaggregatedRows::row(std::size_t row, Facts& facts) {
  const auto repeated = recorded_.find(run_of(row));
  facts.set("year", table_.cell(row, date_).substr(0, 4));
  if (repeated != recorded_.end()) {
    const auto ranks_along = [&](std::size_t column) {
      return base::as_double(std::max<std::int64_t>(1, count(repeated->second, column)));
    };
    facts.set("decode_ranks",
              fmt::format("{}", ranks_along(decode_.tp) * ranks_along(decode_.attention_dp)));
  }
  const RowSettings& settings = conventions_.of(facts);
  DisaggregatedServer server;
  server.concurrency = count(row, concurrency_);
  if (repeated != recorded_.end()) {
    workloads::Pools& pools = server.pools;
    pools.prefill = recorded(repeated->second, prefill_, settings);
    pools.decode = recorded(repeated->second, decode_, settings);
    bool speculates = false;
    if (const PublishedDeployment* known = find(row, facts, settings, &pools, speculates)) {
      pools.decode.limits.max_sequences = known->pools.decode.limits.max_sequences;
    }
  } else if (const PublishedDeployment* known =
                 find(row, facts, settings, nullptr, server.may_speculate)) {
    server.pools = known->pools;
  } else {
    server.reason = "the disaggregated deployment is not published";
  }
  workloads::Pool& decode = server.pools.decode;
  const std::int64_t ranks = decode.replicas * decode.mapping.data_parallel;
  if (server.concurrency == 0) {
    server.concurrency = count(row, decode_batch_) * ranks;
  }
  if (settings.decode_sequences > 0) {
    std::int64_t& sequences = decode.limits.max_sequences;
    sequences = sequences > 0 ? sequences
                              : std::max(settings.decode_sequences,
                                         base::ceil_div(server.concurrency, ranks));
    decode.limits.max_tokens_per_iteration = sequences;
  }
  return server;
}

}  // namespace roofcast::calibrate
