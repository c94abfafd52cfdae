// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/tuning_misses.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "base/csv/csv.hpp"

namespace roofcast::calibrate {
namespace {

constexpr double kMiss = 1.5;

struct Share {
  std::size_t row = 0;
  double cut = 0.0;    // ranks that cut each expert
  double ranks = 0.0;  // that share the experts
  double time = 0.0;
};

}  // namespace

std::vector<bool> tuning_misses(std::string_view kind, const OperatorRows& rows) {
  if (kind != "moe") {
    return {};
  }
  std::map<std::vector<std::string>, std::vector<Share>> alike;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::string> key = rows.layer(i);
    for (const char* column : {"fw_version", "kernel_source", "distribution", "num_tokens"}) {
      key.emplace_back(rows.text(i, column));
    }
    key.insert(key.end(), {rows.chip(i), std::string(rows.stack(i)), std::string(rows.format(i))});
    const auto number = [&](const char* column) {
      return base::parse_number(rows.text(i, column)).value_or(0.0);
    };
    alike[std::move(key)].push_back(
        {i, number("moe_tp_size"), number("moe_ep_size"), number("latency_ms")});
  }
  std::vector<bool> missed(rows.size(), false);
  for (const auto& [key, shares] : alike) {
    for (const Share& share : shares) {
      missed[share.row] = std::any_of(shares.begin(), shares.end(), [&](const Share& more) {
        return more.cut <= share.cut && more.ranks <= share.ranks && kMiss * more.time < share.time;
      });
    }
  }
  return missed;
}

}  // namespace roofcast::calibrate
