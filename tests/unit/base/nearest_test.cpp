// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace roofcast::unit_base_nearest {

using roofcast::base::nearest_name;

namespace {

const std::vector<std::string> kNames = {"bandwidth", "capacity", "type", "source", "tdp"};

}  // namespace

TEST_CASE("a slip of the finger finds its name", "[unit]") {
  for (const char* slip : {"bandwith", "bandwidht", "bandwidthh", "bndwidth", "bandwodth",
                           "Bandwidth", "BANDWIDTH", "band_width", "banwdith"}) {
    INFO(slip);
    CHECK(nearest_name(slip, kNames) == "bandwidth");
  }
  CHECK(nearest_name("tpd", kNames) == "tdp");
  CHECK(nearest_name("typ", kNames) == "type");
}

TEST_CASE("the beginning of a name finds it, the shortest first", "[unit]") {
  CHECK(nearest_name("band", kNames) == "bandwidth");
  CHECK(nearest_name("cap", kNames) == "capacity");
  CHECK(nearest_name("b", kNames) == std::nullopt);
  const std::vector<std::string> chips = {"gb200_nvl72_x8", "gb200_nvl72"};
  CHECK(nearest_name("gb200", chips) == "gb200_nvl72");
}

TEST_CASE("another word finds nothing", "[unit]") {
  for (const char* other : {"", "x", "frequency", "colour", "xyz", "a very long name of nothing"}) {
    INFO(other);
    CHECK(nearest_name(other, kNames) == std::nullopt);
  }
  CHECK(nearest_name("anything", {}) == std::nullopt);
}

TEST_CASE("an exact name finds itself, case deciding between equals", "[unit]") {
  for (const std::string& name : kNames) {
    CHECK(nearest_name(name, kNames) == name);
  }
  const std::vector<std::string> units = {"mW", "MW", "Mw"};
  CHECK(nearest_name("MW", units) == "MW");
  CHECK(nearest_name("mW", units) == "mW");
}

TEST_CASE("of two names equally near the earlier one is found", "[unit]") {
  const std::vector<std::string> names = {"abcdeX", "abcdeY"};
  CHECK(nearest_name("abcdeZ", names) == "abcdeX");
}

TEST_CASE("a name never stands for one that shares no letter with it", "[unit]") {
  const std::vector<std::string> names = {"tp", "b"};
  CHECK(nearest_name("xy", names) == std::nullopt);
  CHECK(nearest_name("a", names) == std::nullopt);
}

}  // namespace roofcast::unit_base_nearest
