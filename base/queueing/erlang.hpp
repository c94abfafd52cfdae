// SPDX-License-Identifier: Apache-2.0
//
// Erlang's formulas for Poisson arrivals at c servers with the load a = λ E[S]; S is a service:
//
//   B(c, a)  probability that no server is free where arrivals may not wait (M/G/c/c; any distribution of services)
//   C(c, a)  probability that an arrival must wait where all may wait (M/M/c); 1 when a >= c
//
// The recursion B(0) = 1, B(k) = a B(k-1) / (k + a B(k-1)) neither overflows nor cancels, and C = B / (1 -
// (a/c)(1 - B)). Source: Cooper, Introduction to Queueing Theory (1981), 3.3 and 3.4.
//
// Servers that are all free at the start are busy together for a smaller share of the first t services, by up to B:
//
//   1/t ∫₀ᵗ p(u) du     p*(s) = Π_{n<c} f(n) / (s + c (1 - f(c-1)))     f(n) = a / (a + s + n (1 - f(n-1)))
//
// for exponential services. p* is the Laplace transform of the chance that all are busy, f(n) that of the time from n to n+1 of
// them. It is inverted by the Euler method of Abate and Whitt (INFORMS Journal on Computing 18, 2006), to 11 digits.
#pragma once

#include <cstdint>

namespace roofcast::base::queueing {

double erlang_b(std::int64_t servers, double load);
double erlang_c(std::int64_t servers, double load);
double early_erlang_b(std::int64_t servers, double load, double services);  // t, above 0

}  // namespace roofcast::base::queueing
