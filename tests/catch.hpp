// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one place that knows which Catch2 there is: v2 (Debian 12, Ubuntu 22.04) or v3. Tests are
// written with the names of v3: Approx, Catch::Matchers::ContainsSubstring.

#if __has_include(<catch2/catch_test_macros.hpp>)

#include <catch2/catch_approx.hpp>
#include <catch2/catch_message.hpp>
#include <catch2/catch_session.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_version_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>

using Catch::Approx;

#else

#include <catch2/catch.hpp>
#include <string>

namespace Catch::Matchers {
// NOLINTNEXTLINE(readability-identifier-naming): the name it has in v3
inline auto ContainsSubstring(const std::string& text) { return Contains(text); }
}  // namespace Catch::Matchers

#endif
