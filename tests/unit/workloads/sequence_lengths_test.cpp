// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/sequence_lengths.hpp"

#include <string>
#include <vector>

#include "base/document/problems.hpp"
#include "tests/catch.hpp"
#include "tests/scratch_file.hpp"

namespace roofcast::unit_workloads_sequence_lengths {

using workloads::read_lengths;
using workloads::SequencePart;

using Lengths = std::vector<std::int64_t>;

TEST_CASE("lengths are a column of a table, which may have others, plain or compressed", "[unit]") {
  for (const bool compressed : {false, true}) {
    const Scratch table("document,tokens\na,12\nb,7\nc,900\n", compressed);
    CHECK(read_lengths(table.file(), SequencePart::input) == Lengths{12, 7, 900});
  }
}

TEST_CASE("of a trace the lengths are its prompts, answers, or both, by arrival", "[unit]") {
  const Scratch trace("arrival_s,input_tokens,output_tokens\n2,100,20\n1,300,7\n");
  CHECK(read_lengths(trace.file(), SequencePart::input) == Lengths{300, 100});
  CHECK(read_lengths(trace.file(), SequencePart::output) == Lengths{7, 20});
  CHECK(read_lengths(trace.file(), SequencePart::both) == Lengths{307, 120});
  const Scratch mooncake(
      "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 5, \"hash_ids\": [1]}\n");
  CHECK(read_lengths(mooncake.file(), SequencePart::both) == Lengths{605});
}

TEST_CASE("a length that is none is named with file, line and column", "[bad_input]") {
  const auto error_of = [](const std::string& text) -> std::string {
    const Scratch file(text);
    try {
      read_lengths(file.file(), SequencePart::input);
      return "";
    } catch (const base::InputError& error) {
      return error.what();
    }
  };
  CHECK_THAT(
      error_of("tokens\n5\n0\n"),
      Catch::Contains(
          "file:3: error: tokens: a whole number from 1 to 1000000000 is expected, not \"0\""));
  CHECK_THAT(error_of("tokens\n5.5\n"), Catch::Contains("not \"5.5\""));
  CHECK_THAT(error_of("tokens\n"), Catch::Contains("error: a table without a sequence"));
  CHECK_THAT(error_of("token\n5\n"),
             Catch::Contains("no column \"tokens\"; did you mean \"token\"?"));
  CHECK_THAT(error_of("arrival_s,input_tokens\n1,2\n"), Catch::Contains("output_tokens"));
}

}  // namespace roofcast::unit_workloads_sequence_lengths
