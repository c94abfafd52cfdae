// SPDX-License-Identifier: Apache-2.0
#include "calibrate/servers/row_settings.hpp"

#include "base/document/fields.hpp"

namespace roofcast::calibrate {
namespace {

const base::Choices<AttentionDp> kAttentionDp = {{"degree", AttentionDp::degree},
                                                 {"none", AttentionDp::none},
                                                 {"all_or_none", AttentionDp::all_or_none},
                                                 {"all", AttentionDp::all}};
const base::Choices<Widths> kWidths = {{"pool", Widths::pool}, {"deployment", Widths::deployment}};

RowSettings read_row(base::Fields& run) {
  RowSettings settings;
  run.choice("attention_dp", settings.attention_dp, kAttentionDp, base::optional);
  run.flag("batch", settings.batch, base::optional);
  run.choice("widths", settings.widths, kWidths, base::optional);
  run.flag("experts_in_moe_tp", settings.experts_in_moe_tp, base::optional);
  run.flag("whole_experts", settings.whole_experts, base::optional);
  run.flag("prefill_experts", settings.prefill_experts, base::optional);
  run.flag("whole_deployment", settings.whole_deployment, base::optional);
  run.flag("unknown_places", settings.unknown_places, base::optional);
  run.integer("tensor_parallel", settings.tensor_parallel, base::at_least_one, base::optional);
  run.integer("decode_sequences", settings.decode_sequences, base::at_least_one, base::optional);
  return settings;
}

}  // namespace

RowConventions::RowConventions() : ReadSettings("server_rows", read_row) {}

}  // namespace roofcast::calibrate
