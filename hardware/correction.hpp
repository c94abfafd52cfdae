// SPDX-License-Identifier: Apache-2.0
//
// Corrections: what measurements say beyond the physical models. A correction is a factor on the time of an
// operator, smooth over its shape.
//
//   time = physical time · exp(g(log2 x₁, …, log2 x_d)),   d ≤ 4
//
//   x₁ … x_d  –  the shape of the operator
//   g         –  logarithm of the factor
//
// g is given at the nodes of a regular grid in the logarithms of the shape. Between the nodes it is
// multilinear. It was fitted with a penalty on its size and its steps, so it fades to 0 where nothing was
// measured. Beyond the grid it falls to 0 within kReach octaves, but a factor below 1 holds for all that is smaller than the
// grid: fading there would make less work take longer. models/operators/correction.hpp says which operators have grids, and
// over which axes.
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
// Base 2; axes that a grid lacks are not read.
using LogShape = std::array<double, kCorrectionAxes>;

struct CorrectionAxis {
  double origin = 0.0;  // log2 x of the first node
  double step = 1.0;    // octaves between two nodes
  std::size_t nodes = 1;
};

struct CorrectionGrid {
  static constexpr double kReach = 4.0;  // octaves

  std::string op;  // "gemm"
  std::string of;  // which operators of that kind: "bf16 bf16"
  std::vector<CorrectionAxis> axes;
  std::vector<float> values;  // g at the nodes; the last axis varies fastest

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
  // The cell of the grid around a shape.
  struct Cell {
    std::size_t first = 0;  // index of its lowest node
    std::array<std::size_t, kCorrectionAxes>
        next{};                                   // by axis: index of the next node minus this one
    std::array<double, kCorrectionAxes> share{};  // by axis: place between the two, 0 to 1
    double beyond = 0.0;                          // octaves outside the grid
    double above = 0.0;                           // of these, beyond its last nodes
  };
  Cell cell(const LogShape& shape) const;
};

// Tells grids apart: a hash of the operator and of numbers such as the dimension of a head. Formats are numbers from
// kFormatToken on. Grids with equal texts `op` and `of` have equal keys.
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
  // The grid with this key; nullptr where there is none.
  const CorrectionGrid* find(CorrectionKey key) const;
  const std::vector<CorrectionGrid>& grids() const { return grids_; }
  void add(CorrectionGrid grid);  // in place of the one with its key

  // Windows of attention that some grid was measured in, from the shortest on.
  const std::vector<std::int64_t>& windows() const { return windows_; }

 private:
  std::vector<std::int64_t> windows_;
  std::vector<std::pair<CorrectionKey, std::size_t>> index_;  // sorted
  std::vector<CorrectionGrid> grids_;
};

// The texts of a grid in a document. Axes "0:1:17 5:2:6" are origin:step:nodes. Values "3 -2 0*5 …" are 100 · g, where
// 0*5 is five zeros.
std::string axes_text(const CorrectionGrid& grid);
std::string values_text(const CorrectionGrid& grid);

// The list below the key `corrections`; null where there is none, or nothing in it that can be read. A sweep of a chip reads the
// same large texts for every value, so the last lists are kept.
std::shared_ptr<const Corrections> read_corrections(base::Fields& f);

}  // namespace roofcast::hardware
