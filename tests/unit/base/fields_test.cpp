// SPDX-License-Identifier: Apache-2.0
#include "base/document/fields.hpp"

#include <functional>
#include <string>
#include <vector>

#include "base/units/quantity.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_base_fields {

using namespace roofcast::base;
using Catch::Matchers::ContainsSubstring;

namespace {

// What is said when `read` reads the text.
std::string said(const std::string& text, const std::function<void(Fields&)>& read) {
  const Node document = parse_document("test.yaml", text);
  Problems problems;
  Fields fields(document, "", problems);
  read(fields);
  fields.end();
  return problems.text();
}

}  // namespace

TEST_CASE("every reader takes its value from the key it names", "[unit]") {
  std::string text;
  bool flag = false;
  std::int64_t integer = 0;
  double number = 0.0;
  std::vector<std::string> texts;
  Bytes size{};
  std::optional<Seconds> time;
  std::optional<Watts> absent;
  int choice = 0;
  CHECK(said("text: some words\nflag: true\ninteger: 1e3\nnumber: -2.5\ntexts: [a, b]\n"
             "size: 2 KiB\ntime: 3 ms\nchoice: second\n",
             [&](Fields& f) {
               f.text("text", text);
               f.flag("flag", flag);
               f.integer("integer", integer, positive);
               f.number("number", number, any_value);
               f.texts("texts", texts);
               f.quantity("size", size);
               f.quantity("time", time);
               f.quantity("absent", absent);
               f.choice<int>("choice", choice, {{"first", 1}, {"second", 2}});
             }) == "");
  CHECK(text == "some words");
  CHECK(flag);
  CHECK(integer == 1000);
  CHECK(number == -2.5);
  CHECK(texts == std::vector<std::string>{"a", "b"});
  CHECK(size.si() == 2048.0);
  REQUIRE(time);
  CHECK(time->si() == Approx(0.003));
  CHECK_FALSE(absent);
  CHECK(choice == 2);
}

TEST_CASE("a list of numbers is read with its units, and each bad one told where it stands",
          "[unit]") {
  std::vector<std::int64_t> counts;
  std::vector<Seconds> times;
  const auto read = [&](Fields& f) {
    f.integers("counts", counts, positive);
    f.quantities("times", times);
  };
  CHECK(said("counts: [2, 1e3]\ntimes: [2 s, 3 ms]\n", read) == "");
  CHECK(counts == std::vector<std::int64_t>{2, 1000});
  REQUIRE(times.size() == 2);
  CHECK(times[1].si() == Approx(0.003));
  const std::string errors = said("counts: [2, 0, 1.5]\ntimes: [2, 0 s, 3 GB]\n", read);
  CHECK_THAT(errors, ContainsSubstring("1:13: error: counts: must be more than 0, not 0"));
  CHECK_THAT(errors, ContainsSubstring("1:16: error: counts: a whole number is expected"));
  CHECK_THAT(errors, ContainsSubstring("2:9: error: times: \"2\" has no unit"));
  CHECK_THAT(errors, ContainsSubstring("2:12: error: times: must be more than 0, not 0 s"));
  CHECK_THAT(errors, ContainsSubstring("2:17: error: times: \"3 GB\" is a size"));
  CHECK_THAT(said("counts: 5\n", read), ContainsSubstring("a list is expected here: [a, b]"));
}

TEST_CASE("a value may be a number or a map where its reader asks which", "[unit]") {
  const auto read = [](Fields& f) {
    CHECK(f.is_map("map"));
    CHECK_FALSE(f.is_map("number"));
    CHECK_FALSE(f.is_map("absent"));
    f.take("map");
    f.take("number");
  };
  CHECK(said("map: {a: 1}\nnumber: 5\n", read) == "");
}

TEST_CASE("a required key that is absent or null is reported at the map or the key", "[unit]") {
  double a = 0.0;
  const auto read = [&](Fields& f) {
    f.group("g", [&](Fields& g) { g.number("a", a, any_value); });
  };
  CHECK(said("g: {}\n", read) ==
        "test.yaml:1:1: error: g.a: the key \"a\" is required\n  g: {}\n  ^\n");
  CHECK(said("g: {a: null}\n", read) ==
        "test.yaml:1:5: error: g.a: the key \"a\" is required\n  g: {a: null}\n      ^\n");
  CHECK(said("h: 1\n", read) ==
        "test.yaml:1:1: error: g: the key \"g\" is required\n  h: 1\n  ^\n"
        "test.yaml:1:1: error: h: unknown key \"h\" (allowed: g)\n  h: 1\n  ^\n");
}

TEST_CASE("a whole number that may be unknown is empty when it is absent or null", "[unit]") {
  std::optional<std::int64_t> known;
  std::optional<std::int64_t> none;
  std::optional<std::int64_t> absent;
  const auto read = [&](Fields& f) {
    f.integer("known", known, positive);
    f.integer("none", none, positive);
    f.integer("absent", absent, positive);
  };
  CHECK(said("known: 3\nnone: null\n", read) == "");
  CHECK(known == 3);
  CHECK_FALSE(none);
  CHECK_FALSE(absent);
  CHECK_THAT(said("known: -1\n", read), ContainsSubstring("known: must be more than 0"));
}

TEST_CASE("an optional key that is absent or null leaves its default", "[unit]") {
  double number = 7.0;
  std::string text = "default";
  bool flag = true;
  std::int64_t integer = 7;
  Bytes size = Bytes::from_si(7.0);
  int choice = 7;
  CHECK(said("number: null\ntext:\n", [&](Fields& f) {
          f.number("number", number, positive, optional);
          f.text("text", text, optional);
          f.flag("flag", flag, optional);
          f.integer("integer", integer, positive, optional);
          f.quantity("size", size, positive, optional);
          f.choice<int>("choice", choice, {{"first", 1}}, optional);
          CHECK_FALSE(f.has("number"));
          CHECK_FALSE(f.has("flag"));
        }) == "");
  CHECK(number == 7.0);
  CHECK(text == "default");
  CHECK(flag);
  CHECK(integer == 7);
  CHECK(size.si() == 7.0);
  CHECK(choice == 7);
}

TEST_CASE("a range includes its ends unless it is open", "[unit]") {
  const auto fits = [](const std::string& value, Range range) {
    double number = 0.0;
    return said("n: " + value, [&](Fields& f) { f.number("n", number, range); }).empty();
  };
  CHECK(fits("0", not_negative));
  CHECK_FALSE(fits("-1e-30", not_negative));
  CHECK_FALSE(fits("0", positive));
  CHECK(fits("1e-30", positive));
  CHECK(fits("0", fraction));
  CHECK(fits("1", fraction));
  CHECK_FALSE(fits("1.0000001", fraction));
  CHECK_FALSE(fits("0.9999", at_least_one));
  CHECK(fits("-1e18", any_value));
}

TEST_CASE("a value out of its range is told with the bound and the user's own text", "[unit]") {
  Bytes size{};
  double number = 0.0;
  const std::string text = said("size: -2 GiB\nnumber: 1.50\n", [&](Fields& f) {
    f.quantity("size", size);
    f.number("number", number, fraction);
  });
  CHECK_THAT(text, ContainsSubstring("1:7: error: size: must be more than 0, not -2 GiB\n"));
  CHECK_THAT(text, ContainsSubstring("2:9: error: number: must be at most 1, not 1.50\n"));
}

TEST_CASE("a whole number may be written with a fraction of zero, not with another", "[unit]") {
  const auto value = [](const std::string& text) {
    std::int64_t integer = -1;
    const bool good =
        said("n: " + text, [&](Fields& f) { f.integer("n", integer, any_value); }).empty();
    return good ? integer : -1;
  };
  CHECK(value("4.0") == 4);
  CHECK(value("2e2") == 200);
  CHECK(value("+4") == 4);
  CHECK(value("'4'") == 4);
  CHECK(value("1e15") == 1'000'000'000'000'000);
  for (const char* bad : {"4.5", "1e16", "4 s", "four", "", "''", "[4]", "{n: 4}"}) {
    INFO(bad);
    CHECK(value(bad) == -1);
  }
}

TEST_CASE("a value of the wrong shape is told where it stands, and reading goes on", "[unit]") {
  std::string text;
  double number = 0.0;
  std::vector<std::string> texts;
  const std::string errors = said(
      "text: [a]\nnumber: {a: 1}\ntexts: a\ngroup: 5\neach: {a: 1}\nitems: [a, [b]]\nflag: 1\n",
      [&](Fields& f) {
        f.text("text", text);
        f.number("number", number, any_value);
        f.texts("texts", texts);
        f.group("group", [](Fields& g) {
          double absent = 0.0;
          g.number("absent", absent, any_value);
        });
        f.each("each", [](Fields&) { FAIL("a map is no list"); });
        f.texts("items", texts);
        bool flag = false;
        f.flag("flag", flag);
      });
  INFO(errors);
  CHECK_THAT(errors, ContainsSubstring("1:7: error: text: a single value is expected here"));
  CHECK_THAT(errors, ContainsSubstring("2:1: error: number: a single value is expected here"));
  CHECK_THAT(errors, ContainsSubstring("3:8: error: texts: a list is expected here: [a, b]"));
  CHECK_THAT(errors, ContainsSubstring("4:8: error: group: a map of keys is expected here"));
  CHECK_THAT(errors, ContainsSubstring("5:1: error: each: a list with at least one entry"));
  CHECK_THAT(errors, ContainsSubstring("6:12: error: items: a list of single values"));
  CHECK_THAT(errors, ContainsSubstring("7:7: error: flag: must be true or false, not \"1\""));
  CHECK(errors.find("absent") == std::string::npos);
}

TEST_CASE("a group and each entry of a list are read with their path", "[unit]") {
  std::vector<double> values;
  const auto read = [&](Fields& f) {
    f.each("list", [&](Fields& g) {
      double value = 0.0;
      g.number("value", value, positive);
      values.push_back(value);
    });
    CHECK(f.group("group", [](Fields& g) { CHECK(g.path() == "group"); }));
    CHECK_FALSE(f.group(
        "none", [](Fields&) { FAIL("there is no such group"); }, optional));
  };
  CHECK(said("list: [{value: 1}, {value: 2}]\ngroup: {}\n", read) == "");
  CHECK(values == std::vector<double>{1.0, 2.0});
  const std::string errors =
      said("list:\n  - value: 1\n  - value: 0\n  - valeu: 2\ngroup: {}\n", read);
  CHECK_THAT(errors, ContainsSubstring("3:12: error: list[1].value: must be more than 0, not 0"));
  CHECK_THAT(errors,
             ContainsSubstring(
                 "4:5: error: list[2].valeu: unknown key \"valeu\"; did you mean \"value\"?"));
}

TEST_CASE("a key nobody asks for is told with the nearest name and the keys there are", "[unit]") {
  double a = 0.0;
  CHECK(
      said("alpha: 1\nbeta: 2\ngama: 3\n",
           [&](Fields& f) {
             f.number("alpha", a, any_value);
             f.take("beta");
             f.number("gamma", a, any_value, optional);
           }) ==
      "test.yaml:3:1: error: gama: unknown key \"gama\"; did you mean \"gamma\"? (allowed: alpha, "
      "beta, gamma)\n  gama: 3\n  ^\n");
}

TEST_CASE("a required key that is misspelt is one mistake, and reported once", "[unit]") {
  double a = 0.0;
  const auto read = [&](Fields& f) {
    f.number("bandwidth", a, any_value);
    f.number("capacity", a, any_value);
  };
  const std::string one = said("bandwith: 1\ncapacity: 2\n", read);
  CHECK_THAT(one, ContainsSubstring("did you mean \"bandwidth\"?"));
  CHECK(one.find("is required") == std::string::npos);
  const std::string two = said("bandwith: 1\n", read);
  CHECK_THAT(two, ContainsSubstring("the key \"capacity\" is required"));
  CHECK(two.find("the key \"bandwidth\" is required") == std::string::npos);
}

TEST_CASE("a problem of meaning is told at its key, or at the map without it", "[unit]") {
  const auto read = [](Fields& f) {
    f.group("g", [](Fields& g) {
      g.take("a");
      g.problem("a", "does not suit");
    });
  };
  CHECK(said("g: {a: 1}\n", read) ==
        "test.yaml:1:8: error: g.a: does not suit\n  g: {a: 1}\n         ^\n");
  CHECK(said("g: {}\n", read) == "test.yaml:1:1: error: g.a: does not suit\n  g: {}\n  ^\n");
}

TEST_CASE("a document that is no map is reported once, whatever its reader asks for", "[unit]") {
  std::string text;
  CHECK(said("[a, b]\n", [&](Fields& f) {
          f.text("a", text);
          f.source();
        }) == "test.yaml:1:1: error: a map of keys is expected here\n  [a, b]\n  ^\n");
}

TEST_CASE("a group of figures names its source", "[unit]") {
  const auto read = [](Fields& f) { f.source(); };
  CHECK(said("source: a datasheet\n", read) == "");
  CHECK_THAT(said("{}\n", read), ContainsSubstring("the key \"source\" is required"));
}

}  // namespace roofcast::unit_base_fields
