// SPDX-License-Identifier: Apache-2.0
#include "cli/program/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "cli/tables/text_table.hpp"

namespace roofcast::cli {

Progress::Progress(const std::atomic<std::size_t>& done, const std::atomic<std::size_t>& total,
                   const char* what, bool quiet, std::function<std::string()> more)
    : first_(done.load()), more_(std::move(more)) {
  if (!quiet && isatty(STDERR_FILENO) != 0) {
    thread_ = std::thread([this, &done, &total, what] { watch(done, total, what); });
  }
}

Progress::~Progress() {
  if (!thread_.joinable()) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  stop_.notify_one();
  thread_.join();
}

void Progress::watch(const std::atomic<std::size_t>& done, const std::atomic<std::size_t>& total,
                     const char* what) {
  constexpr auto kPeriod = std::chrono::milliseconds(200);
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, kPeriod, [this] { return stopped_; })) {
    const auto count = static_cast<double>(done.load());
    const double now = count - static_cast<double>(first_);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    const std::size_t all = total.load();
    const double left = (static_cast<double>(all) - count) * elapsed.count() / now;
    fmt::print(
        stderr, "\r\x1b[K{} {}, {} a second{}{}",
        all > 0 ? fmt::format("{:.0f} % of {}", 100.0 * count / static_cast<double>(all), all)
                : fmt::format("{:.0f}", count),
        what, display(now / elapsed.count(), ""),
        now > 0.0 && left > 0.0 ? ", " + display(left, "s") + " left" : "", more_ ? more_() : "");
    std::fflush(stderr);
  }
  fmt::print(stderr, "\r\x1b[K");
}

}  // namespace roofcast::cli
