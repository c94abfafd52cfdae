// SPDX-License-Identifier: Apache-2.0
#include "calibrate/speculation_rows.hpp"

namespace roofcast::calibrate {
namespace {

std::int64_t draft_tokens(const MeasuredServer& server) {
  if (server.stack == "sglang") {
    return 2;
  }
  return server.mapping.data_parallel > 1 ? 1 : 3;
}

const workloads::MeasuredAcceptance& acceptance() {
  static const workloads::MeasuredAcceptance measured = [] {
    const base::Node document =
        base::load_entry(workloads::acceptance_catalog(), "deepseek-v3_mtp");
    base::Problems problems;
    base::Fields fields(document, "", problems);
    workloads::MeasuredAcceptance value;
    read(fields, value);
    fields.end();
    problems.throw_if_any();
    return value;
  }();
  return measured;
}

}  // namespace

MeasuredServer speculating(const MeasuredServer& server) {
  MeasuredServer with = server;
  workloads::Speculation& s = with.serving.speculation;
  s.method = workloads::DraftMethod::mtp;
  s.draft_tokens = draft_tokens(server);
  s.acceptance = workloads::acceptance_of(acceptance(), s.draft_tokens);
  return with;
}

}  // namespace roofcast::calibrate
