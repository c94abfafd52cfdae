// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/document/problems.hpp"

namespace roofcast::base {

// A table that cannot be read, or a file that cannot be written.
class CsvError : public InputError {
 public:
  using InputError::InputError;
};

}  // namespace roofcast::base
