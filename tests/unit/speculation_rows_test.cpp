// SPDX-License-Identifier: Apache-2.0
#include "calibrate/speculation_rows.hpp"

#include "tests/catch.hpp"

using namespace roofcast;

TEST_CASE("A measured server drafts as deep as its settings say", "[unit]") {
  calibrate::MeasuredServer server;
  server.stack = "sglang";
  CHECK(calibrate::speculating(server).serving.speculation.draft_tokens == 2);
  server.stack = "trtllm";
  const workloads::Speculation three = calibrate::speculating(server).serving.speculation;
  CHECK(three.draft_tokens == 3);
  CHECK(three.method == workloads::DraftMethod::mtp);
  CHECK(three.tokens_per_step() > 2.5);
  CHECK(three.tokens_per_step() < 3.0);
  server.mapping.data_parallel = 8;
  CHECK(calibrate::speculating(server).serving.speculation.tokens_per_step() == Approx(1.85));
  // What was measured has no part in it.
  server.tpot_ms = 1.0;
  CHECK(calibrate::speculating(server).serving.speculation.draft_tokens == 1);
}
