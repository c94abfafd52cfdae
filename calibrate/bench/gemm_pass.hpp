// SPDX-License-Identifier: Apache-2.0
//
// What a linear layer multiplies, all matrices row-major:
//
//   forward          out[m,n] = x[m,k] · w[n,k]ᵀ
//   data_gradient    dx[m,k] = dy[m,n] · w[n,k]
//   weight_gradient  dw[n,k] += dy[m,n]ᵀ · x[m,k]
//
// cuBLAS is column-major; ' is the row-major matrix read by columns:
//
//   out'[n,m] = (w'[k,n])ᵀ · x'[k,m]        dx'[k,m] = w'[k,n] · dy'[n,m]        dw'[k,n] = x'[k,m] · (dy'[n,m])ᵀ
#pragma once

#include "calibrate/bench/grids.hpp"

namespace roofcast::bench {

enum class GemmPass { forward, data_gradient, weight_gradient };

// An operand as cuBLAS reads it; its rows follow each other without a gap.
struct Matrix {
  bool transposed = false;
  std::int64_t rows = 0, columns = 0;
  std::int64_t elements() const { return rows * columns; }
};

// result = left · right. `left` is w, w or x; `right` is x, dy or dy.
struct Product {
  Matrix left, right, result;
  std::int64_t depth = 0;
};
Product product_of(GemmPass pass, const GemmShape& shape);

}  // namespace roofcast::bench
