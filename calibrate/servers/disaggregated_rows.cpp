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
      concurrency_(table.column("concurrency")),
      date_(table.column("measured_date")),
      decode_batch_(table.column("decode_batch_size")),
      prefill_(columns_of("prefill")),
      decode_(columns_of("decode")) {}

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

std::optional<bool> DisaggregatedRows::speculates(
    std::size_t row, const std::vector<PublishedDeployment>& deployments) const {
  bool with = false;
  bool without = false;
  for (const PublishedDeployment& each : deployments) {
    if (each.has(count(row, concurrency_))) {
      (each.draft_tokens > 0 ? with : without) = true;
    }
  }
  return with && without ? std::nullopt : std::optional(with);
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
                                                   DisaggregatedServer& server) {
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
    if (says_nothing) {
      return true;
    }
    if (all_together) {
      return pools.ranks() == prefill;
    }
    const bool whole = pools.prefill.mapping.expert_parallel > 1;
    return p == prefill && d == decode &&
           (!settings.prefill_experts || whole == (count(row, prefill_.moe_ep) > 1));
  };
  const std::vector<PublishedDeployment>& all = deployments_.of(facts);
  std::optional<bool> known = workers != nullptr ? false : speculates(row, all);
  if (!known) {
    known = runs_.of(facts).speculates;
    server.listed_speculation = known.has_value();
  }
  const PublishedDeployment* found = nullptr;
  for (const PublishedDeployment& each : all) {
    const bool drafts = each.draft_tokens > 0;
    if (!each.has(count(row, concurrency_)) || !as_wide(each.pools) ||
        drafts != known.value_or(drafts)) {
      continue;
    }
    server.may_speculate = server.may_speculate || (drafts && !known);
    const bool plainer = found != nullptr && found->draft_tokens > 0 && !drafts;
    const bool smaller = found != nullptr && (found->draft_tokens > 0) == drafts &&
                         each.pools.ranks() < found->pools.ranks();
    if (found == nullptr || plainer || smaller) {
      found = &each;
    }
  }
  return found;
}

DisaggregatedServer DisaggregatedRows::row(std::size_t row, Facts& facts) {
  const bool recorded_here = count(row, prefill_.workers) > 0 && count(row, decode_.workers) > 0;
  facts.set("year", table_.cell(row, date_).substr(0, 4));
  if (recorded_here) {
    const auto ranks_along = [&](std::size_t column) {
      return std::max<std::int64_t>(1, count(row, column));
    };
    facts.set("decode_ranks", ranks_along(decode_.tp) * ranks_along(decode_.attention_dp));
  }
  const RowSettings& settings = conventions_.of(facts);
  DisaggregatedServer server;
  server.concurrency = count(row, concurrency_);
  std::optional<workloads::Pools> workers = runs_.of(facts).workers;
  if (recorded_here) {
    workers.emplace();
    workers->prefill = recorded(row, prefill_, settings);
    workers->decode = recorded(row, decode_, settings);
  }
  server.listed_workers = workers && !recorded_here;
  std::int64_t drafts = 0;
  const PublishedDeployment* known =
      find(row, facts, settings, workers ? &*workers : nullptr, server);
  if (workers) {
    server.pools = *workers;
    if (known != nullptr) {
      server.pools.prefill.limits = known->pools.prefill.limits;
      server.pools.decode.limits = known->pools.decode.limits;
    }
  } else if (known != nullptr) {
    server.pools = known->pools;
    drafts = known->draft_tokens;
  } else {
    server.reason = "the disaggregated deployment is not published";
  }
  facts.set("draft_tokens", drafts);
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
    decode.limits.max_tokens_per_iteration = sequences * (drafts + 1);
  }
  return server;
}

}  // namespace roofcast::calibrate
