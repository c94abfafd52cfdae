// SPDX-License-Identifier: Apache-2.0
//
// Number formats of stored and multiplied values, with the overhead of block scales.
//
// Bits per element include the scales: MXFP4 = 32 elements + one 8-bit scale = 4.25 bit, NVFP4 = 16 elements
// + one 8-bit scale = 4.5 bit (OCP MX specification 1.0; NVIDIA NVFP4 description), fp8_block = 128×128
// elements + one fp32 scale (DeepSeek-V3 configuration), int4 = 128 elements + one fp16 scale.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units/quantity.hpp"

namespace roofcast::base {

enum class NumberFormat : std::uint8_t {
  fp32,
  tf32,
  bf16,
  fp16,
  fp8,        // one scale a tensor
  fp8_block,  // 128×128 weight blocks
  int8,
  int4,
  mxfp4,
  nvfp4,
};
inline constexpr int kNumberFormats = 10;

// The type in which a format is multiplied. Formats that differ only in their scales have the same type.
enum class MathType : std::uint8_t { fp32, tf32, bf16, fp16, fp8, int8, fp4 };
inline constexpr int kMathTypes = 7;

struct NumberFormatFacts {
  std::string_view name;
  double bits;    // one element with its share of the scales
  MathType math;  // when both operands have this format
};

inline constexpr NumberFormatFacts kNumberFormatFacts[kNumberFormats] = {
    {"fp32", 32.0, MathType::fp32},
    {"tf32", 32.0, MathType::tf32},
    {"bf16", 16.0, MathType::bf16},
    {"fp16", 16.0, MathType::fp16},
    {"fp8", 8.0, MathType::fp8},
    {"fp8_block", 8.0 + 32.0 / (128.0 * 128.0), MathType::fp8},
    {"int8", 8.0, MathType::int8},
    {"int4", 4.0 + 16.0 / 128.0, MathType::bf16},  // weight-only: multiplied after widening
    {"mxfp4", 4.25, MathType::fp4},
    {"nvfp4", 4.5, MathType::fp4},
};
inline constexpr std::string_view kMathTypeNames[kMathTypes] = {"fp32", "tf32", "bf16", "fp16",
                                                                "fp8",  "int8", "fp4"};

constexpr const NumberFormatFacts& facts(NumberFormat format) {
  return kNumberFormatFacts[static_cast<std::size_t>(format)];
}
constexpr std::string_view name(NumberFormat format) { return facts(format).name; }
constexpr std::string_view name(MathType type) {
  return kMathTypeNames[static_cast<std::size_t>(type)];
}
constexpr double bits(NumberFormat format) { return facts(format).bits; }
constexpr double byte_count(double elements, NumberFormat format) {
  return elements * facts(format).bits / 8.0;
}
constexpr Bytes bytes_of(double elements, NumberFormat format) {
  return Bytes::from_si(byte_count(elements, format));
}

// The type in which two formats are multiplied. The wider operand decides, since the narrower one is widened on the way
// (weight-only quantisation).
constexpr MathType math_of(NumberFormat activations, NumberFormat weights) {
  return bits(activations) >= bits(weights) ? facts(activations).math : facts(weights).math;
}

// Every format with its name, for a document reader.
std::vector<std::pair<std::string, NumberFormat>> number_format_choices();

}  // namespace roofcast::base
