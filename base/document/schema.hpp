// SPDX-License-Identifier: Apache-2.0
//
// The keys that a reader (base/document/fields.hpp) reads, found by running the reader, so that nothing is said twice:
//
//   const Key chip = describe<hardware::Chip>();     // a group with every key below it
//
// The keys of a reader may depend on values that it has read. So it is run again and again without a document. The
// first run takes the first answer to everything. The next runs change one answer each: every other answer to every
// choice, flag, number, "is this given?" and "is this a map?". Where that changes the keys, one more answer is
// changed on top, at most three deep. Answers that changed nothing before are changed together there, and one by one
// only where that changes the keys.
//
// A key is required if it was in every run that could have had it. Where one choice, flag or presence decides whether a
// key is required or unknown, a Condition says so. Where a number decides it, the key is only optional. A key that may
// be a single value or a map is a group that also has the single value.
#pragma once

#include <functional>

#include "base/document/fields.hpp"
#include "base/document/key.hpp"

namespace roofcast::base {

Key describe(const std::function<void(Fields&)>& read);

template <class T>
Key describe() {
  return describe([](Fields& f) {
    T value;
    read(f, value);
  });
}

}  // namespace roofcast::base
