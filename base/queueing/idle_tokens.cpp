// SPDX-License-Identifier: Apache-2.0
#include "base/queueing/idle_tokens.hpp"

#include <algorithm>
#include <cmath>

namespace roofcast::base::queueing {

void IdleTokens::add(Id id, double tokens, const IterationServer& q) {
  const double whole = q.unit > 0.0 ? std::floor(tokens / q.unit) * q.unit : 0.0;
  if (whole > 0.0) {
    parts_.push_back({id, whole});
    room_ += room_of(whole, q);
  }
}

double IdleTokens::of(Id id) const {
  const auto part = std::find_if(parts_.rbegin(), parts_.rend(),
                                 [id](const Part& each) { return each.id == id; });
  return part == parts_.rend() ? 0.0 : part->tokens;
}

void IdleTokens::remove(Id id, const IterationServer& q) {
  const auto part =
      std::find_if(parts_.begin(), parts_.end(), [id](const Part& each) { return each.id == id; });
  if (part != parts_.end()) {
    room_ -= room_of(part->tokens, q);
    parts_.erase(part);
  }
}

// Unit by unit.
void IdleTokens::evict(double most, const IterationServer& q) {
  while (!parts_.empty() && room_ > most) {
    double& tokens = parts_.front().tokens;
    room_ -= room_of(tokens, q) - room_of(tokens - q.unit, q);
    tokens -= q.unit;
    if (tokens <= 0.0) {
      parts_.pop_front();
    }
  }
  room_ = parts_.empty() ? 0.0 : room_;
}

}  // namespace roofcast::base::queueing
