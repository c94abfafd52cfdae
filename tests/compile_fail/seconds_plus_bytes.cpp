// SPDX-License-Identifier: Apache-2.0
#include "base/units/quantity.hpp"

using namespace roofcast;

base::Seconds sum_of_unlike_quantities() {
#ifdef ROOFCAST_EXPECT_OK
  return 4.0 * base::second + 8.0 * base::second;
#else
  return 4.0 * base::second + 8.0 * base::byte;
#endif
}
