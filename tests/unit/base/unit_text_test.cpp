// SPDX-License-Identifier: Apache-2.0
#include "base/units/unit_text.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "base/nearest.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_base_unit_text {

using base::Dimension;
using base::parse_quantity;

namespace {

constexpr Dimension kTime{.time = 1};
constexpr Dimension kData{.data = 1};
constexpr Dimension kBandwidth{.time = -1, .data = 1};
constexpr Dimension kComputeRate{.time = -1, .work = 1};
constexpr Dimension kPriceRate{.time = -1, .money = 1};
constexpr Dimension kEnergyPrice{.energy = -1, .money = 1};

const std::vector<Dimension> kUsedDimensions{
    {},
    kTime,
    kData,
    {.work = 1},
    {.energy = 1},
    {.money = 1},
    {.time = -1},
    kBandwidth,
    kComputeRate,
    {.time = -1, .energy = 1},
    kPriceRate,
    kEnergyPrice,
    {.data = -1, .work = 1},
    {.data = -1, .energy = 1},
    {.work = -1, .energy = 1},
    {.data = -1, .money = 1},
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The error of a text that must not be read.
std::string error_of(const std::string& text, Dimension expected) {
  const auto parsed = parse_quantity(text, expected);
  CHECK_FALSE(parsed.ok());
  CHECK(parsed.si == 0.0);
  return parsed.error;
}

// Powers of ten as the literals a reader would check, not as the table computes them.
const std::map<std::string, double> kPowers{
    {"p", 0.000000000001},
    {"n", 0.000000001},
    {"u", 0.000001},
    {"m", 0.001},
    {"", 1.0},
    {"k", 1000.0},
    {"M", 1000000.0},
    {"G", 1000000000.0},
    {"T", 1000000000000.0},
    {"P", 1000000000000000.0},
    {"E", 1000000000000000000.0},
    {"Ki", 1024.0},
    {"Mi", 1048576.0},
    {"Gi", 1073741824.0},
    {"Ti", 1099511627776.0},
    {"Pi", 1125899906842624.0},
};
const std::vector<std::string> kNoPrefixes{"K", "d", "c", "da", "Z", "Y", "ki", "mi", "Ei", "i"};

struct Row {
  std::string symbol;
  Dimension dimension;
  double factor;
  std::set<std::string> prefixes;
};
const std::set<std::string> kForData{"",  "k",  "M",  "G",  "T",  "P",
                                     "E", "Ki", "Mi", "Gi", "Ti", "Pi"};
const std::set<std::string> kForCounts{"", "k", "M", "G", "T", "P", "E"};
const std::vector<Row> kRows{
    {"B", kData, 1.0, kForData},
    {"b", kData, 0.125, kForData},
    {"FLOP", {.work = 1}, 1.0, kForCounts},
    {"OP", {.work = 1}, 1.0, kForCounts},
    {"FLOPS", kComputeRate, 1.0, kForCounts},
    {"OPS", kComputeRate, 1.0, kForCounts},
    {"s", kTime, 1.0, {"", "n", "u", "m"}},
    {"min", kTime, 60.0, {""}},
    {"h", kTime, 3600.0, {""}},
    {"d", kTime, 86400.0, {""}},
    {"J", {.energy = 1}, 1.0, {"", "p", "n", "u", "m", "k", "M", "G", "T", "P", "E"}},
    {"Wh", {.energy = 1}, 3600.0, {"", "k", "M", "G", "T"}},
    {"W", {.time = -1, .energy = 1}, 1.0, {"", "n", "u", "m", "k", "M", "G", "T"}},
    {"Hz", {.time = -1}, 1.0, {"", "k", "M", "G", "T"}},
    {"USD", {.money = 1}, 1.0, {"", "k", "M", "G"}},
    {"$", {.money = 1}, 1.0, {"", "k", "M", "G"}},
};

}  // namespace

TEST_CASE("every symbol with every prefix it allows has the factor written down here", "[unit]") {
  std::set<std::string> seen;
  for (const Row& row : kRows) {
    for (const std::string& prefix : row.prefixes) {
      const std::string unit = prefix + row.symbol;
      INFO(unit);
      CHECK(seen.insert(unit).second);  // no two units are spelled alike
      for (const double number : {1.0, 2.5, -3.0, 0.0}) {
        const auto parsed = parse_quantity(std::to_string(number) + " " + unit, row.dimension);
        CHECK(parsed.error == "");
        CHECK(parsed.si == Approx(number * kPowers.at(prefix) * row.factor).epsilon(1e-15));
      }
    }
  }
}

TEST_CASE("every symbol refuses every prefix it does not allow, whatever is expected", "[unit]") {
  std::set<std::string> units;
  for (const Row& row : kRows) {
    for (const std::string& prefix : row.prefixes) {
      units.insert(prefix + row.symbol);
    }
  }
  std::vector<std::string> prefixes = kNoPrefixes;
  for (const auto& [prefix, power] : kPowers) {
    prefixes.push_back(prefix);
  }
  int refused = 0;
  for (const Row& row : kRows) {
    for (const std::string& prefix : prefixes) {
      const std::string unit = prefix + row.symbol;
      if (units.contains(unit)) {
        continue;
      }
      INFO(unit);
      for (const Dimension dimension : {row.dimension, kBandwidth}) {
        CHECK(contains(error_of("5 " + unit, dimension), "\"" + unit + "\""));
      }
      ++refused;
    }
  }
  CHECK(refused > 200);
}

TEST_CASE("a quotient of units divides by everything after the first slash", "[unit]") {
  CHECK(parse_quantity("3.35 TB/s", kBandwidth).si ==
        (3.35 * base::tera * base::byte / base::second).si());
  CHECK(parse_quantity("400 Gb/s", kBandwidth).si == 50e9);
  CHECK(parse_quantity("3.5 /s", {.time = -1}).si == 3.5);
  CHECK(parse_quantity("120/min", {.time = -1}).si == 2.0);
  CHECK(parse_quantity("6 B/min", kBandwidth).si == Approx(0.1));
  CHECK(parse_quantity("4 GB/ms", kBandwidth).si == Approx(4e12));
  CHECK(parse_quantity("989 TFLOP/s", kComputeRate).si == 989e12);
  CHECK(parse_quantity("989 TFLOPS", kComputeRate).si == 989e12);
  CHECK(parse_quantity("1979 TOPS", kComputeRate).si == 1979e12);
  CHECK(parse_quantity("3.6 USD/h", kPriceRate).si == Approx(1e-3));
  CHECK(parse_quantity("3.6 $/h", kPriceRate).si == Approx(1e-3));
  CHECK(parse_quantity("0.36 USD/kWh", kEnergyPrice).si == Approx(1e-7));
  CHECK(parse_quantity("0.36 USD/kW/h", kEnergyPrice).si == Approx(1e-7));
  CHECK(parse_quantity("700 J/s", {.time = -1, .energy = 1}).si == 700.0);
  CHECK(parse_quantity("5 FLOP/s/Hz", {.work = 1}).si == 5.0);
  CHECK(parse_quantity("8 b/B", {.data = 1}).ok() == false);
}

TEST_CASE("a number is plain decimal, with or without sign, exponent and blanks", "[unit]") {
  const std::map<std::string, double> good{
      {"10 s", 10.0},       {"010 s", 10.0},   {"1e3 s", 1000.0}, {"1E3 s", 1000.0},
      {"1e+3 s", 1000.0},   {"1e-3 s", 0.001}, {"+2 s", 2.0},     {"-2 s", -2.0},
      {".5 s", 0.5},        {"5. s", 5.0},     {"2s", 2.0},       {"  2 \t s  ", 2.0},
      {"2min", 120.0},      {"1e3ms", 1.0},    {"0 s", 0.0},      {"0.1 s", 0.1},
      {"3.6e3 us", 0.0036},
  };
  for (const auto& [text, seconds] : good) {
    INFO(text);
    const auto parsed = parse_quantity(text, kTime);
    CHECK(parsed.error == "");
    CHECK(parsed.si == Approx(seconds).epsilon(1e-15));
  }
  CHECK(parse_quantity("5EB", kData).si == 5e18);
  CHECK(parse_quantity("-5e3", {}).si == -5000.0);
  CHECK(parse_quantity("010", {}).si == 10.0);
}

TEST_CASE("what is not a plain finite decimal number is refused", "[unit]") {
  for (const std::string text :
       {"",        " ",     "s",       "inf s",    "-inf s",  "nan s",       "infinity s", "0x10 s",
        "0b1 s",   "0o7 s", "1_000 s", "1,000 s",  "1'000 s", "1.2.3 s",     "1-2 s",      "--1 s",
        "+-1 s",   "- 1 s", "1e999 s", "1e-999 s", "e3 s",    ". s",         "-",          "+",
        "1e308 h", "~1 s",  "1 2 s",   "1 s 2",    "1 s\n",   "1 \xC2\xA0s", "1 s/",       "1 /s",
        "1 //s",   "1 s//", "1 s/ ",   "1 s*s",    "1 s^2",   "1 s s"}) {
    INFO(text);
    CHECK_FALSE(error_of(text, kTime).empty());
    CHECK_FALSE(error_of(text, {}).empty());
  }
  CHECK_FALSE(error_of(std::string("1 \0s", 4), kTime).empty());
}

TEST_CASE("a figure that nothing has is refused with the range of its kind", "[unit]") {
  CHECK(error_of("4.8e-320 TB/s", kBandwidth) ==
        "\"4.8e-320 TB/s\" is too small: a bandwidth is from 0.001 B/s to 1e+30 B/s");
  CHECK(
      contains(error_of("1e100 GHz", {.time = -1}), "is too large: a frequency is from 1e-15 Hz"));
  CHECK(contains(error_of("1e308 USD/h", {.time = -1, .money = 1}), "is too large: a price rate"));
  CHECK(contains(error_of("-1e300", {}), "is too large: a bare number is from"));
  CHECK(contains(error_of("1e40 FLOP/s/s", {.time = -2, .work = 1}), "is too large"));
  CHECK(parse_quantity("0 TB/s", kBandwidth).ok());
}

TEST_CASE("a missing unit is an error that shows the number with one", "[unit]") {
  CHECK(error_of("3.35", kBandwidth) ==
        "\"3.35\" has no unit: append one, for example \"3.35 TB/s\" (B/s, GB/s, TB/s, Gb/s)");
  CHECK(contains(error_of("0", kTime), "append one, for example \"0 us\""));
}

TEST_CASE("a unit of another dimension is named, and so is what is expected", "[unit]") {
  CHECK(error_of("80 GiB", kBandwidth) ==
        "\"80 GiB\" is a size, but a bandwidth is expected, for example \"3.35 TB/s\"");
  CHECK(contains(error_of("3 FLOPS/s", kComputeRate), "is a quantity in FLOP/s/s, but a compute"));
  CHECK(contains(error_of("3 GB", {}), "but a bare number is expected, for example \"3\""));
  CHECK(contains(error_of("5 s/s", kTime), "is a bare number, but a time"));
}

TEST_CASE("an unknown unit is answered with the nearest one", "[unit]") {
  CHECK(contains(error_of("80 KB", kData), "did you mean \"kB\" or \"kb\"? (the prefix for 1000"));
  CHECK(contains(error_of("80 KW", {.time = -1, .energy = 1}), "did you mean \"kW\"?"));
  CHECK(contains(error_of("80 gb", kData), "did you mean \"GB\" or \"Gb\"?"));
  CHECK(contains(error_of("80 GIB", kData), "did you mean \"GiB\" or \"Gib\"?"));
  CHECK(contains(error_of("3 mB", kData), "is a milli-byte, which is not a unit in use"));
  CHECK(contains(error_of("3 mB", kData), "did you mean \"MB\""));
  CHECK(contains(error_of("3 kmin", kTime), "is a kilo-minute"));
  CHECK(contains(error_of("3 TBps", kBandwidth), "did you mean \"TB/s\"?"));
  CHECK(contains(error_of("3 \xC2\xB5s", kTime), "did you mean \"us\"?"));
  CHECK(contains(error_of("3 \xCE\xBCs", kTime), "did you mean \"us\"?"));
  CHECK(contains(error_of("3 GFLPO", {.work = 1}), "did you mean \"GFLOP\"?"));
  CHECK(contains(error_of("3 TB / s", kBandwidth), "write \"TB/s\""));
  CHECK(contains(error_of("3 parsec", kTime), "a time is expected, for example \"1.2 us\""));
}

TEST_CASE("a message quotes a long or unprintable text on one short line", "[unit]") {
  const std::string error = error_of("1 " + std::string(100000, 'x'), kTime);
  CHECK(error.size() < 400);
  CHECK(contains(error, "…"));
  CHECK_FALSE(contains(error_of("1 s\n\x1B[31m", kTime), "\n"));
  CHECK_FALSE(contains(error_of("1 s\n\x1B[31m", kTime), "\x1B"));
}

TEST_CASE("every dimension in use has a noun and an example that reads back", "[unit]") {
  std::set<std::string> nouns;
  for (const Dimension dimension : kUsedDimensions) {
    INFO(base::dimension_noun(dimension));
    CHECK(nouns.insert(base::dimension_noun(dimension)).second);
    CHECK_FALSE(contains(base::dimension_noun(dimension), "a quantity in"));
    const auto parsed = parse_quantity(base::dimension_example(dimension), dimension);
    CHECK(parsed.error == "");
    CHECK(parsed.si > 0.0);
  }
}

TEST_CASE("a quantity type has the dimension its name says", "[unit]") {
  CHECK(base::dimension_of<base::Seconds>() == kTime);
  CHECK(base::dimension_of<base::Hertz>() == Dimension{.time = -1});
  CHECK(base::dimension_of<base::Bytes>() == kData);
  CHECK(base::dimension_of<base::BytesPerSecond>() == kBandwidth);
  CHECK(base::dimension_of<base::Flops>() == Dimension{.work = 1});
  CHECK(base::dimension_of<base::FlopsPerSecond>() == kComputeRate);
  CHECK(base::dimension_of<base::FlopsPerByte>() == Dimension{.data = -1, .work = 1});
  CHECK(base::dimension_of<base::Joules>() == Dimension{.energy = 1});
  CHECK(base::dimension_of<base::Watts>() == Dimension{.time = -1, .energy = 1});
  CHECK(base::dimension_of<base::Dollars>() == Dimension{.money = 1});
  CHECK(base::dimension_of<base::DollarsPerSecond>() == kPriceRate);
}

TEST_CASE("a quantity is shown in the unit people would choose", "[unit]") {
  using base::format_quantity;
  CHECK(format_quantity(3.35e12 * base::byte / base::second) == "3.35 TB/s");
  CHECK(format_quantity(989e12 * base::flop / base::second) == "989 TFLOP/s");
  CHECK(format_quantity(12.3 * base::millisecond) == "12.3 ms");
  CHECK(format_quantity(141e9 * base::byte) == "141 GB");
  CHECK(format_quantity(700.0 * base::watt) == "700 W");
  CHECK(format_quantity(1.83e9 * base::hertz) == "1.83 GHz");
  CHECK(format_quantity(3.59 * base::dollar / base::hour) == "3.59 USD/h");
  CHECK(format_quantity(0.08 / 3.6e6, kEnergyPrice) == "0.08 USD/kWh");
  CHECK(format_quantity(30000.0 * base::dollar) == "30 kUSD");
  CHECK(format_quantity(4500.0 * base::dollar) == "4500 USD");
  CHECK(format_quantity(0.5 * base::hertz) == "0.5 Hz");
  CHECK(format_quantity(119.0 * base::second) == "119 s");
  CHECK(format_quantity(120.0 * base::second) == "2 min");
  CHECK(format_quantity(2.0 * base::hour) == "2 h");
  CHECK(format_quantity(3.6e6 * base::joule) == "1 kWh");
  CHECK(format_quantity(1.2e6 * base::joule) == "1.2 MJ");
  CHECK(format_quantity(-12.3 * base::millisecond) == "-12.3 ms");
  CHECK(format_quantity(0.0 * base::second) == "0 s");
  CHECK(format_quantity(0.0 * base::dollar / base::second) == "0 USD/h");
  CHECK(format_quantity(0.25, {}) == "0.25");
  CHECK(format_quantity(2.0, {.time = -2, .work = 1}) == "2 FLOP/s/s");
}

TEST_CASE("rounding up moves on to the next unit", "[unit]") {
  CHECK(base::format_quantity(999.96 * base::millisecond) == "1 s");
  CHECK(base::format_quantity(999.94 * base::millisecond) == "999.9 ms");
  CHECK(base::format_quantity(999.96e9 * base::byte) == "1 TB");
  CHECK(base::format_quantity(9999.96 * base::dollar) == "10 kUSD");
}

TEST_CASE("infinity and NaN are shown as such", "[unit]") {
  CHECK(base::format_quantity(base::Seconds::infinity()) == "inf s");
  CHECK(base::format_quantity(-std::numeric_limits<double>::infinity(), kBandwidth) == "-inf B/s");
  CHECK(base::format_quantity(std::numeric_limits<double>::quiet_NaN(), kData) == "nan B");
}

TEST_CASE("what is shown reads back to the digits shown, in every dimension and scale", "[unit]") {
  for (const Dimension dimension : kUsedDimensions) {
    for (int exponent = -30; exponent <= 30; ++exponent) {
      for (const double digits : {1.0, 1.2345, 3.14159, 5.0, 9.9996, -7.25}) {
        const double value = digits * std::pow(10.0, exponent);
        const std::string text = base::format_quantity(value, dimension);
        INFO(text);
        const auto parsed = parse_quantity(text, dimension);
        const bool far =
            contains(parsed.error, "is too small") || contains(parsed.error, "is too large");
        CHECK((far || parsed.error == ""));
        CHECK((far || parsed.si == Approx(value).epsilon(5.1e-4)));
      }
    }
  }
}

TEST_CASE("a slip of the finger finds the name that was meant", "[unit]") {
  const std::vector<std::string> names{"bandwidth", "capacity", "latency", "h100_sxm",
                                       "h200_sxm",  "tp",       "pp"};
  const auto near = [&](std::string_view wrong) {
    return base::nearest_name(wrong, names).value_or("");
  };
  CHECK(near("bandwith") == "bandwidth");    // deletion
  CHECK(near("bandwidtth") == "bandwidth");  // insertion
  CHECK(near("bandwidht") == "bandwidth");   // swap
  CHECK(near("kapacity") == "capacity");     // substitution
  CHECK(near("LATENCY") == "latency");
  CHECK(near("H200-SXM") == "h200_sxm");
  CHECK(near("h100") == "h100_sxm");  // the start of it
  CHECK(near("tpp") == "tp");         // a tie: the earlier
  CHECK(near("latency") == "latency");
}

TEST_CASE("nothing is suggested when nothing is near", "[unit]") {
  const std::vector<std::string> names{"bandwidth", "capacity", "s", "B"};
  CHECK_FALSE(base::nearest_name("zzzzzz", names));
  CHECK_FALSE(base::nearest_name("x", names));
  CHECK_FALSE(base::nearest_name("", names));
  CHECK_FALSE(base::nearest_name(std::string(1000000, 'a'), names));
  CHECK_FALSE(base::nearest_name("bandwidth", {}));
}

TEST_CASE("of two equally near names the one in the right case wins", "[unit]") {
  const std::vector<std::string> names{"gb", "GB"};
  CHECK(base::nearest_name("GBs", names) == "GB");
  CHECK(base::nearest_name("gbs", names) == "gb");
}

TEST_CASE("the pattern of a dimension matches what parse_quantity reads, and nothing else",
          "[unit]") {
  const std::vector<std::string> texts = {
      "3.35 TB/s",  "400 Gb/s",     "80 GiB",     "1.2 us",    "989 TFLOPS", "989 TFLOP/s",
      "3.59 USD/h", "30 $/h",       "700 W",      "1.83GHz",   " 1e3 s\t",   "-5. B",
      "+.5 kWh",    "0.08 USD/kWh", "295 FLOP/B", "7",         "80 GIB",     "80 KB",
      "1,5 TB/s",   "1.5 T B/s",    "0x10 B",     "inf B",     "B",          "",
      "5 B/",       "5 /s",         "5 min",      "12 USD/GB", "5 Wh/Tb",    "0.7 J/TFLOP",
      "5 $",        "1e B"};
  const std::vector<Dimension> dimensions = {
      base::dimension_of<base::Seconds>(),         base::dimension_of<base::Bytes>(),
      base::dimension_of<base::Flops>(),           base::dimension_of<base::Joules>(),
      base::dimension_of<base::Dollars>(),         base::dimension_of<base::Hertz>(),
      base::dimension_of<base::BytesPerSecond>(),  base::dimension_of<base::FlopsPerSecond>(),
      base::dimension_of<base::FlopsPerByte>(),    base::dimension_of<base::Watts>(),
      base::dimension_of<base::DollarsPerSecond>()};
  for (const Dimension& dimension : dimensions) {
    const std::regex pattern(base::quantity_pattern(dimension), std::regex::ECMAScript);
    CHECK(std::regex_search(base::dimension_example(dimension), pattern));
    for (const std::string& text : texts) {
      INFO(text << " as " << base::dimension_noun(dimension));
      CHECK(std::regex_search(text, pattern) == parse_quantity(text, dimension).ok());
    }
  }
}

}  // namespace roofcast::unit_base_unit_text
