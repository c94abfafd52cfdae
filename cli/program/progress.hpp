// SPDX-License-Identifier: Apache-2.0
//
// A line on stderr that says how far the work is, how fast it goes and how long it takes yet; nothing when stderr is no
// terminal or --quiet is given.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace roofcast::cli {

class Progress {
 public:
  // Reads `done` and `total` a few times a second until destroyed; they outlive it. `what`: "points".
  // A total of 0 is not known. `more` is asked for the end of the line.
  Progress(const std::atomic<std::size_t>& done, const std::atomic<std::size_t>& total,
           const char* what, bool quiet, std::function<std::string()> more = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void watch(const std::atomic<std::size_t>& done, const std::atomic<std::size_t>& total,
             const char* what);

  std::size_t first_;  // done before it started
  std::function<std::string()> more_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace roofcast::cli
