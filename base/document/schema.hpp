// SPDX-License-Identifier: Apache-2.0
//
// What a reader (base/document/fields.hpp) reads, told by the reader itself, so that nothing is said twice:
//
//   const Key chip = describe<hardware::Chip>();     // a group with every key below it
//
// Which keys a reader names may depend on values it has read. It is therefore run again and again
// without a document: first with the first answer to everything, then with each other answer to each
// choice, flag, number, "is this given?" and "is this a map?", one answer changed at a time; where
// that changes the keys, the next answer is changed on top, at most three deep. A key is required when it was in every
// run that could have had it. Where the answers to one choice, flag or presence decide whether a key
// is required or unknown, a Condition says so; where a number does, the key is merely optional.
// A key that may be a single value or a map is a group with the single value beside.
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
