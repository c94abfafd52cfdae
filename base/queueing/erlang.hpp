// SPDX-License-Identifier: Apache-2.0
//
// Erlang's formulas for Poisson arrivals that offer `load` = λ E[S] to c servers:
//
//   B(c, a): none is free where nobody may wait (M/G/c/c; any distribution of services)
//   C(c, a): an arrival must wait where everybody may (M/M/c); 1 when a >= c
//
// By the recursion B(0) = 1, B(k) = a B(k-1) / (k + a B(k-1)), which neither overflows nor cancels, and
// C = B / (1 - (a/c)(1 - B)). Source: Cooper, Introduction to Queueing Theory (1981), 3.3 and 3.4.
#pragma once

#include <cstdint>

namespace roofcast::base::queueing {

double erlang_b(std::int64_t servers, double load);
double erlang_c(std::int64_t servers, double load);

}  // namespace roofcast::base::queueing
