// SPDX-License-Identifier: Apache-2.0
//
// What an accumulator of few bits loses of a long sum.
//
//   k ≤ promotion, or never promoted   max(1, k / depth) · u
//   else                               max(1, promotion / depth) · u + k / promotion · 2^-24
//
// u is 2^-(bits-1) where sums are cut, 2^-bits where they are rounded. k = 4096 with 14 bits, cut every 32 elements:
// 1.56 %; DeepSeek-V3 measured nearly 2 % (arXiv 2412.19437 section 3.3.2).
#pragma once

namespace roofcast::sim {

// The largest relative error of a sum of k elements, cut or rounded to `bits` every `depth` of them, that goes on in fp32
// every `promotion` elements (0: never).
struct SumError {
  double bits = 24.0;
  double depth = 16.0;
  bool cuts = true;
  double promotion = 0.0;

  double of(double k) const;
};

}  // namespace roofcast::sim
