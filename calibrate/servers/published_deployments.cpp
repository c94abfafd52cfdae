// SPDX-License-Identifier: Apache-2.0
#include "calibrate/servers/published_deployments.hpp"

#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "base/document/fields.hpp"

namespace roofcast::calibrate {
namespace {

// Reads a number off the front of a text; 0 where there is none.
std::int64_t number(std::string_view& text) {
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return value;
}

// "5xtep8": five workers of eight GPUs.
void read_pool(base::Fields& f, std::string_view key, workloads::Pool& pool) {
  std::string text;
  f.text(key, text);
  std::string_view rest = text;
  pool.replicas = number(rest);
  for (const std::string_view kind :
       std::array<std::string_view, 4>{"xtp", "xtep", "xdp", "xdep"}) {
    if (!rest.starts_with(kind)) {
      continue;
    }
    rest.remove_prefix(kind.size());
    const std::int64_t width = number(rest);
    if (pool.replicas > 0 && width > 0 && rest.empty()) {
      (kind.starts_with("xd") ? pool.mapping.data_parallel : pool.mapping.tensor_parallel) = width;
      pool.mapping.expert_parallel = kind.ends_with("ep") ? width : 1;
      return;
    }
  }
  f.problem(key, "expects workers and their width: 1xtp4, 5xtep8 or 2xdep16");
}

std::vector<PublishedDeployment> read_deployments(base::Fields& run) {
  std::vector<PublishedDeployment> deployments;
  run.each(
      "deployments",
      [&](base::Fields& f) {
        PublishedDeployment& each = deployments.emplace_back();
        read_pool(f, "prefill", each.pools.prefill);
        read_pool(f, "decode", each.pools.decode);
        f.integer("sequences", each.pools.decode.limits.max_sequences, base::at_least_one,
                  base::optional);
        f.integer("prompts", each.pools.prefill.limits.max_sequences, base::at_least_one,
                  base::optional);
        f.integer("tokens", each.pools.prefill.limits.max_tokens_per_iteration, base::at_least_one,
                  base::optional);
        f.integer("redundant_experts", each.pools.decode.mapping.redundant_experts,
                  base::not_negative, base::optional);
        f.integer("prefill_redundant_experts", each.pools.prefill.mapping.redundant_experts,
                  base::not_negative, base::optional);
        f.integer("draft_tokens", each.draft_tokens, base::at_least_one, base::optional);
        f.integers("concurrency", each.concurrencies, base::at_least_one);
        f.end();
      },
      base::optional);
  return deployments;
}

PublishedRun read_run(base::Fields& run) {
  PublishedRun known;
  if (run.has("speculates")) {
    run.flag("speculates", known.speculates.emplace());
  }
  if (run.has("prefill") || run.has("decode")) {
    workloads::Pools& pools = known.workers.emplace();
    read_pool(run, "prefill", pools.prefill);
    read_pool(run, "decode", pools.decode);
  }
  return known;
}

}  // namespace

PublishedRuns::PublishedRuns() : ReadSettings("published_runs", read_run) {}

PublishedDeployments::PublishedDeployments() : ReadSettings("disaggregated", read_deployments) {}

}  // namespace roofcast::calibrate
