// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/request_traces.hpp"

#include <string>
#include <utility>
#include <vector>

#include "base/document/problems.hpp"
#include "calibrate/platforms/measurements.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_workloads_request_traces {

using workloads::parse_requests;
using workloads::Requests;

namespace {

std::string error_of(const std::string& text) {
  try {
    parse_requests(text, "t");
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "";
}

std::vector<std::uint64_t> blocks_of(const Requests& read, std::size_t i) {
  const auto blocks = read.blocks_of(read.requests[i]);
  return {blocks.begin(), blocks.end()};
}

}  // namespace

TEST_CASE("a priority is a whole number from 0 on, and 0 where there is no column", "[unit]") {
  const Requests read = parse_requests(
      "arrival_s,input_tokens,output_tokens,priority\n0.5,100,20,7\n1e0,200,30,0\n", "t.csv");
  CHECK(read.requests[0].priority == 7);
  CHECK(read.requests[1].priority == 0);
  CHECK(parse_requests("arrival_s,input_tokens,output_tokens\n1,2,3\n", "t").requests[0].priority ==
        0);
  CHECK_THROWS_WITH(
      parse_requests("arrival_s,input_tokens,output_tokens,priority\n1,2,3,-1\n", "t"),
      Catch::Contains("t:2: error: priority: a whole number from 0 to 1000000 is expected"));
}

TEST_CASE("our own traces are read, with and without sessions", "[unit]") {
  const Requests read = parse_requests(
      "arrival_s,input_tokens,output_tokens,session\n0.5,100,20,7\n1e0,200,30,\n", "t.csv");
  REQUIRE(read.requests.size() == 2);
  CHECK(read.requests[0].arrival.si() == 0.0);
  CHECK(read.requests[0].input_tokens == 100);
  CHECK(read.requests[0].output_tokens == 20);
  CHECK(read.requests[0].session == 7);
  CHECK(read.requests[1].arrival.si() == 0.5);
  CHECK(read.requests[1].session == -1);
  CHECK(read.blocks_of(read.requests[1]).empty());
  CHECK(parse_requests("output_tokens,arrival_s,input_tokens\n1,2,3\n", "t").requests[0].session ==
        -1);
}

TEST_CASE("Azure's first request arrives at 0 and the others after it, over midnight too",
          "[unit]") {
  const Requests read = parse_requests(
      "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2024-02-28 23:59:59.9799600,4808,10\r\n"
      "2024-02-29 00:00:00.0319600,3180,8\r\n2024-03-01 00:00:00,1,2\r\n"
      "2024-03-01 00:00:00.5+00:00,1,2",
      "t.csv");
  REQUIRE(read.requests.size() == 4);
  CHECK(read.requests[0].arrival.si() == 0.0);
  CHECK(read.requests[0].input_tokens == 4808);
  CHECK(read.requests[0].output_tokens == 10);
  CHECK(read.requests[1].arrival.si() == Approx(0.052).epsilon(1e-12));
  CHECK(read.requests[2].arrival.si() == Approx(86400.02004).epsilon(1e-12));
  CHECK(read.requests[3].arrival.si() == Approx(86400.52004).epsilon(1e-12));
}

TEST_CASE("Mooncake's requests are in milliseconds and keep their blocks", "[unit]") {
  const Requests read = parse_requests(
      R"({"timestamp": 1500, "input_length": 1025, "output_length": 5, "hash_ids": [0, 14, 15]}
{"hash_ids":[],"output_length":9,"input_length":512,"timestamp":2000.5}
{"timestamp": 3000, "input_length": 512, "output_length": 5, "hash_ids": [18446744073709551615]}
)",
      "t.jsonl");
  REQUIRE(read.requests.size() == 3);
  CHECK(read.block_tokens == 512);
  CHECK(read.requests[0].arrival.si() == 0.0);
  CHECK(read.requests[0].input_tokens == 1025);
  CHECK(read.requests[0].output_tokens == 5);
  CHECK(blocks_of(read, 0) == std::vector<std::uint64_t>{0, 14, 15});
  CHECK(read.requests[1].arrival.si() == Approx(0.5005));
  CHECK(blocks_of(read, 1).empty());
  CHECK(blocks_of(read, 2) == std::vector<std::uint64_t>{18446744073709551615ULL});
}

TEST_CASE("requests out of order are put in order with their blocks", "[unit]") {
  const Requests read = parse_requests(
      R"({"timestamp": 9, "input_length": 8, "output_length": 5, "hash_ids": [1]}
{"timestamp": 3, "input_length": 7, "output_length": 5, "hash_ids": [2]})",
      "t.jsonl");
  CHECK(read.requests[0].input_tokens == 7);
  CHECK(blocks_of(read, 0) == std::vector<std::uint64_t>{2});
  CHECK(blocks_of(read, 1) == std::vector<std::uint64_t>{1});
}

TEST_CASE("a trace that cannot be read is told with its place", "[unit]") {
  const std::string own = "arrival_s,input_tokens,output_tokens\n0,1,1\n";
  const std::string azure = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
  const std::string object = R"({"timestamp": 0, "input_length": 8, "output_length": 5, )";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {own + "-1,1,1\n", "t:3: error: arrival_s: seconds from 0 to 1e12 are expected, not \"-1\""},
      {own + "inf,1,1\n",
       "t:3: error: arrival_s: seconds from 0 to 1e12 are expected, not \"inf\""},
      {own + "1e308,1,1\n",
       "t:3: error: arrival_s: seconds from 0 to 1e12 are expected, not \"1e308\""},
      {own + "1,1.5,1\n",
       "t:3: error: input_tokens: a whole number from 1 to 1000000000 is expected, not \"1.5\""},
      {own + "1,1,0\n",
       "t:3: error: output_tokens: a whole number from 1 to 1000000000 is expected, not \"0\""},
      {own + "1,1\n", "t:3: error: 2 cells, but the first line has 3"},
      {"arrival_s,input_tokens,output_tokens,sesion\n",
       "t:1: error: unknown column \"sesion\"; did you mean \"session\"? (allowed: arrival_s, "
       "input_tokens, output_tokens, session, priority)"},
      {"arrival_s,input_tokens\n",
       "t: error: no column \"output_tokens\"; did you mean \"input_tokens\"?"},
      {"a,b\n",
       "t:1: error: not a trace of requests: the first line is neither "
       "\"arrival_s,input_tokens,output_tokens\", nor "
       "\"TIMESTAMP,ContextTokens,GeneratedTokens\", nor a JSON object"},
      {azure, "t: error: a trace without a request"},
      {azure + "2023-02-29 00:00:00,1,1\n",
       "t:2: error: TIMESTAMP: a time such as 2023-11-16 18:17:03.9799600 is expected, not "
       "\"2023-02-29 00:00:00\""},
      {azure + "2023-11-16T18:17:03,1,1\n",
       "t:2: error: TIMESTAMP: a time such as 2023-11-16 18:17:03.9799600 is expected, not "
       "\"2023-11-16T18:17:03\""},
      {object + R"("hash_ids": [1, x]})", "t:1:73: error: a whole number from 0 on is expected"},
      {object + R"("hash_ids": [1.5]})", "t:1:70: error: a whole number from 0 on is expected"},
      {object + R"("hash_ids": [1])", "t:1:72: error: '}' is expected"},
      {object + R"("hash_ids": [1, 2]})",
       "t:1:1: error: 2 hash_ids are more than the blocks of 512 tokens in 8"},
      {R"({"timestamp)", "t:1:12: error: '\"' is expected"},
      {R"({"timestamp": 0, "hash_ids)", "t:1:27: error: '\"' is expected"},
      {object + R"("turn": 1})",
       "t:1:57: error: unknown key (allowed: timestamp, input_length, output_length, hash_ids)"},
      {object + R"("timestamp": 1})", "t:1:57: error: the key is there twice"},
      {R"({"timestamp": 0, "input_length": 8, "hash_ids": []})",
       "t:1:1: error: the key \"output_length\" is required"},
      {object + "\"hash_ids\": []}\n{\"timestamp\": -1}",
       "t:2:15: error: milliseconds from 0 to 1e15 are expected"},
      {object + "\"hash_ids\": []} {", "t:1:73: error: the end of the line is expected"},
  };
  for (const auto& [text, message] : cases) {
    CHECK(error_of(text) == message);
  }
}

TEST_CASE("published traces have as many requests and tokens as their papers say", "[validation]") {
  struct Trace {
    std::string file;
    std::size_t requests;
    double input_mean, output_mean, last_arrival_s;
  };
  for (const Trace& trace : {Trace{"mooncake_conversation.jsonl.gz", 12031, 12035, 343, 3537},
                             Trace{"AzureLLMInferenceTrace_conv.csv.gz", 19366, 1155, 211, 3501},
                             Trace{"AzureLLMInferenceTrace_code.csv.gz", 8819, 2048, 28, 3435}}) {
    const Requests read =
        workloads::read_requests(calibrate::measurements() / "traces" / trace.file);
    double input = 0.0;
    double output = 0.0;
    for (const workloads::Request& request : read.requests) {
      input += static_cast<double>(request.input_tokens);
      output += static_cast<double>(request.output_tokens);
    }
    const auto count = static_cast<double>(read.requests.size());
    CHECK(read.requests.size() == trace.requests);
    CHECK(input / count == Approx(trace.input_mean).epsilon(0.001));
    CHECK(output / count == Approx(trace.output_mean).epsilon(0.01));
    CHECK(read.requests.back().arrival.si() == Approx(trace.last_arrival_s).epsilon(0.001));
  }
}

}  // namespace roofcast::unit_workloads_request_traces
