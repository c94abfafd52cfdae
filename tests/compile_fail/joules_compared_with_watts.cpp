// SPDX-License-Identifier: Apache-2.0
#include "base/units/quantity.hpp"

using namespace roofcast;

bool exceeds(base::Joules energy, base::Watts limit, base::Seconds time) {
  static_cast<void>(time);
#ifdef ROOFCAST_EXPECT_OK
  return energy > limit * time;
#else
  return energy > limit;
#endif
}
