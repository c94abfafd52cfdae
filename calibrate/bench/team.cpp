// SPDX-License-Identifier: Apache-2.0
#include "calibrate/bench/team.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>

#include "calibrate/bench/plan.hpp"

namespace roofcast::bench {

// Atomic members of a file that is mapped by several processes: they need no lock.
struct TeamBoard {
  struct Answer {
    std::atomic<std::uint32_t> given{0};  // the order that it is to
    Spread spread;
    std::array<char, 240> problem{};
  };
  std::uint32_t members = 0;
  std::atomic<bool> over{false};
  std::atomic<std::uint32_t> posted{0};  // orders so far
  Order order;
  std::array<Answer, kMostMembers> answers;
  std::atomic<std::uint32_t> arrived{0};  // at the meeting that is on
  std::atomic<std::uint32_t> meetings{0};
  std::array<std::byte, kTokenBytes> token{};
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(std::atomic<bool>::is_always_lock_free);

namespace {

using namespace std::chrono_literals;

[[noreturn]] void fail(const std::string& what, int code) {
  throw std::runtime_error(what + ": " + std::strerror(code));
}

void* mapped(const std::filesystem::path& file, bool makes) {
  const int descriptor =
      open(file.c_str(), O_RDWR | O_CLOEXEC | (makes ? O_CREAT | O_TRUNC : 0), 0600);
  if (descriptor < 0) {
    fail(file.string(), errno);
  }
  const bool sized = !makes || ftruncate(descriptor, sizeof(TeamBoard)) == 0;
  void* place =
      sized ? mmap(nullptr, sizeof(TeamBoard), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
            : MAP_FAILED;
  const int code = errno;
  close(descriptor);
  if (place == MAP_FAILED) {
    fail(file.string(), code);
  }
  return place;
}

pid_t started(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  pid_t process = 0;
  if (const int code =
          posix_spawnp(&process, argv.front(), nullptr, nullptr, argv.data(), environ)) {
    fail(words.front(), code);
  }
  return process;
}

}  // namespace

Team::Team(std::filesystem::path file, std::size_t members,
           const std::function<std::vector<std::string>(std::size_t)>& argv)
    : file_(std::move(file)), board_(new (mapped(file_, true)) TeamBoard) {
  board_->members = static_cast<std::uint32_t>(members);
  try {
    for (std::size_t i = 0; i < members; ++i) {
      processes_.push_back(started(argv(i)));
    }
  } catch (const std::exception& error) {
    disband(error.what());
    std::filesystem::remove(file_);
    munmap(board_, sizeof(TeamBoard));
    throw;
  }
}

Team::~Team() {
  disband("the team is over");
  munmap(board_, sizeof(TeamBoard));
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
}

void Team::disband(const std::string& why) {
  board_->over = true;
  problem_ = problem_.empty() ? why : problem_;
  const Deadline patience(2.0);
  for (const pid_t process : processes_) {
    while (process != 0 && waitpid(process, nullptr, WNOHANG) == 0) {
      if (patience.over()) {
        kill(process, SIGKILL);
      }
      std::this_thread::sleep_for(1ms);
    }
  }
  processes_.clear();
}

Spread Team::carry_out(const Order& order, double limit_s) {
  if (!problem_.empty()) {
    throw std::runtime_error(problem_);
  }
  board_->order = order;
  const std::uint32_t number = ++board_->posted;
  const Deadline deadline(limit_s);
  std::string problem;
  for (std::size_t answered = 0; answered < processes_.size() && problem.empty();) {
    std::this_thread::sleep_for(100us);
    answered = 0;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      const bool ended = processes_[i] != 0 && waitpid(processes_[i], nullptr, WNOHANG) != 0;
      processes_[i] = ended ? 0 : processes_[i];
      const TeamBoard::Answer& answer = board_->answers[i];
      if (answer.given == number) {
        ++answered;
        problem = answer.problem.data();
      } else if (processes_[i] == 0) {
        problem = "rank " + std::to_string(i) + " ended";
      } else if (deadline.over()) {
        problem = "the ranks took longer than they may";
      }
      if (!problem.empty()) {
        break;
      }
    }
  }
  if (!problem.empty()) {
    disband(problem);
    throw std::runtime_error(problem);
  }
  return board_->answers.front().spread;
}

Member::Member(const std::filesystem::path& file, std::size_t index)
    : board_(std::launder(static_cast<TeamBoard*>(mapped(file, false)))), index_(index) {}

Member::~Member() { munmap(board_, sizeof(TeamBoard)); }

std::size_t Member::members() const { return board_->members; }

void Member::serve(const std::function<Spread(const Order&)>& work) {
  const pid_t leader = getppid();
  TeamBoard::Answer& answer = board_->answers[index_];
  for (std::uint32_t done = 0;;) {
    while (board_->posted == done) {
      if (board_->over || getppid() != leader) {
        return;
      }
      std::this_thread::sleep_for(100us);
    }
    bool fails = false;
    try {
      answer.spread = work(board_->order);
    } catch (const std::exception& error) {
      std::strncpy(answer.problem.data(), error.what(), answer.problem.size() - 1);
      fails = true;
    }
    answer.given = ++done;
    if (fails) {
      return;
    }
  }
}

// The last one to arrive opens the door for all. Nobody sleeps: ranks must start together.
void Member::meet() {
  const std::uint32_t meeting = board_->meetings;
  if (++board_->arrived == board_->members) {
    board_->arrived = 0;
    ++board_->meetings;
    return;
  }
  while (board_->meetings == meeting) {
    if (board_->over) {
      throw std::runtime_error("another rank failed");
    }
    std::this_thread::yield();
  }
}

void Member::share(std::span<std::byte> token) {
  const auto end = board_->token.begin() + static_cast<std::ptrdiff_t>(token.size());
  if (index_ == 0) {
    std::copy(token.begin(), token.end(), board_->token.begin());
  }
  meet();
  std::copy(board_->token.begin(), end, token.begin());
  meet();
}

}  // namespace roofcast::bench
