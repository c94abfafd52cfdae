// SPDX-License-Identifier: Apache-2.0
//
// The kernels that `roofcast kernel` knows, and the dimensions of the shape of each: one table for options, help,
// --vary and messages.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/problems.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::cli {

enum class Unit { whole, bytes, number, format, flag };

// A dimension is the option --NAME and may be varied.
struct Dimension {
  std::string name;  // "head-dim"
  Unit unit = Unit::whole;
  std::string
      preset;  // text of its usual value; "=NAME": that of another dimension; empty: it is needed
  std::string meaning;
};

// The texts of the dimensions that the user gave.
using ShapeTexts = std::map<std::string, std::string>;

struct KernelKind;

// A shape whose every dimension is known.
class Shape {
 public:
  // Reports what is missing or wrong at its option.
  Shape(const KernelKind& kind, const ShapeTexts& given, base::Problems& problems);
  std::int64_t whole(const std::string& name) const;
  double number(const std::string& name) const { return numbers_.at(name); }
  base::NumberFormat format(const std::string& name) const { return formats_.at(name); }
  bool flag(const std::string& name) const { return numbers_.at(name) != 0.0; }

 private:
  std::map<std::string, double> numbers_;
  std::map<std::string, base::NumberFormat> formats_;
};

// What must hold between two dimensions.
struct Rule {
  enum class Is { multiple_of, at_most, without };
  std::string first;
  Is is = Is::at_most;
  std::string second;
};

struct KernelKind {
  std::string name;  // "gemm"
  std::string summary;
  std::vector<Dimension> dimensions;
  workloads::Operator (*make)(const Shape& shape);
  std::string example;  // options of a command line that works
  std::vector<Rule> rules = {};
  bool tiles = false;  // a tile can be forced
  bool sends = false;  // a collective
};
const std::vector<KernelKind>& kernel_kinds();
// The collectives, whose operator is a workloads::Collective.
const std::vector<KernelKind>& collective_kinds();

// Names that a value of a dimension can have; empty where it is a number.
std::vector<std::string> choices_of(const Dimension& dimension);

}  // namespace roofcast::cli
