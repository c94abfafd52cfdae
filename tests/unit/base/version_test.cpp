// SPDX-License-Identifier: Apache-2.0
#include "base/version.hpp"

#include "tests/catch.hpp"

using namespace roofcast;

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

TEST_CASE("The first number that differs says which version is nearer", "[unit]") {
  CHECK(base::is_nearer(version("1.2"), version("1.2.0rc5"), version("1.3.0rc10")));
  CHECK(base::is_nearer(version("1.3.0rc16"), version("1.3.0rc15"), version("1.3.0rc20")));
  CHECK(base::is_nearer(version("0.23"), version("0.24.0"), version("0.19.0")));
  CHECK_FALSE(base::is_nearer(version("0.8.1"), version("1.3.0"), version("1.2.0")));
  CHECK_FALSE(base::is_nearer(version("1.0"), version("2.0"), version("2.0")));
}
