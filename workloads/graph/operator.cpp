// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/operator.hpp"

#include <algorithm>

namespace roofcast::workloads {

std::string_view name(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return "all_reduce";
    case CollectiveKind::all_gather:
      return "all_gather";
    case CollectiveKind::reduce_scatter:
      return "reduce_scatter";
    case CollectiveKind::all_to_all:
      return "all_to_all";
    case CollectiveKind::broadcast:
      return "broadcast";
    case CollectiveKind::send_receive:
      return "send_receive";
  }
  return "";
}

std::int64_t ranks_in_a_domain(const Collective& op, std::int64_t domain) {
  return std::clamp<std::int64_t>((domain + op.stride - 1) / op.stride, 1, op.ranks);
}

std::string_view name(AllReduceKernels kernels) {
  switch (kernels) {
    case AllReduceKernels::library:
      return "library";
    case AllReduceKernels::barriers:
      return "barriers";
    case AllReduceKernels::flags:
      return "flags";
  }
  return "";
}

std::string_view category(const Operator& op) {
  constexpr std::string_view kNames[] = {"gemm",        "moe",        "attention",  "attention",
                                         "attention",   "recurrence", "recurrence", "elementwise",
                                         "elementwise", "moe",        "collective"};
  static_assert(std::size(kNames) == std::variant_size_v<Operator>);
  return kNames[op.index()];
}

}  // namespace roofcast::workloads
