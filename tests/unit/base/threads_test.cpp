// SPDX-License-Identifier: Apache-2.0
#include "base/threads.hpp"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.hpp"

namespace roofcast::unit_base_threads {

using roofcast::base::on_threads;
namespace base = roofcast::base;

TEST_CASE("Each thread gets a number of its own", "[unit]") {
  for (const unsigned count : {1U, 2U, 7U}) {
    std::vector<int> calls(count);
    on_threads(count, [&](unsigned i) { ++calls[i]; });
    CHECK(calls == std::vector<int>(count, 1));
  }
}

TEST_CASE("What a worker throws reaches the caller when all have ended", "[unit]") {
  for (const unsigned thrower : {0U, 2U}) {
    std::atomic<int> ended{0};
    const auto work = [&](unsigned i) {
      if (i == thrower) {
        throw std::invalid_argument("worker " + std::to_string(i));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      ++ended;
    };
    CHECK_THROWS_WITH(on_threads(4, work), "worker " + std::to_string(thrower));
    CHECK(ended == 3);
  }
}

TEST_CASE("Of several exceptions the caller gets that of the first worker", "[unit]") {
  const auto work = [](unsigned i) {
    if (i != 0) {
      throw std::runtime_error("worker " + std::to_string(i));
    }
  };
  for (int run = 0; run < 20; ++run) {
    CHECK_THROWS_WITH(on_threads(4, work), "worker 1");
  }
}

TEST_CASE("Whoever cancels a computation ends all its threads, and no other", "[unit]") {
  std::atomic<bool> told{false};
  base::throw_if_cancelled();  // nobody may cancel this one
  {
    const base::Cancellation cancellation(&told);
    base::throw_if_cancelled();
    std::atomic<int> ended{0};
    const auto work = [&](unsigned i) {
      told = told || i == 1;
      while (i != 1) {
        try {
          base::throw_if_cancelled();
        } catch (const base::Cancelled&) {
          ++ended;
          throw;
        }
      }
    };
    CHECK_THROWS_AS(on_threads(4, work), base::Cancelled);
    CHECK(ended == 3);
    const base::Cancellation never(nullptr);
    base::throw_if_cancelled();
  }
  base::throw_if_cancelled();
}

}  // namespace roofcast::unit_base_threads
