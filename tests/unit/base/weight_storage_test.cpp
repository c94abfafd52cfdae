// SPDX-License-Identifier: Apache-2.0
#include "base/units/weight_storage.hpp"

#include "tests/catch.hpp"

namespace roofcast::unit_base_weight_storage {

using base::NumberFormat;

// A scale of 16 bits for 32 weights is half a bit each. Sparse bf16: 16 bits and 2 · 2 for two of four: 9 bits.
TEST_CASE("A weight takes its bits, its share of a scale and of the places of sparse ones",
          "[unit]") {
  CHECK(base::bits(NumberFormat::int4, {}) == 4.125);
  CHECK(base::bits(NumberFormat::int4, {128, false}) == 4.125);
  CHECK(base::bits(NumberFormat::int4, {32, false}) == 4.5);
  CHECK(base::bits(NumberFormat::int8, {}) == 8.0);
  CHECK(base::bits(NumberFormat::int8, {64, false}) == 8.25);
  CHECK(base::bits(NumberFormat::nvfp4, {}) == 4.5);
  CHECK(base::bits(NumberFormat::bf16, {0, true}) == 9.0);
  CHECK(base::bits(NumberFormat::fp8, {0, true}) == 5.0);
  CHECK(base::bits(NumberFormat::int4, {0, true}) == 3.125);
  CHECK(base::bytes_of(1024.0, NumberFormat::int4, {32, false}).si() == 576.0);
}

}  // namespace roofcast::unit_base_weight_storage
