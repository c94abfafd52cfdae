// SPDX-License-Identifier: Apache-2.0
//
// The quantile of the standard normal distribution: x with Φ(x) = share.
#pragma once

namespace roofcast::base {

double normal_quantile(double share);  // 0 < share < 1

}  // namespace roofcast::base
