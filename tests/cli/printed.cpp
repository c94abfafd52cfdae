// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/printed.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <regex>
#include <vector>

namespace roofcast::cli {
namespace {

struct Number {
  double value;
  double unit;  // of the last digit
};

struct Print {
  std::string words;  // without blanks and numbers
  std::vector<Number> numbers;
};

Print taken_apart(const std::string& text) {
  static const std::regex pattern("[0-9]+(?:,[0-9]{3})*(?:\\.[0-9]+)?");
  Print print;
  std::string rest = text;
  for (std::smatch match; std::regex_search(rest, match, pattern); rest = match.suffix()) {
    print.words += match.prefix().str() + '#';
    std::string number = match.str();
    std::erase(number, ',');
    const auto point = number.find('.');
    const double decimals =
        point == std::string::npos ? 0.0 : static_cast<double>(number.size() - point - 1);
    print.numbers.push_back({std::stod(number), std::pow(10.0, -decimals)});
  }
  print.words += rest;
  std::erase_if(print.words, [](unsigned char c) { return std::isspace(c) != 0; });
  return print;
}

}  // namespace

bool same_print(const std::string& expected, const std::string& printed) {
  const Print a = taken_apart(expected);
  const Print b = taken_apart(printed);
  return a.words == b.words &&
         std::equal(a.numbers.begin(), a.numbers.end(), b.numbers.begin(), b.numbers.end(),
                    [](const Number& x, const Number& y) {
                      return std::abs(x.value - y.value) <= 1.01 * std::max(x.unit, y.unit);
                    });
}

}  // namespace roofcast::cli
