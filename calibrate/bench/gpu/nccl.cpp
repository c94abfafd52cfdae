// SPDX-License-Identifier: Apache-2.0
//
// Collectives of the GPUs of one node, NCCL, a process for each GPU. message_bytes is the vector each rank holds
// (all_reduce), the result (all_gather), the input (reduce_scatter), what one rank hands out (alltoall): what nccl-tests
// calls the size. Every rank replays a CUDA graph of its part; ranks start together, and the first one's time counts.
#include <fmt/format.h>
#include <nccl.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "calibrate/bench/gpu/timing.cuh"
#include "calibrate/bench/grids.hpp"
#include "calibrate/bench/measure.hpp"
#include "calibrate/bench/team.hpp"

namespace roofcast::bench {
namespace {

constexpr std::int64_t kMost = std::int64_t{256} << 20;  // bytes
constexpr const char* kOps[] = {"all_reduce", "all_gather", "reduce_scatter", "alltoall"};
constexpr double kMostSeconds = 30.0;  // of one shape; the first one starts the ranks too

void require(ncclResult_t status, const char* what = "NCCL") {
  if (status != ncclSuccess) {
    throw std::runtime_error(std::string(what) + ": " + ncclGetErrorString(status));
  }
}

int chosen(int gpu) {
  check(cudaSetDevice(gpu), "choosing a GPU");
  return gpu;
}

class Rank {
 public:
  explicit Rank(Member& member)
      : member_(member),
        device_(chosen(static_cast<int>(member.index()))),
        send_(kMost),
        receive_(kMost) {
    fill_random(send_.as<void>(), kMost / 2, Format::fp16, 1.0F,
                static_cast<std::uint32_t>(device_), stream_);
    stream_.wait();
    ncclUniqueId id;
    static_assert(sizeof(id) <= kTokenBytes);
    if (member.index() == 0) {
      require(ncclGetUniqueId(&id), "starting NCCL");
    }
    member.share(std::as_writable_bytes(std::span(&id, 1)));
    require(ncclCommInitRank(&communicator_, static_cast<int>(member.members()), id, device_),
            "starting NCCL");
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;
  ~Rank() { ncclCommDestroy(communicator_); }

  Spread time(const char* op, std::size_t bytes) {
    constexpr int kLaunches = 20;
    constexpr int kSamples = 11;
    enqueue(op, bytes);  // connects the ranks
    stream_.wait();
    const Graph graph(stream_, [&] {
      for (int i = 0; i < kLaunches; ++i) {
        enqueue(op, bytes);
      }
    });
    Event start;
    Event end;
    std::vector<double> seconds;
    for (int sample = -2; sample < kSamples; ++sample) {
      member_.meet();
      start.record(stream_);
      graph.launch(stream_);
      end.record(stream_);
      stream_.wait();
      if (sample >= 0) {
        seconds.push_back(end.seconds_since(start) / kLaunches);
      }
    }
    return spread_of(seconds);
  }

 private:
  void enqueue(std::string_view op, std::size_t bytes) const {
    const std::size_t ranks = member_.members();
    const std::size_t all = bytes / 2;  // elements
    const std::size_t share = all / ranks;
    const void* send = send_.as<void>();
    void* receive = receive_.as<void>();
    if (op == "all_reduce") {
      require(ncclAllReduce(send, receive, all, ncclHalf, ncclSum, communicator_, stream_));
    } else if (op == "all_gather") {
      require(ncclAllGather(send, receive, share, ncclHalf, communicator_, stream_));
    } else if (op == "reduce_scatter") {
      require(ncclReduceScatter(send, receive, share, ncclHalf, ncclSum, communicator_, stream_));
    } else {
      require(ncclGroupStart());
      for (std::size_t peer = 0; peer < ranks; ++peer) {
        const std::size_t offset = peer * share * 2;
        require(ncclSend(send_.as<char>() + offset, share, ncclHalf, static_cast<int>(peer),
                         communicator_, stream_));
        require(ncclRecv(receive_.as<char>() + offset, share, ncclHalf, static_cast<int>(peer),
                         communicator_, stream_));
      }
      require(ncclGroupEnd());
    }
  }

  Member& member_;
  int device_;
  Stream stream_;
  DeviceMemory send_, receive_;
  ncclComm_t communicator_ = nullptr;
};

}  // namespace

void run_nccl(SuiteRun& run) {
  int gpus = 0;
  check(cudaGetDeviceCount(&gpus), "counting GPUs");
  const std::filesystem::path board = run.directory / fmt::format(".ranks.{}", getpid());
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  Table table(run.directory, layout("nccl"), run.subject);
  for (const std::int64_t ranks : {2, 4, 8}) {
    std::optional<Team> team;
    if (ranks <= gpus) {
      team.emplace(board, static_cast<std::size_t>(ranks), [&](std::size_t rank) {
        return std::vector<std::string>{program, "--rank", std::to_string(rank), "--board",
                                        board.string()};
      });
    }
    for (std::int32_t op = 0; op < static_cast<std::int32_t>(std::size(kOps)); ++op) {
      for (const std::int64_t bytes : powers_of_two(1024, kMost)) {
        run.row(table, {std::string(kOps[op]), std::string("half"), ranks, bytes / 2, bytes}, [&] {
          if (!team) {
            throw std::runtime_error("GPUs that are visible: " + std::to_string(gpus));
          }
          return cells_of(team->carry_out({op, bytes}, kMostSeconds), 1e3);
        });
      }
    }
  }
}

void run_nccl_rank(const std::filesystem::path& board, std::size_t rank) {
  Member member(board, rank);
  std::unique_ptr<Rank> self;
  member.serve([&](const Order& order) {
    if (self == nullptr) {
      self = std::make_unique<Rank>(member);
    }
    return self->time(kOps[order.task], static_cast<std::size_t>(order.bytes));
  });
}

}  // namespace roofcast::bench
