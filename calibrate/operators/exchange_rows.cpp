// SPDX-License-Identifier: Apache-2.0
#include "calibrate/operators/exchange_rows.hpp"

#include <algorithm>

namespace roofcast::calibrate {
namespace {

using namespace workloads;

constexpr std::int64_t kNodeRanks = 8;
constexpr double kPreparedToken = 7e-9;  // seconds
constexpr double kUnpacking = 12.0;      // vector operations of an element
constexpr double kSumming = 4.0;         // of one that need not be unpacked

Collective exchange(std::int64_t rows, std::int64_t hidden, NumberFormat format, std::int64_t ranks,
                    std::int64_t copies) {
  Collective op;
  op.kind = CollectiveKind::all_to_all;
  op.custom = AllReduceKernels::flags;
  op.rows = static_cast<double>(rows) / static_cast<double>(copies);
  op.bytes = base::bytes_of(static_cast<double>(rows * hidden), format).si();
  op.ranks = ranks;
  op.copies = copies;
  return op;
}

}  // namespace

ExchangeRow exchange_row(std::string_view kind, std::string_view name, std::string_view kernel,
                         NumberFormat format,
                         const std::function<std::int64_t(std::string_view)>& at) {
  const std::int64_t hidden = at("hidden_size");
  if (kind == "trtllm_alltoall") {
    const std::int64_t ranks = at("moe_ep_size");
    const std::int64_t tokens = at("num_tokens");
    const std::int64_t copies = std::min(at("topk"), ranks);
    const bool staged = kernel == "NVLinkTwoSided";
    const auto sent = [&](NumberFormat of) {
      Collective op = exchange(tokens * copies, hidden, of, ranks, 1);
      op.rows = static_cast<double>(tokens);
      op.staged = staged;
      return op;
    };
    const auto slots = static_cast<double>(tokens * at("topk") * hidden);
    const auto summed = [&](NumberFormat of, double operations) {
      return Elementwise{base::bytes_of(slots, of).si(), 2.0 * static_cast<double>(tokens * hidden),
                         operations * slots};
    };
    if (name == "alltoall_prepare") {
      return {{exchange(ranks, 1, NumberFormat::fp32, ranks, 1)},
              kPreparedToken * static_cast<double>(tokens)};
    }
    if (name == "alltoall_dispatch") {
      return {{sent(format)}};
    }
    if (name == "alltoall_combine" && staged) {
      return {{sent(NumberFormat::bf16), summed(NumberFormat::bf16, kSumming)}};
    }
    if (name == "alltoall_combine") {
      return {{sent(NumberFormat::bf16)}};
    }
    if (name == "alltoall_combine_low_precision") {
      return {{sent(format), summed(format, kUnpacking)}};
    }
    return {};
  }
  const bool direct = kind == "deepep_ll";
  const std::int64_t ranks = kNodeRanks * at("node_num");
  const std::int64_t top_k = at("num_topk");
  const std::int64_t rows = at("num_token") * top_k;
  const std::int64_t copies = direct ? 1 : top_k;
  Collective dispatch = exchange(rows, hidden, NumberFormat::fp8, ranks, copies);
  Collective combine = exchange(rows, hidden, NumberFormat::bf16, ranks, copies);
  if (direct) {
    const auto tokens = static_cast<double>(at("num_token") * hidden);
    return {{dispatch, Elementwise{dispatch.bytes, dispatch.bytes, 0.0}, combine,
             Elementwise{combine.bytes, 2.0 * tokens, 0.0}}};
  }
  dispatch.deduplicated = combine.deduplicated = true;
  dispatch.sms = at("dispatch_sms");
  combine.sms = at("combine_sms");
  return {{dispatch, combine}};
}

}  // namespace roofcast::calibrate
