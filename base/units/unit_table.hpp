// SPDX-License-Identifier: Apache-2.0
//
// The units that unit_text.hpp describes, and the names of their dimensions.
#pragma once

#include <array>
#include <string_view>

#include "base/units/dimension.hpp"

namespace roofcast::base {

struct Prefix {
  std::string_view name;
  double factor;
  std::string_view word;
};

// The decimal ones in ascending order. Every symbol and scale allows the empty one.
inline constexpr std::array kPrefixes{
    Prefix{"p", 1e-12, "pico"},   Prefix{"n", 1e-9, "nano"},    Prefix{"u", 1e-6, "micro"},
    Prefix{"m", 1e-3, "milli"},   Prefix{"", 1.0, ""},          Prefix{"k", 1e3, "kilo"},
    Prefix{"M", 1e6, "mega"},     Prefix{"G", 1e9, "giga"},     Prefix{"T", 1e12, "tera"},
    Prefix{"P", 1e15, "peta"},    Prefix{"E", 1e18, "exa"},     Prefix{"Ki", 0x1p10, "kibi"},
    Prefix{"Mi", 0x1p20, "mebi"}, Prefix{"Gi", 0x1p30, "gibi"}, Prefix{"Ti", 0x1p40, "tebi"},
    Prefix{"Pi", 0x1p50, "pebi"},
};

struct Symbol {
  std::string_view name;
  Dimension dimension;
  double factor;
  std::string_view prefixes;  // those allowed, blank-separated
  std::string_view word;
};

inline constexpr Dimension kNone{};
inline constexpr Dimension kTime{.time = 1};
inline constexpr Dimension kData{.data = 1};
inline constexpr Dimension kWork{.work = 1};
inline constexpr Dimension kEnergy{.energy = 1};
inline constexpr Dimension kMoney{.money = 1};
inline constexpr Dimension kFrequency{.time = -1};
inline constexpr Dimension kBandwidth{.time = -1, .data = 1};
inline constexpr Dimension kComputeRate{.time = -1, .work = 1};
inline constexpr Dimension kPower{.time = -1, .energy = 1};
inline constexpr Dimension kPriceRate{.time = -1, .money = 1};
inline constexpr Dimension kEnergyPrice{.energy = -1, .money = 1};
inline constexpr Dimension kIntensity{.data = -1, .work = 1};
inline constexpr Dimension kEnergyPerByte{.data = -1, .energy = 1};
inline constexpr Dimension kEnergyPerOperation{.work = -1, .energy = 1};
inline constexpr Dimension kPricePerSize{.data = -1, .money = 1};

inline constexpr std::string_view kBothKinds = "k M G T P E Ki Mi Gi Ti Pi";
inline constexpr std::string_view kLarge = "k M G T P E";

inline constexpr std::array kSymbols{
    Symbol{"B", kData, 1.0, kBothKinds, "byte"},
    Symbol{"b", kData, 0.125, kBothKinds, "bit"},
    Symbol{"FLOP", kWork, 1.0, kLarge, "FLOP"},
    Symbol{"FLOPS", kComputeRate, 1.0, kLarge, "FLOP per second"},
    Symbol{"OP", kWork, 1.0, kLarge, "OP"},
    Symbol{"OPS", kComputeRate, 1.0, kLarge, "OP per second"},
    Symbol{"s", kTime, 1.0, "n u m", "second"},
    Symbol{"min", kTime, 60.0, "", "minute"},
    Symbol{"h", kTime, 3600.0, "", "hour"},
    Symbol{"d", kTime, 86400.0, "", "day"},
    Symbol{"J", kEnergy, 1.0, "p n u m k M G T P E", "joule"},
    Symbol{"Wh", kEnergy, 3600.0, "k M G T", "watt-hour"},
    Symbol{"W", kPower, 1.0, "n u m k M G T", "watt"},
    Symbol{"Hz", kFrequency, 1.0, "k M G T", "hertz"},
    Symbol{"USD", kMoney, 1.0, "k M G", "dollar"},
    Symbol{"$", kMoney, 1.0, "k M G", "dollar"},
};

// What a dimension is called, the units people use for it, and the size that a figure of it has, in SI base units. The
// range is far wider than any real figure and one that `sensitivity` makes 1e9 times better, and keeps what is computed
// of the figures finite.
struct DimensionText {
  Dimension dimension;
  std::string_view noun;
  std::string_view example;
  std::string_view units;
  double least;  // but for 0
  double most;
};

// Of every other dimension.
inline constexpr double kLeastFigure = 1e-30;
inline constexpr double kMostFigure = 1e30;

inline constexpr std::array kDimensionTexts{
    DimensionText{kNone, "a bare number", "0.5", "", kLeastFigure, 1e18},
    DimensionText{kTime, "a time", "1.2 us", "s, ms, us, ns, min, h, d", 1e-24, 1e15},
    DimensionText{kData, "a size", "80 GiB", "B, GB, GiB, b", 1e-6, 1e24},
    DimensionText{kWork, "an amount of work", "312 GFLOP", "FLOP, GFLOP, TFLOP, OP", 1e-6, 1e33},
    DimensionText{kEnergy, "an energy", "1.5 kWh", "J, kJ, Wh, kWh", 1e-18, 1e24},
    DimensionText{kMoney, "an amount of money", "30 kUSD", "USD, $, kUSD", 1e-12, 1e18},
    DimensionText{kFrequency, "a frequency", "1.83 GHz", "Hz, MHz, GHz, /s", 1e-15, 1e27},
    DimensionText{kBandwidth, "a bandwidth", "3.35 TB/s", "B/s, GB/s, TB/s, Gb/s", 1e-3, 1e30},
    DimensionText{kComputeRate, "a compute rate", "989 TFLOP/s", "FLOP/s, TFLOP/s, PFLOPS, TOPS",
                  1e-3, 1e33},
    DimensionText{kPower, "a power", "700 W", "W, kW, MW", 1e-9, 1e21},
    DimensionText{kPriceRate, "a price rate", "3.59 USD/h", "USD/h, $/h", 1e-15, 1e12},
    DimensionText{kEnergyPrice, "an energy price", "0.08 USD/kWh", "USD/kWh, $/kWh, USD/MWh", 1e-15,
                  1e6},
    DimensionText{kIntensity, "an arithmetic intensity", "295 FLOP/B", "FLOP/B", 1e-9, 1e15},
    DimensionText{kEnergyPerByte, "an energy per byte", "65 pJ/B", "J/B, nJ/B, pJ/B, pJ/b", 1e-27,
                  1e3},
    DimensionText{kEnergyPerOperation, "an energy per operation", "0.7 J/TFLOP",
                  "J/FLOP, nJ/FLOP, J/TFLOP", 1e-30, 1e3},
    DimensionText{kPricePerSize, "a price per size", "12 USD/GB", "USD/GB, $/GB, USD/TB", 1e-18,
                  1e6},
};

}  // namespace roofcast::base
