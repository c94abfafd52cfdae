// SPDX-License-Identifier: Apache-2.0
#include "calibrate/servers/row_settings.hpp"

#include "base/document/fields.hpp"

namespace roofcast::calibrate {
namespace {

const base::Choices<AttentionDp> kAttentionDp = {{"degree", AttentionDp::degree},
                                                 {"all_or_none", AttentionDp::all_or_none}};
const base::Choices<Widths> kWidths = {{"pool", Widths::pool}, {"deployment", Widths::deployment}};

}  // namespace

const RowSettings& RowConventions::of(const Facts& facts) {
  const Settings settings = conventions_.settings(facts);
  if (const auto found = known_.find(settings); found != known_.end()) {
    return found->second;
  }
  base::Problems problems;
  const base::Node document = run_settings(settings, problems);
  base::Fields run(document, "run", problems);
  RowSettings read;
  run.choice("attention_dp", read.attention_dp, kAttentionDp, base::optional);
  run.flag("batch", read.batch, base::optional);
  run.choice("widths", read.widths, kWidths, base::optional);
  run.flag("experts_in_moe_tp", read.experts_in_moe_tp, base::optional);
  run.integer("tensor_parallel", read.tensor_parallel, base::at_least_one, base::optional);
  run.integer("decode_sequences", read.decode_sequences, base::at_least_one, base::optional);
  run.end();
  problems.throw_if_any();
  return known_.emplace(settings, read).first->second;
}

}  // namespace roofcast::calibrate
