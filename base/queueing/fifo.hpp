// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace roofcast::base::queueing {

// First in, first out, without an allocation for each few entries. The last may leave too.
template <class T>
class Fifo {
 public:
  Fifo() { entries_.reserve(64); }
  // Ends are compared: a size would be a division by that of an entry.
  bool empty() const { return begin() == end(); }
  T& front() { return entries_[first_]; }
  const T& front() const { return entries_[first_]; }
  T& back() { return entries_.back(); }
  // The last entry is 1 from the back.
  T& from_back(std::ptrdiff_t n) { return *(entries_.end() - n); }
  const T& from_back(std::ptrdiff_t n) const { return *(entries_.end() - n); }
  const T* begin() const { return entries_.data() + first_; }
  const T* end() const { return std::to_address(entries_.end()); }
  void push_back(const T& entry) {
    if (entries_.size() == entries_.capacity() && 2 * first_ >= entries_.size()) {
      entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    entries_.push_back(entry);
  }
  void pop_front() { ++first_; }
  void pop_back() { entries_.pop_back(); }

 private:
  std::vector<T> entries_;
  std::size_t first_ = 0;
};

}  // namespace roofcast::base::queueing
