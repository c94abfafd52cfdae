// SPDX-License-Identifier: Apache-2.0
//
// A law checked over thousands of cases: counts what breaks it and keeps the worst case, so that a
// failure names one case and not a page of them.
#pragma once

#include <string>

#include "tests/catch.hpp"

namespace roofcast::laws {

class Violations {
 public:
  explicit Violations(double tolerance) : tolerance_(tolerance) {}

  // `excess` is how far the law is missed, relative; not a number counts as missed.
  template <class Where>
  void add(double excess, Where where) {
    ++cases_;
    if (!(excess <= worst_) || cases_ == 1) {
      worst_ = excess;
      where_ = where();
    }
    broken_ += excess <= tolerance_ ? 0U : 1U;
  }

  std::size_t cases() const { return cases_; }
  std::size_t broken() const { return broken_; }
  double worst() const { return worst_; }
  const std::string& where() const { return where_; }

 private:
  double tolerance_;
  double worst_ = -1.0;
  std::size_t cases_ = 0;
  std::size_t broken_ = 0;
  std::string where_;
};

}  // namespace roofcast::laws

// At least one case, and none that misses the law by more than the tolerance.
#define ROOFCAST_CHECK_LAW(violations)                                                   \
  do {                                                                                   \
    INFO((violations).broken() << " of " << (violations).cases() << " cases, worst "     \
                               << (violations).worst() << ": " << (violations).where()); \
    CHECK((violations).cases() > 0);                                                     \
    CHECK((violations).broken() == 0);                                                   \
  } while (false)

// At least one case, and at most this share of them misses the law by more than the tolerance: where clients stay in step,
// a little more of something can move whole iterations.
#define ROOFCAST_CHECK_MOSTLY(violations, share)                                         \
  do {                                                                                   \
    INFO((violations).broken() << " of " << (violations).cases() << " cases, worst "     \
                               << (violations).worst() << ": " << (violations).where()); \
    CHECK((violations).cases() > 0);                                                     \
    CHECK(static_cast<double>((violations).broken()) <=                                  \
          (share) * static_cast<double>((violations).cases()));                          \
  } while (false)
