// SPDX-License-Identifier: Apache-2.0
#include "base/document/node.hpp"

#include <string>
#include <vector>

#include "base/document/problems.hpp"
#include "base/utf8.hpp"
#include "tests/catch.hpp"
#include "tests/equal_nodes.hpp"

namespace roofcast::unit_base_node {

using namespace roofcast::base;
using Catch::Matchers::ContainsSubstring;

namespace {

Node parsed(const std::string& text) { return parse_document("test.yaml", text); }

std::string complaint(const std::string& text) {
  try {
    parsed(text);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

std::pair<int, int> at(const Place& place) { return {place.mark.line, place.mark.column}; }

}  // namespace

TEST_CASE("a document is a tree of nulls, scalars, sequences and maps", "[unit]") {
  const Node root = parsed("a: text\nb: [1, two]\nc: {d: null, e: ~, f: }\n");
  REQUIRE(root.is_map());
  REQUIRE(root.entries.size() == 3);
  CHECK(root.find("a")->is_scalar());
  CHECK(root.find("a")->text == "text");
  REQUIRE(root.find("b")->is_sequence());
  CHECK(root.find("b")->items[1].text == "two");
  for (const char* key : {"d", "e", "f"}) {
    CHECK(root.find("c")->find(key)->is_null());
  }
  CHECK(root.find("absent") == nullptr);
  CHECK(root.find("a")->find("below a scalar") == nullptr);
}

TEST_CASE("a scalar keeps its text, whatever YAML would make of it", "[unit]") {
  const Node root = parsed("[010, yes, 0x1F, 1e3, .5, 12:30:45, 2001-12-14, 'null', \"\"]");
  const std::vector<std::string> texts = {"010",      "yes",        "0x1F", "1e3", ".5",
                                          "12:30:45", "2001-12-14", "null", ""};
  REQUIRE(root.items.size() == texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    CHECK(root.items[i].is_scalar());
    CHECK(root.items[i].text == texts[i]);
    CHECK(root.items[i].quoted == (i >= 7));
  }
}

TEST_CASE("a scalar knows its line and column, a map its key's", "[unit]") {
  const Node root = parsed("a: 1\nbb:\n  c: {d: 5}\n  e:\nf: [x, y]\n");
  CHECK(at(root.place) == std::pair(0, 0));
  CHECK(at(root.find("a")->place) == std::pair(0, 3));
  const Node& bb = *root.find("bb");
  CHECK(at(bb.place) == std::pair(1, 0));
  CHECK(at(bb.find("c")->place) == std::pair(2, 2));
  CHECK(at(bb.find("c")->find("d")->place) == std::pair(2, 9));
  CHECK(at(bb.find("e")->place) == std::pair(3, 2));
  CHECK(at(root.entries[2].key_place) == std::pair(4, 0));
  CHECK(at(root.find("f")->items[1].place) == std::pair(4, 7));
  CHECK(root.place.source->name == "test.yaml");
}

TEST_CASE("a key given twice is refused, also in quotes, with the line of the first", "[unit]") {
  CHECK(complaint("a: 1\nb: 2\n\"a\": 3\n") ==
        "test.yaml:3:1: error: duplicate key \"a\"; it is already given on line 1\n"
        "  \"a\": 3\n  ^\n");
  const std::string two = complaint("a: {b: 1, b: {x: 1}}\nc: 1\nc: [2]\n");
  CHECK_THAT(two, ContainsSubstring("test.yaml:1:11: error: duplicate key \"b\""));
  CHECK_THAT(two, ContainsSubstring("test.yaml:3:1: error: duplicate key \"c\""));
  CHECK(complaint("a: {b: 1}\nc: {b: 1}\n") == "");
}

TEST_CASE("a quote that is not closed is refused where it opens", "[unit]") {
  for (const char* text : {"a: \"b\n", "a: 'b\nc: d\n", "a: \"b\\\"\n", "a: \"", "a: 'it''s\n"}) {
    INFO(text);
    CHECK_THAT(complaint(text),
               ContainsSubstring("test.yaml:1:4: error: this quote is not closed"));
  }
  for (const char* text : {"a: \"b\\\\\"\n", "a: ''\n", "a: 'it''s'\n", "é: \"ü\"\n",
                           "a: >-\n  b\n", "a: |\n  \"b\n"}) {
    INFO(text);
    CHECK(complaint(text) == "");
  }
}

TEST_CASE("a tree survives being written and read again", "[unit]") {
  const Node root = parsed(R"(
empty map: {}
empty list: []
nothing:
list: [1, [2, [3, {}]], {a: b, c: [d]}]
map: {x: {y: {z: 1}}}
folded: >-
  several words
  on two lines
literal: |
  line one
    line two
)");
  const std::string text = to_yaml(root);
  INFO(text);
  CHECK(equal(parsed(text), root));
  CHECK(to_yaml(parsed(text)) == text);
}

TEST_CASE("any text survives being written and read again, as a value, an item or a key",
          "[unit]") {
  const std::vector<std::string> nasty = {"",
                                          " ",
                                          "  both  ",
                                          "null",
                                          "Null",
                                          "NULL",
                                          "~",
                                          "yes",
                                          "-",
                                          "- a",
                                          "-1",
                                          "--- a",
                                          "---",
                                          "...",
                                          "?",
                                          "? a",
                                          ":",
                                          "a: b",
                                          "a:",
                                          "a #b",
                                          "#a",
                                          "{",
                                          "}",
                                          "[a]",
                                          ",",
                                          "a, b",
                                          "&a",
                                          "*a",
                                          "!a",
                                          "!!str",
                                          "|",
                                          ">",
                                          "'",
                                          "''",
                                          "\"",
                                          "\"a\"",
                                          "%a",
                                          "@a",
                                          "`a",
                                          "<<",
                                          "=",
                                          "\\",
                                          "a\\nb",
                                          "\\x41",
                                          "line\nbreak",
                                          "tab\there",
                                          "\ttab",
                                          "cr\rlf\r\n",
                                          "\x1b[31m",
                                          "\x7f",
                                          "\x01",
                                          "bell\a",
                                          "é",
                                          "漢字",
                                          "😀",
                                          "a\nb\n",
                                          "\n",
                                          "  \n",
                                          "010",
                                          "1e400",
                                          "x1.5",
                                          "3.35 TB/s",
                                          "it's",
                                          "50 %",
                                          "C:\\dir",
                                          "a\"b",
                                          "key with spaces",
                                          "0x10",
                                          "true",
                                          ".inf",
                                          "2001-12-14",
                                          "\xef\xbb\xbf marked",
                                          std::string(2000, 'k'),
                                          std::string(300, '\x01')};
  Node root;
  Node list;
  list.kind = Node::Kind::sequence;
  for (const std::string& text : nasty) {
    list.items.push_back(scalar_node(text, {}));
    root["map"][text] = scalar_node(text, {});
  }
  root["list"] = list;
  const std::string text = to_yaml(root);
  INFO(text);
  CHECK(equal(parsed(text), root));
  for (const std::string& one : nasty) {
    const Node scalar = scalar_node(one, {});
    INFO(one);
    CHECK(equal(parsed(to_yaml(scalar)), scalar));
  }
}

TEST_CASE("an escape of one Latin-1 character is its UTF-8 text", "[unit]") {
  const Node root = parsed("\"a\\N\": \"\\_é\\x41\"\n");
  CHECK(root.entries[0].key == "a\u0085");
  CHECK(root.entries[0].value.text == "\u00a0éA");
}

TEST_CASE("indexing finds a key or adds it, and makes a null a map", "[unit]") {
  Node root;
  root["a"]["b"] = scalar_node("1", {});
  CHECK(root.is_map());
  CHECK(root.find("a")->find("b")->text == "1");
  root["a"]["b"] = scalar_node("2", {});
  CHECK(root.find("a")->entries.size() == 1);
  CHECK(root.find("a")->find("b")->text == "2");
}

TEST_CASE("a UTF-8 character has one to four bytes, and bytes out of order are none", "[unit]") {
  CHECK(character_size("") == 0);
  CHECK(character_size("a") == 1);
  CHECK(character_size("\u00e9!") == 2);
  CHECK(character_size("\u20ac!") == 3);
  CHECK(character_size("\U0001F600!") == 4);
  CHECK(character_size("\U0010FFFF") == 4);
  for (const char* bad :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3(", "\xe0\x9f\xbf", "\xed\xa0\x80",
        "\xe2\x82", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    CHECK(character_size(bad) == 0);
  }
}

}  // namespace roofcast::unit_base_node
