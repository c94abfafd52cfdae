// SPDX-License-Identifier: Apache-2.0
//
// Systems with a number as their state, which rises and falls by one, at rates that depend on the number
// alone:
//
//   p(n) = p(0) Π_{i=1..n} birth(i-1) / death(i)
//
//   p(n)              –    probability of n present
//   birth(n), death(n) 1/s  rates from n to n+1 and from n to n-1
//
// Source: Gross, Shortle, Thompson, Harris: Fundamentals of Queueing Theory (4th ed., 2008), 2.1.
#pragma once

#include <span>
#include <vector>

namespace roofcast::base::queueing {

// Probabilities of 0..n present. births[i] leads from i to i+1, deaths[i] back from i+1 to i. There are as many of
// both, in any common unit, and deaths are positive. Works in logarithms, so that thousands of states do not
// overflow.
std::vector<double> birth_death(std::span<const double> births, std::span<const double> deaths);

}  // namespace roofcast::base::queueing
