// SPDX-License-Identifier: Apache-2.0
//
// What measurements say beyond the physical models: a factor on an operator's time, smooth over its shape.
//
//   time = physical time · exp(g(log2 x₁, …, log2 x_d)),   d ≤ 4
//
// g is given at the nodes of a regular grid in the logarithms of the shape and multilinear between them. It
// was fitted with a penalty on its size and its steps, so it fades to 0 where nothing was measured;
// beyond the grid it falls to 0 within kReach octaves. Which operators have grids, over which axes:
// models/operators/correction.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/fields.hpp"
#include "base/fnv.hpp"

namespace roofcast::hardware {

inline constexpr std::size_t kCorrectionAxes = 4;
using LogShape = std::array<double, kCorrectionAxes>;  // base 2; axes a grid lacks are not read

struct CorrectionAxis {
  double origin = 0.0;  // of log2 x, first node
  double step = 1.0;
  std::size_t nodes = 1;
};

struct CorrectionGrid {
  static constexpr double kReach = 4.0;  // octaves

  std::string op;  // "gemm"
  std::string of;  // which of them: "bf16 bf16"
  std::vector<CorrectionAxis> axes;
  std::vector<float> values;  // g at the nodes, the last axis fastest

  double at(const LogShape& shape) const;

  // The nodes around a shape with their weights, which add up to 1.
  struct Corners {
    std::array<std::size_t, std::size_t{1} << kCorrectionAxes> node{};
    std::array<double, std::size_t{1} << kCorrectionAxes> weight{};
    std::size_t count = 1;
    double beyond = 0.0;  // octaves outside the grid
  };
  Corners around(const LogShape& shape) const;

 private:
  // The lowest node around a shape, how far the next one along each axis is, and the place between them.
  struct Cell {
    std::size_t first = 0;
    std::array<std::size_t, kCorrectionAxes> next{};
    std::array<double, kCorrectionAxes> share{};
    double beyond = 0.0;
  };
  Cell cell(const LogShape& shape) const;
};

// What distinguishes grids: the operator and numbers such as a head's dimension; formats are counted
// from kFormatToken. Equal for equal texts of `op` and `of`.
using CorrectionKey = std::uint64_t;
inline constexpr std::int64_t kFormatToken = 1'000'000;
constexpr CorrectionKey correction_key(std::string_view op,
                                       std::initializer_list<std::int64_t> of) {
  CorrectionKey key = base::fnv(base::kFnvStart, op);
  for (const std::int64_t token : of) {
    key = base::fnv(key, static_cast<std::uint64_t>(token));
  }
  return key;
}

class Corrections {
 public:
  // nullptr where there is none.
  const CorrectionGrid* find(CorrectionKey key) const;
  const std::vector<CorrectionGrid>& grids() const { return grids_; }
  void add(CorrectionGrid grid);  // of another key than those before

 private:
  std::vector<std::pair<CorrectionKey, std::size_t>> index_;  // sorted
  std::vector<CorrectionGrid> grids_;
};

// Texts of a document: axes "0:1:17 5:2:6" are origin:step:nodes, values "3 -2 0*5 …" are 100 · g.
std::string axes_text(const CorrectionGrid& grid);
std::string values_text(const CorrectionGrid& grid);
void read(base::Fields& f, Corrections& corrections);

}  // namespace roofcast::hardware
