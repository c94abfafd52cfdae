// SPDX-License-Identifier: Apache-2.0
#include "base/document/schema.hpp"

#include <algorithm>
#include <string>

#include "base/units/quantity.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_base_schema {

using namespace roofcast::base;

namespace {

const Key& at(const Key& group, std::string_view name) {
  const auto found = std::find_if(group.below.begin(), group.below.end(),
                                  [&](const Key& key) { return key.name == name; });
  REQUIRE(found != group.below.end());
  return *found;
}

const Condition* when(const Key& group, const KeyPath& key, std::string_view value) {
  const auto found =
      std::find_if(group.conditions.begin(), group.conditions.end(),
                   [&](const Condition& c) { return c.key == key && c.value == value; });
  return found == group.conditions.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("a reader tells type, range, unit, choices and need of every key, in its order",
          "[unit]") {
  const Key all = describe([](Fields& f) {
    std::string text;
    std::vector<std::string> texts;
    bool flag = false;
    std::int64_t integer = 0;
    double number = 0.0;
    Bytes size;
    std::optional<Seconds> time;
    int choice = 0;
    f.text("text", text);
    f.texts("texts", texts);
    f.flag("flag", flag);
    f.integer("integer", integer, {1.0, 8.0});
    f.number("number", number, positive, optional);
    f.quantity("size", size, not_negative);
    f.quantity("time", time);
    f.choice<int>("choice", choice, {{"one", 1}, {"two", 2}});
    f.each("list", [&](Fields& g) { g.text("item", text); });
    f.group(
        "group", [&](Fields& g) { g.source(); }, optional);
    f.take("taken");
  });
  std::vector<std::string> names;
  for (const Key& key : all.below) {
    names.push_back(key.name);
  }
  CHECK(names == std::vector<std::string>{"text", "texts", "flag", "integer", "number", "size",
                                          "time", "choice", "list", "group", "taken"});
  CHECK(at(all, "text").type == Key::Type::text);
  CHECK(at(all, "text").need == required);
  CHECK(at(all, "texts").need == optional);
  CHECK(at(all, "flag").type == Key::Type::flag);
  CHECK(at(all, "integer").range.most == 8.0);
  CHECK(at(all, "number").range.open_below);
  CHECK(at(all, "number").need == optional);
  CHECK(at(all, "size").dimension == dimension_of<Bytes>());
  CHECK(at(all, "size").range.least == 0.0);
  CHECK(at(all, "time").need == optional);
  CHECK(at(all, "choice").choices == std::vector<std::string>{"one", "two"});
  CHECK(at(at(all, "list"), "item").need == required);
  CHECK(at(all, "group").need == optional);
  CHECK(at(at(all, "group"), "source").need == required);
  CHECK(at(all, "taken").type == Key::Type::any);
  CHECK(all.conditions.empty());
}

TEST_CASE("keys that a choice decides are required with it and unknown without", "[unit]") {
  const Key all = describe([](Fields& f) {
    int kind = 0;
    double value = 0.0;
    bool other = false;
    f.choice<int>("kind", kind, {{"a", 0}, {"b", 1}, {"c", 2}});
    f.flag("other", other);
    if (kind == 0) {
      f.number("of_a", value, any_value);
    } else {
      f.number("of_the_others", value, any_value, kind == 1 ? required : optional);
    }
  });
  CHECK(at(all, "of_a").need == optional);
  CHECK(at(all, "of_the_others").need == optional);
  CHECK(all.conditions.size() == 3);
  REQUIRE(when(all, {"kind"}, "a") != nullptr);
  CHECK(when(all, {"kind"}, "a")->required == std::vector<KeyPath>{{"of_a"}});
  CHECK(when(all, {"kind"}, "a")->unknown == std::vector<KeyPath>{{"of_the_others"}});
  REQUIRE(when(all, {"kind"}, "b") != nullptr);
  CHECK(when(all, {"kind"}, "b")->required == std::vector<KeyPath>{{"of_the_others"}});
  REQUIRE(when(all, {"kind"}, "c") != nullptr);
  CHECK(when(all, {"kind"}, "c")->required.empty());
  CHECK(when(all, {"kind"}, "c")->unknown == std::vector<KeyPath>{{"of_a"}});
}

TEST_CASE("a condition stands in the innermost group that holds both of its keys", "[unit]") {
  const Key all = describe([](Fields& f) {
    Seconds time;
    bool far = false;
    f.group("top", [&](Fields& top) {
      top.group(
          "network", [&](Fields&) { far = true; }, optional);
      top.group("latency",
                [&](Fields& g) { g.quantity("far", time, positive, far ? required : optional); });
    });
  });
  CHECK(all.conditions.empty());
  const Condition* given = when(at(all, "top"), {"network"}, "given");
  REQUIRE(given != nullptr);
  CHECK(given->on_presence);
  CHECK(given->required == std::vector<KeyPath>{{"latency", "far"}});
  CHECK(given->unknown.empty());
}

TEST_CASE("what has() is asked about decides like a key", "[unit]") {
  const Key all = describe([](Fields& f) {
    double value = 0.0;
    if (f.has("short")) {
      f.number("short", value, any_value);
    } else {
      f.number("long", value, any_value);
    }
  });
  const Condition* absent = when(all, {"short"}, "absent");
  REQUIRE(absent != nullptr);
  CHECK(absent->required == std::vector<KeyPath>{{"long"}});
  CHECK(absent->unknown == std::vector<KeyPath>{{"short"}});
}

TEST_CASE("a key that is asked for only where another is absent decides only there", "[unit]") {
  const Key all = describe([](Fields& f) {
    std::string text;
    if (f.has("trace")) {
      if (f.is_map("trace")) {
        f.group("trace", [&](Fields& g) { g.text("file", text); });
      } else {
        f.text("trace", text);
      }
    } else if (f.has("agents")) {
      f.text("agents", text);
    } else {
      f.text("lengths", text);
    }
  });
  const Condition* neither = when(all, {"agents"}, "absent");
  REQUIRE(neither != nullptr);
  CHECK(neither->required == std::vector<KeyPath>{{"lengths"}});
  CHECK(neither->also_present == std::vector<std::pair<KeyPath, bool>>{{{"trace"}, false}});
  // Whether it is given and which shape it has are two questions.
  CHECK(at(all, "trace").type == Key::Type::group);
  CHECK(at(all, "trace").single.size() == 1);
}

TEST_CASE("keys that a number decides are found and optional", "[unit]") {
  const Key all = describe([](Fields& f) {
    std::int64_t count = 0;
    double value = 0.0;
    f.integer("count", count, at_least_one, optional);
    if (count > 0) {
      f.number("share", value, any_value);
    }
  });
  CHECK(at(all, "share").need == optional);
  CHECK(all.conditions.empty());
}

TEST_CASE("a choice that is asked after another one decides about its own keys", "[unit]") {
  const Key all = describe([](Fields& f) {
    bool first = false;
    bool other = false;
    double value = 0.0;
    f.flag("first", first);
    if (first) {
      f.flag("other", other);
    }
    if (first && other) {
      f.number("both", value, any_value);
    }
  });
  CHECK(at(all, "both").need == optional);
  REQUIRE(when(all, {"first"}, "false") != nullptr);
  CHECK(when(all, {"first"}, "false")->unknown == std::vector<KeyPath>{{"other"}});
  REQUIRE(when(all, {"other"}, "false") != nullptr);
  CHECK(when(all, {"other"}, "false")->unknown == std::vector<KeyPath>{{"both"}});
  REQUIRE(when(all, {"other"}, "true") != nullptr);
  CHECK(when(all, {"other"}, "true")->required == std::vector<KeyPath>{{"both"}});
}

TEST_CASE("an entry of a list decides about itself only", "[unit]") {
  const Key all = describe([](Fields& f) {
    bool wide = false;
    double value = 0.0;
    f.each("layers", [&](Fields& g) {
      g.flag("wide", wide);
      if (wide) {
        g.number("width", value, any_value);
      }
    });
    f.number("any_wide", value, any_value, wide ? required : optional);
  });
  CHECK(all.conditions.empty());
  CHECK(at(all, "any_wide").need == optional);
  const Condition* wide = when(at(all, "layers"), {"wide"}, "true");
  REQUIRE(wide != nullptr);
  CHECK(wide->required == std::vector<KeyPath>{{"width"}});
}

TEST_CASE("a problem of meaning is silent while a reader tells its keys", "[unit]") {
  const Key all = describe([](Fields& f) {
    std::string name;
    f.text("name", name);
    f.problem("name", "is never right");
  });
  CHECK(at(all, "name").need == required);
}

namespace {

// Flags that decide nothing, one that does beside the choice "b" alone, and one below a group that may be absent.
void read_flags(Fields& f, int flags) {
  int kind = 0;
  f.choice<int>("kind", kind, {{"a", 0}, {"b", 1}});
  bool inner = false;
  f.group(
      "group", [&](Fields& g) { g.flag("inner", inner, optional); }, optional);
  bool late = false;
  for (int i = 0; i < flags; ++i) {
    bool flag = false;
    f.flag("flag" + std::to_string(i), flag, optional);
    late = i == flags / 2 ? flag : late;
  }
  if (kind == 1) {
    f.take("of_b", required);
    if (late) {
      f.take("late", required);
    }
    if (inner) {
      f.take("deep", required);
    }
  }
}

}  // namespace

TEST_CASE("a value that decides a key beside another one alone is found among many that never do",
          "[unit]") {
  const Key all = describe([](Fields& f) { read_flags(f, 40); });
  CHECK(at(all, "late").need == optional);
  CHECK(at(all, "deep").need == optional);
  const Condition* never = when(all, {"flag20"}, "false");
  REQUIRE(never != nullptr);
  CHECK(never->unknown == std::vector<KeyPath>{{"late"}});
  CHECK(when(all, {"flag19"}, "false") == nullptr);
}

TEST_CASE("values that decide nothing cost one run each, however many others decide", "[unit]") {
  const auto runs_of = [](int flags) {
    int runs = 0;
    describe([&](Fields& f) {
      ++runs;
      read_flags(f, flags);
    });
    return runs;
  };
  const int more = runs_of(400) - runs_of(200);
  CHECK(more >= 200);
  CHECK(more < 240);
}

}  // namespace roofcast::unit_base_schema
