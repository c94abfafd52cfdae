// SPDX-License-Identifier: Apache-2.0
//
// Erlang's formulas for Poisson arrivals at c servers with the load a = λ E[S]:
//
//   B(c, a)  probability that no server is free where arrivals may not wait (M/G/c/c; any distribution of services)
//   C(c, a)  probability that an arrival must wait where all may wait (M/M/c); 1 when a >= c
//
// The recursion B(0) = 1, B(k) = a B(k-1) / (k + a B(k-1)) neither overflows nor cancels, and C = B / (1 -
// (a/c)(1 - B)). Source: Cooper, Introduction to Queueing Theory (1981), 3.3 and 3.4.
#pragma once

#include <cstdint>

namespace roofcast::base::queueing {

double erlang_b(std::int64_t servers, double load);
double erlang_c(std::int64_t servers, double load);

}  // namespace roofcast::base::queueing
