// SPDX-License-Identifier: Apache-2.0
#include "sim/replay/host_cache.hpp"

#include <algorithm>

namespace roofcast::sim {

void HostCache::use(std::uint64_t hash) {
  order_.splice(order_.end(), order_, units_.find(hash)->second.place);
}

void HostCache::store(std::uint64_t hash, std::int64_t bytes) {
  if (has(hash)) {
    use(hash);
    return;
  }
  if (bytes > capacity_) {
    return;
  }
  while (used_ + bytes > capacity_) {
    const auto oldest = units_.find(order_.front());
    used_ -= oldest->second.bytes;
    units_.erase(oldest);
    order_.pop_front();
  }
  units_.emplace(hash, Unit{bytes, order_.insert(order_.end(), hash)});
  used_ += bytes;
}

base::Seconds HostCache::load(std::int64_t bytes, base::Seconds now) {
  link_free_ = std::max(link_free_, now) + static_cast<double>(bytes) * base::byte / bandwidth_;
  return link_free_;
}

}  // namespace roofcast::sim
