// SPDX-License-Identifier: Apache-2.0
#include "calibrate/bench/apart.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>

#include "calibrate/bench/plan.hpp"

namespace roofcast::bench {
namespace {

int status_of(const std::function<int()>& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "roofcast-bench: %s\n", error.what());
    return 1;
  }
}

}  // namespace

Ended run_apart(const std::function<int()>& work, double limit_s) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) {
    throw std::runtime_error(std::string("cannot start a process: ") + std::strerror(errno));
  }
  if (child == 0) {
    const int status = status_of(work);
    std::fflush(nullptr);
    _exit(status);
  }
  const Deadline deadline(limit_s);
  bool killed = false;
  int ended = 0;
  while (waitpid(child, &ended, killed ? 0 : WNOHANG) != child) {
    if (!killed && deadline.over()) {
      kill(child, SIGKILL);
      killed = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (killed) {
    return {-1, "stopped: it took longer than it may"};
  }
  if (WIFSIGNALED(ended)) {
    return {-1, std::string("killed by signal ") + strsignal(WTERMSIG(ended))};
  }
  return {WEXITSTATUS(ended), ""};
}

}  // namespace roofcast::bench
