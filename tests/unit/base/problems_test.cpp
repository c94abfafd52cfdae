// SPDX-License-Identifier: Apache-2.0
#include "base/document/problems.hpp"

#include <memory>
#include <string>

#include "tests/catch.hpp"

namespace roofcast::unit_base_problems {

using namespace roofcast::base;

namespace {

Place place(const std::string& text, int line, int column) {
  return {std::make_shared<const Source>(Source{"test.yaml", text, {}}), {line, column}};
}

std::string text_of(const Place& where, const std::string& path, const std::string& message) {
  Problems problems;
  problems.add(where, path, message);
  return problems.text();
}

}  // namespace

TEST_CASE("a problem is told with file, line, column, key path, the line and a caret", "[unit]") {
  CHECK(text_of(place("a: 1\n    b: wrong\n", 1, 7), "a.b", "is wrong") ==
        "test.yaml:2:8: error: a.b: is wrong\n"
        "  b: wrong\n"
        "     ^\n");
}

TEST_CASE("a problem without a path or a place is told without them", "[unit]") {
  CHECK(text_of(place("a\n", 0, 0), "", "is wrong") ==
        "test.yaml:1:1: error: is wrong\n  a\n  ^\n");
  CHECK(text_of({}, "a", "is wrong") == "error: a: is wrong\n");
  CHECK(text_of({}, "", "is wrong") == "error: is wrong\n");
}

TEST_CASE("a place outside its text is told without a line", "[unit]") {
  CHECK(text_of(place("", 0, 0), "", "is empty") == "test.yaml:1:1: error: is empty\n");
  CHECK(text_of(place("a\n", 7, 3), "", "is wrong") == "test.yaml:8:4: error: is wrong\n");
  CHECK(text_of(place("a\n", 0, 9), "", "is wrong") == "test.yaml:1:10: error: is wrong\n");
}

TEST_CASE("columns count characters, and the caret stands under its character", "[unit]") {
  CHECK(text_of(place("é: ü\n", 0, 4), "", "is wrong") ==
        "test.yaml:1:4: error: is wrong\n  é: ü\n     ^\n");
  CHECK(text_of(place("\ta:\tb\r\n", 0, 4), "", "is wrong") ==
        "test.yaml:1:5: error: is wrong\n  a: b\n     ^\n");
}

TEST_CASE("a problem that is found twice is told once", "[unit]") {
  Problems problems;
  CHECK(problems.empty());
  problems.throw_if_any();
  problems.add({}, "a", "is wrong");
  problems.add({}, "a", "is wrong");
  problems.add({}, "b", "is wrong");
  CHECK(problems.size() == 2);
  CHECK(problems.text() == "error: a: is wrong\nerror: b: is wrong\n");
  CHECK_THROWS_AS(problems.throw_if_any(), InputError);
}

TEST_CASE("an error has the parts of its problems, also once it was collected with others",
          "[unit]") {
  Problems inner;
  inner.add(place("a: 1\n    b: wrong\n", 1, 7), "a.b", "is wrong");
  inner.add_text("error: something else\n");
  Problems outer;
  try {
    inner.throw_if_any();
  } catch (const InputError& error) {
    outer.add(error);
  }
  try {
    outer.throw_if_any();
    FAIL();
  } catch (const InputError& error) {
    CHECK(error.what() == inner.text());
    REQUIRE(error.problems().size() == 2);
    const Problem& first = error.problems()[0];
    CHECK(first.file == "test.yaml");
    CHECK(first.line == 2);
    CHECK(first.column == 8);
    CHECK(first.path == "a.b");
    CHECK(first.message == "is wrong");
    CHECK(first.excerpt == "  b: wrong\n     ^\n");
    CHECK(error.problems()[1].line == 0);
    CHECK(error.problems()[1].message == "something else");
  }
  CHECK(InputError("error: at once\n").problems().front().message == "at once");
}

TEST_CASE("after a hundred problems the rest is counted as more", "[unit]") {
  Problems problems;
  for (int i = 0; i < 100; ++i) {
    CHECK_FALSE(problems.full());
    problems.add({}, "", std::to_string(i));
  }
  CHECK(problems.full());
  CHECK(problems.text().ends_with("error: 99\n"));
  problems.add({}, "", "one more");
  CHECK(problems.size() == 100);
  CHECK(problems.text().ends_with("error: 99\nerror: and more; these are the first 100\n"));
}

TEST_CASE("a problem's text holds no character that a terminal obeys", "[unit]") {
  CHECK(text_of({}, "a\x1b[1m", "\"b\nc\x9b\u009b\u202e\"") == "error: a?[1m: \"b c???\"\n");
}

}  // namespace roofcast::unit_base_problems
