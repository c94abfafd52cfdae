// SPDX-License-Identifier: Apache-2.0
#include "base/version.hpp"

#include "tests/catch.hpp"

namespace roofcast::unit_base_version {

namespace {

base::Version version(std::string_view text) {
  const auto parsed = base::parse_version(text);
  INFO(text);
  REQUIRE(parsed);
  return *parsed;
}

}  // namespace

TEST_CASE("Candidates come before their release, post-releases after it", "[unit]") {
  const std::vector<std::string_view> rising = {
      "0.5.6",       "0.5.6.post2", "0.24.0",          "1",     "1.2.0rc5", "1.2.0rc6.post2", "1.2",
      "1.2.0.post1", "1.3.0rc10",   "1.3.0rc10.post1", "1.3.0", "10.0"};
  for (std::size_t i = 1; i < rising.size(); ++i) {
    CHECK(version(rising[i - 1]) < version(rising[i]));
  }
  CHECK(version("1.2") == version("1.2.0"));
}

TEST_CASE("What is no version has no number", "[unit]") {
  for (const std::string_view text :
       {"", "latest", "gpt-oss-dev", "1.", "1.2.", "1.2.3.4", "0.5.1-rc0.pre3", "rc1", "1.2rc",
        "-1.2", "1.2 ", "99999999999999999999"}) {
    INFO(text);
    CHECK_FALSE(base::parse_version(text));
  }
}

TEST_CASE("The nearest version is a neighbour, and the first number that differs says which",
          "[unit]") {
  const std::vector<base::Version> known = {version("1.3.0rc20"), version("1.3.0rc15"),
                                            version("1.3.0rc10"), version("1.2.0rc5"),
                                            version("0.24.0"),    version("0.19.0")};
  const auto nearest = [&](std::string_view text) {
    return base::nearest_version(version(text), known);
  };
  for (std::size_t i = 0; i < known.size(); ++i) {
    CHECK(base::nearest_version(known[i], known) == i);
  }
  CHECK(nearest("9") == 0);
  CHECK(nearest("1.3") == 0);
  CHECK(nearest("1.3.0rc18") == 0);
  CHECK(nearest("1.3.0rc17") == 1);
  CHECK(nearest("1.3.0rc1") == 2);
  CHECK(nearest("1.2") == 3);
  CHECK(nearest("0.23") == 4);
  CHECK(nearest("0.20") == 5);
  CHECK(nearest("0.9") == 5);  // older than all, although its second number is far from theirs
}

}  // namespace roofcast::unit_base_version
