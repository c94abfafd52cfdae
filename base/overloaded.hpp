// SPDX-License-Identifier: Apache-2.0
//
// Makes a visitor of a std::variant from lambdas. A visitor without a lambda for every alternative does not compile.
#pragma once

namespace roofcast::base {

template <class... F>
struct overloaded : F... {
  using F::operator()...;
};
template <class... F>
overloaded(F...) -> overloaded<F...>;  // clang 14 needs the guide

}  // namespace roofcast::base
