// SPDX-License-Identifier: Apache-2.0
#include "base/units/quantity.hpp"

using namespace roofcast;

base::Seconds time_of(base::Flops work, base::Bytes traffic, base::FlopsPerSecond rate) {
  static_cast<void>(work);
  static_cast<void>(traffic);
#ifdef ROOFCAST_EXPECT_OK
  const base::Seconds time = work / rate;
#else
  const base::Seconds time = traffic / rate;
#endif
  return time;
}
