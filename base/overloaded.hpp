// SPDX-License-Identifier: Apache-2.0
//
// A visitor of a std::variant out of lambdas: a forgotten alternative does not compile.
#pragma once

namespace roofcast::base {

template <class... F>
struct overloaded : F... {
  using F::operator()...;
};
template <class... F>
overloaded(F...) -> overloaded<F...>;  // clang 14 needs the guide

}  // namespace roofcast::base
