// SPDX-License-Identifier: Apache-2.0
//
// How a row records a measured server: what calibrate/conventions/server_rows.yaml sets for it.
#pragma once

#include <cstdint>

#include "calibrate/conventions/read_settings.hpp"

namespace roofcast::calibrate {

enum class AttentionDp : std::uint8_t { degree, none, all_or_none, all };
enum class Widths : std::uint8_t { pool, deployment };

// The keys `run.` of the conventions, which say what each means.
struct RowSettings {
  AttentionDp attention_dp = AttentionDp::degree;
  bool batch = false;
  Widths widths = Widths::pool;
  bool experts_in_moe_tp = false;
  bool whole_experts = false;
  bool prefill_experts = false;
  bool unknown_places = false;
  bool whole_deployment = false;
  std::int64_t tensor_parallel = 0;   // 0: the columns say it
  std::int64_t decode_sequences = 0;  // 0: the stack's
};

struct RowConventions : ReadSettings<RowSettings> {
  RowConventions();
};

}  // namespace roofcast::calibrate
