// SPDX-License-Identifier: Apache-2.0
//
// Input that was made to hurt, or that an editor of another age has written: refused in words, or
// read right, and soon.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "base/document/fields.hpp"
#include "base/document/node.hpp"
#include "base/document/problems.hpp"
#include "base/utf8.hpp"
#include "sim/decide/sweep.hpp"
#include "sim/decide/sweep_points.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::bad_input_hostile {

using Catch::Matchers::ContainsSubstring;

namespace {

class Stopwatch {
 public:
  double seconds() const {
    return static_cast<double>(std::clock() - begin_) / static_cast<double>(CLOCKS_PER_SEC);
  }

 private:
  std::clock_t begin_ = std::clock();
};

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

// A time of this process, so that a busy machine does not fail the test.
constexpr double kSoon = kSanitized ? 120.0 : 5.0;  // s

// The most memory that a process of its own had at once, what it began with included.
long kilobytes_taken(const std::function<void()>& work) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    work();
    _exit(0);
  }
  int status = 0;
  rusage usage{};
  REQUIRE(wait4(child, &status, 0, &usage) == child);
  CHECK(status == 0);
  return usage.ru_maxrss;
}

// What is said about a text that is read as a scenario; empty when nothing.
std::string complaint(const std::string& text) {
  try {
    sim::read_scenario(base::parse_document("hostile.yaml", text));
    return "";
  } catch (const base::InputError& error) {
    return error.what();
  }
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string result;
  result.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) {
    result += text;
  }
  return result;
}

// No byte that a terminal obeys: only lines, and no control characters in them.
bool is_safe(const std::string& message) {
  for (std::size_t i = 0; i < message.size(); ++i) {
    const auto c = static_cast<unsigned char>(message[i]);
    const bool c1 =
        c == 0xc2 && i + 1 < message.size() && static_cast<unsigned char>(message[i + 1]) < 0xa0;
    if ((c < 0x20 && c != '\n') || c == 0x7f || c1 ||
        base::character_size(message.substr(i, 4)) == 0) {
      const bool inside = (c & 0xc0U) == 0x80U;
      if (!inside) {
        return false;
      }
    }
  }
  return true;
}

const std::string kScenario =
    "system: hgx_h200\nmodel: llama-3.1-70b\nprecision: fp8\ndeployment: {tensor_parallel: 8}\n"
    "serving: {stack: vllm}\n"
    "traffic: {input_tokens: 2048, output_tokens: 512, concurrency: 64}\n";

std::string with_input_tokens(const std::string& value) {
  std::string text = kScenario;
  return text.replace(text.find("2048"), 4, value);
}

}  // namespace

TEST_CASE("a document nested ten thousand deep is refused at once", "[bad_input]") {
  const Stopwatch watch;
  CHECK_THAT(complaint(repeated("[", 10'000) + repeated("]", 10'000)),
             ContainsSubstring("nested deeper than 64 levels"));
  CHECK_THAT(complaint(repeated("{a: ", 10'000) + repeated("}", 10'000)),
             ContainsSubstring("nested deeper than 64 levels"));
  CHECK_THAT(complaint(repeated("[", 10'000)), ContainsSubstring("is a bracket not closed?"));
  CHECK_THAT(complaint(repeated("- ", 10'000)), ContainsSubstring("nested deeper than 64 levels"));
  CHECK_THAT(complaint(repeated("? ", 10'000)), ContainsSubstring("error"));
  CHECK(watch.seconds() < kSoon);
}

TEST_CASE("a bomb of aliases never goes off", "[bad_input]") {
  std::string bomb = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 40; ++i) {
    bomb += fmt::format("a{0}: &a{0} [*a{1}, *a{1}]\n", i, i - 1);
  }
  const Stopwatch watch;
  CHECK_THAT(complaint(bomb), ContainsSubstring("anchors (&name) are not supported"));
  CHECK(watch.seconds() < kSoon);
}

TEST_CASE("a file of 100 MB is refused without being read to its end", "[bad_input]") {
  const auto file =
      std::filesystem::temp_directory_path() / fmt::format("roofcast_large_{}.yaml", std::clock());
  std::ofstream(file) << "a: 1\n";
  std::filesystem::resize_file(file, 100'000'000);
  const Stopwatch watch;
  std::string message;
  try {
    base::load_document(file);
  } catch (const base::InputError& error) {
    message = error.what();
  }
  std::filesystem::remove(file);
  CHECK_THAT(message, ContainsSubstring("larger than 4 MiB"));
  CHECK(watch.seconds() < kSoon);
}

TEST_CASE("no document of 4 MB takes more than a second or 100 MB", "[bad_input]") {
  const std::vector<std::string> documents = {
      repeated("[", 4'000'000),
      repeated("[a,", 1'300'000),
      "traffic: [" + repeated("a,", 2'000'000) + "a]",
      "[" + repeated("{},", 1'300'000) + "{}]",
      "{" + repeated(":,", 2'000'000),
      repeated("- a\n", 1'000'000),
      repeated("- ", 2'000'000),
      "a: &a [x]\nb: [" + repeated("*a,", 1'300'000) + "]",
      "traffic: {input_tokens: " + repeated("9", 4'000'000) + "}",
      "system: \"" + repeated("\\n", 2'000'000) + "\"",
      "a: |\n" + repeated(" a\n", 1'300'000),
  };
  const long nothing = kilobytes_taken([] {});
  for (const std::string& document : documents) {
    INFO(document.substr(0, 30));
    const Stopwatch watch;
    CHECK(complaint(document) != "");
    CHECK(watch.seconds() < kSoon);
    if (!kSanitized) {
      CHECK(kilobytes_taken([&] { complaint(document); }) - nothing < 100'000);
    }
  }
}

TEST_CASE("a sweep of too many points is refused before its axes are made", "[bad_input]") {
  std::string sweep = "base: {}\naxes:\n";
  for (int i = 0; i < 50; ++i) {
    sweep += fmt::format("  traffic.k{}: {{from: 1, to: 100000, step: 1}}\n", i);
  }
  const auto read = [&] {
    try {
      sim::read_sweep(base::parse_document("hostile.yaml", sweep));
      return std::string();
    } catch (const base::InputError& error) {
      return std::string(error.what());
    }
  };
  const long nothing = kilobytes_taken([] {});
  const Stopwatch watch;
  CHECK_THAT(read(), ContainsSubstring("make 1e+10 points; at most 1000000000 in one sweep"));
  CHECK(watch.seconds() < kSoon);
  if (!kSanitized) {
    CHECK(kilobytes_taken(read) - nothing < 100'000);
  }
}

TEST_CASE("a sweep of many unknown axes is refused soon", "[bad_input]") {
  for (const int axes : {1000, 50'000}) {
    std::string sweep = "base: {system: hgx_h200}\naxes:\n";
    for (int i = 0; i < axes; ++i) {
      sweep += fmt::format("  traffic.k{}: [1]\n", i);
    }
    const Stopwatch watch;
    CHECK_THROWS_AS(sim::SweepPoints(sim::read_sweep(base::parse_document("hostile.yaml", sweep))),
                    base::InputError);
    CHECK(watch.seconds() < kSoon);
  }
}

TEST_CASE("tens of thousands of mistakes are told in a hundred errors", "[bad_input]") {
  const Stopwatch watch;
  std::string keys;
  for (int i = 0; i < 50'000; ++i) {
    keys += fmt::format("k{}: 1\n", i);
  }
  const std::string unknown = complaint(keys);
  CHECK_THAT(unknown, ContainsSubstring("and more; these are the first 100"));
  CHECK(unknown.size() < 100'000);
  const std::string twice = complaint(keys + keys);
  CHECK_THAT(twice, ContainsSubstring("duplicate key \"k99\""));
  CHECK_THAT(twice, ContainsSubstring("and more; these are the first 100"));
  CHECK_THAT(complaint(fmt::format("traffic: [{}]", repeated("{}, ", 50'000))),
             ContainsSubstring("a map"));
  CHECK(watch.seconds() < kSoon);
}

TEST_CASE("bytes that are no text are refused where they stand", "[bad_input]") {
  CHECK_THAT(complaint(std::string("system: a\nmodel: \0b\n", 20)),
             ContainsSubstring("hostile.yaml:2:8: error: the control character 0x00"));
  CHECK_THAT(complaint("system: \x1b[31mred\n"),
             ContainsSubstring("hostile.yaml:1:9: error: the control character 0x1b"));
  CHECK_THAT(complaint("\x7f\x45LF\x02\x01"), ContainsSubstring("the control character 0x7f"));
  CHECK_THAT(complaint("\x89PNG\r\n\x1a\n"), ContainsSubstring("is not UTF-8 text"));
  CHECK_THAT(complaint(std::string("\xff\xfes\0y\0s\0", 8)),
             ContainsSubstring("is not UTF-8 text"));
  CHECK_THAT(complaint("name: caf\xe9\n"),
             ContainsSubstring("hostile.yaml:1:10: error: is not UTF-8"));
  for (const char* bad : {"\x80", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xf8\x88\x80\x80\x80", "\xe2\x82", "\xf0\x9f\x98"}) {
    CHECK_THAT(complaint(bad), ContainsSubstring("is not UTF-8 text"));
  }
}

TEST_CASE("nothing a document says can steer the terminal", "[bad_input]") {
  const std::vector<std::string> documents = {
      "\"\\e[31mred\\e[0m\": 1\n",
      "system: \"\\e]0;title\\a\"\n",
      "system: \"\\x9b31m\"\n",
      "precision: {weights: \"\\r\\e[2Kfine\"}\n",
      "traffic: {input_tokens: \"\\u202e8402\"}\n",
      "system: \x1b[31mred\n",
      "name: caf\xe9\n",
      "sys\u202etem: a\n",
  };
  for (const std::string& document : documents) {
    const std::string message = complaint(document);
    INFO(message);
    CHECK(message != "");
    CHECK(is_safe(message));
  }
}

TEST_CASE("the excerpt of a very long line is the part around the caret", "[bad_input]") {
  const std::string tail = repeated(", 1", 100'000);
  const std::string message =
      complaint("traffic: {input_tokens: [" + tail.substr(2) + "], outputtokens: 5" + "}");
  INFO(message.substr(0, 2000));
  CHECK(message.size() < 10'000);
  CHECK_THAT(message, ContainsSubstring("outputtokens: 5}\n"));
  const auto line = message.find("outputtokens: 5}");
  const auto line_begin = message.rfind('\n', line);
  const auto caret_begin = message.find('\n', line);
  const auto caret = message.find('^', caret_begin);
  // The line begins with an ellipsis of three bytes in one column.
  CHECK(caret - caret_begin == line - line_begin - 2);
  const std::string long_name = complaint("system: " + repeated("é", 500'000) + "\n");
  CHECK(long_name.size() < 10'000);
  CHECK(is_safe(long_name));
}

TEST_CASE("the caret stands under its character after letters of several bytes", "[bad_input]") {
  const std::string message = complaint("traffic: {naïveté: 1, öäü: 2}\n");
  CHECK_THAT(message, ContainsSubstring("hostile.yaml:1:23: error: traffic.öäü"));
  CHECK_THAT(message, ContainsSubstring("\n  traffic: {naïveté: 1, öäü: 2}\n  " +
                                        std::string(22, ' ') + "^\n"));
}

TEST_CASE("a number is decimal, finite and without a second sign", "[bad_input]") {
  for (const char* bad : {"1e400", "-1e400", "0x10", "0b1", "0o17", "1_000", "'1,000'", "inf",
                          ".inf", "nan", ".nan", "+-5", "--5", "1e", "1e99999999999", "２", "''"}) {
    INFO(bad);
    CHECK_THAT(complaint(with_input_tokens(bad)), ContainsSubstring("a whole number is expected"));
  }
  for (const char* good : {"010", "+10", "10.0", "1e1", "'10'", "0010.0e0"}) {
    INFO(good);
    const auto scenario =
        sim::read_scenario(base::parse_document("good.yaml", with_input_tokens(good)));
    CHECK(scenario.traffic.input_tokens == 10);
  }
}

TEST_CASE("only true and false are truth values", "[bad_input]") {
  for (const char* bad : {"yes", "no", "on", "off", "True", "FALSE", "y", "1", "0"}) {
    std::string text = kScenario;
    text.replace(text.find("tensor_parallel: 8"), 18, std::string("sequence_parallel: ") + bad);
    INFO(bad);
    CHECK_THAT(complaint(text), ContainsSubstring("must be true or false"));
  }
}

TEST_CASE("line ends of other systems and a byte order mark change nothing", "[bad_input]") {
  std::string crlf;
  for (const char c : kScenario) {
    crlf += c == '\n' ? "\r\n" : std::string(1, c);
  }
  CHECK(complaint(crlf) == "");
  CHECK(complaint("\xef\xbb\xbf" + kScenario) == "");
  std::string bad = crlf;
  bad.replace(bad.find("512"), 3, "512k");
  CHECK_THAT(complaint("\xef\xbb\xbf" + bad),
             ContainsSubstring("hostile.yaml:6:46: error: traffic.output_tokens"));
  CHECK_THAT(complaint("\xef\xbb\xbfsistem: hgx_h200\n"),
             ContainsSubstring("hostile.yaml:1:1: error: sistem: unknown key \"sistem\""));
}

TEST_CASE("JSON is read as it is", "[bad_input]") {
  CHECK(complaint(R"({
    "system": "hgx_h200", "model": "llama-3.1-70b",
    "precision": {"weights": "fp8", "activations": "fp8", "kv_cache": "fp8"},
    "deployment": {"tensor_parallel": 8, "sequence_parallel": false},
    "serving": {"stack": "vllm"},
	"traffic": {"input_tokens":2048,"output_tokens": 5.12e2, "concurrency": 64, "cached_tokens": null}
  })") == "");
}

TEST_CASE("a directory or a file that is not there is told by name", "[bad_input]") {
  const auto complain = [](const std::filesystem::path& file) -> std::string {
    try {
      base::load_document(file);
      return "";
    } catch (const base::InputError& error) {
      return error.what();
    }
  };
  CHECK_THAT(complain("."), ContainsSubstring("error: . is a directory, not a document"));
  CHECK_THAT(complain("no/such.yaml"), ContainsSubstring("error: cannot read no/such.yaml"));
}

}  // namespace roofcast::bad_input_hostile
