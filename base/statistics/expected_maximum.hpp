// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace roofcast::base {

// Expected largest of n standard normal deviates: Φ⁻¹((n − 3/8)/(n + 1/4)), Blom's approximation. 0 of one; 1.43 of 8, where
// the exact value is 1.42, 4.43 of 131,072.
double expected_maximum(double n);

}  // namespace roofcast::base
