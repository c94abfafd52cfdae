// SPDX-License-Identifier: Apache-2.0
#include "base/units/number_format.hpp"

#include <set>

#include "tests/catch.hpp"

namespace roofcast::unit_base_number_format {

using base::MathType;
using base::NumberFormat;

TEST_CASE("A stored element takes its bits and its share of the block's scale", "[unit]") {
  const auto bytes = [](double n, NumberFormat f) { return base::bytes_of(n, f).si(); };
  CHECK(bytes(1, NumberFormat::fp32) == 4.0);
  CHECK(bytes(1, NumberFormat::tf32) == 4.0);
  CHECK(bytes(1, NumberFormat::bf16) == 2.0);
  CHECK(bytes(1, NumberFormat::fp16) == 2.0);
  CHECK(bytes(1, NumberFormat::fp8) == 1.0);
  CHECK(bytes(1, NumberFormat::int8) == 1.0);
  // A block of elements and its one scale: 128·128 B + 4 B, 128/2 B + 2 B, 32/2 B + 1 B,
  // 16/2 B + 1 B.
  CHECK(bytes(128 * 128, NumberFormat::fp8_block) == 16388.0);
  CHECK(bytes(128, NumberFormat::int4) == 66.0);
  CHECK(bytes(32, NumberFormat::mxfp4) == 17.0);
  CHECK(bytes(16, NumberFormat::nvfp4) == 9.0);
}

TEST_CASE("The wider operand decides the multiplier", "[unit]") {
  using F = NumberFormat;
  CHECK(base::math_of(F::bf16, F::bf16) == MathType::bf16);
  CHECK(base::math_of(F::fp8, F::fp8) == MathType::fp8);
  CHECK(base::math_of(F::fp8_block, F::fp8_block) == MathType::fp8);
  CHECK(base::math_of(F::fp8, F::fp8_block) == MathType::fp8);
  CHECK(base::math_of(F::int8, F::int8) == MathType::int8);
  CHECK(base::math_of(F::mxfp4, F::mxfp4) == MathType::fp4);
  CHECK(base::math_of(F::nvfp4, F::nvfp4) == MathType::fp4);
  // Narrow weights are widened to the activations, narrow activations to the weights.
  CHECK(base::math_of(F::bf16, F::int4) == MathType::bf16);
  CHECK(base::math_of(F::bf16, F::mxfp4) == MathType::bf16);
  CHECK(base::math_of(F::fp8, F::mxfp4) == MathType::fp8);
  CHECK(base::math_of(F::fp8, F::bf16) == MathType::bf16);
  // No multiplier takes int4: two of them meet in bf16.
  CHECK(base::math_of(F::int4, F::int4) == MathType::bf16);
}

TEST_CASE("Every number format can be named, once", "[unit]") {
  std::set<std::string> names;
  for (const auto& [text, format] : base::number_format_choices()) {
    CHECK(text == base::name(format));
    CHECK(base::bits(format) >= 4.0);
    CHECK(base::bits(format) <= 32.0);
    names.insert(text);
  }
  CHECK(names.size() == static_cast<std::size_t>(base::kNumberFormats));
}

}  // namespace roofcast::unit_base_number_format
