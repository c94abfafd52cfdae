// SPDX-License-Identifier: Apache-2.0
#include "base/queueing/erlang.hpp"

#include "base/integers.hpp"

namespace roofcast::base::queueing {

double erlang_b(std::int64_t servers, double load) {
  double blocked = 1.0;
  for (std::int64_t k = 1; k <= servers && blocked > 0.0; ++k) {
    blocked = load * blocked / (as_double(k) + load * blocked);
  }
  return blocked;
}

double erlang_c(std::int64_t servers, double load) {
  const double utilisation = load / as_double(servers);
  if (utilisation >= 1.0) {
    return 1.0;
  }
  const double blocked = erlang_b(servers, load);
  return blocked / (1.0 - utilisation * (1.0 - blocked));
}

}  // namespace roofcast::base::queueing
