// SPDX-License-Identifier: Apache-2.0
//
// Collectives of the GPUs of one node, NCCL, one process. message_bytes is the vector each rank holds (all_reduce), the
// result (all_gather), the input (reduce_scatter), what one rank hands out (alltoall): what nccl-tests calls the size.
// Every rank replays a CUDA graph of its part; the first GPU's time counts.
#include <nccl.h>

#include <algorithm>
#include <memory>

#include "calibrate/bench/gpu/timing.cuh"
#include "calibrate/bench/grids.hpp"
#include "calibrate/bench/measure.hpp"

namespace roofcast::bench {
namespace {

void require(ncclResult_t status, const char* what) {
  if (status != ncclSuccess) {
    throw std::runtime_error(std::string(what) + ": " + ncclGetErrorString(status));
  }
}

constexpr std::int64_t kMost = std::int64_t{256} << 20;  // bytes
constexpr const char* kOps[] = {"all_reduce", "all_gather", "reduce_scatter", "alltoall"};

struct Rank {
  explicit Rank(int gpu) : device(gpu) {
    check(cudaSetDevice(gpu), "choosing a GPU");
    stream = std::make_unique<Stream>();
    send = DeviceMemory(kMost);
    receive = DeviceMemory(kMost);
    fill_random(send.as<void>(), kMost / 2, Format::fp16, 1.0F, static_cast<std::uint32_t>(gpu),
                *stream);
    stream->wait();
  }
  int device;
  std::unique_ptr<Stream> stream;
  DeviceMemory send, receive;
  ncclComm_t communicator = nullptr;
};

class Node {
 public:
  explicit Node(int gpus) {
    std::vector<int> devices;
    for (int gpu = 0; gpu < gpus; ++gpu) {
      ranks_.push_back(std::make_unique<Rank>(gpu));
      devices.push_back(gpu);
    }
    std::vector<ncclComm_t> communicators(ranks_.size());
    require(ncclCommInitAll(communicators.data(), gpus, devices.data()), "starting NCCL");
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      ranks_[i]->communicator = communicators[i];
    }
  }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node() {
    for (const auto& rank : ranks_) {
      ncclCommDestroy(rank->communicator);
    }
    cudaSetDevice(0);
  }

  Spread time(std::string_view op, std::size_t bytes) const {
    constexpr int kLaunches = 20;
    constexpr int kSamples = 11;
    enqueue(op, bytes);  // connects the ranks
    wait();
    std::vector<cudaGraphExec_t> graphs = captured(op, bytes, kLaunches);
    std::vector<double> seconds;
    for (int sample = -2; sample < kSamples; ++sample) {
      check(cudaSetDevice(0), "choosing a GPU");
      Event start;
      Event end;
      start.record(*ranks_.front()->stream);
      for (std::size_t i = 0; i < ranks_.size(); ++i) {
        check(cudaSetDevice(ranks_[i]->device), "choosing a GPU");
        check(cudaGraphLaunch(graphs[i], *ranks_[i]->stream), "launching a graph");
      }
      check(cudaSetDevice(0), "choosing a GPU");
      end.record(*ranks_.front()->stream);
      wait();
      if (sample >= 0) {
        seconds.push_back(end.seconds_since(start) / kLaunches);
      }
    }
    for (const cudaGraphExec_t graph : graphs) {
      cudaGraphExecDestroy(graph);
    }
    return spread_of(seconds);
  }

 private:
  // As nccl-tests captures: all streams at once, since a call for several ranks touches all of them.
  std::vector<cudaGraphExec_t> captured(std::string_view op, std::size_t bytes,
                                        int launches) const {
    std::vector<cudaGraphExec_t> graphs;
    for (const auto& rank : ranks_) {
      check(cudaSetDevice(rank->device), "choosing a GPU");
      check(cudaStreamBeginCapture(*rank->stream, cudaStreamCaptureModeThreadLocal),
            "capturing a graph");
    }
    for (int i = 0; i < launches; ++i) {
      enqueue(op, bytes);
    }
    for (const auto& rank : ranks_) {
      check(cudaSetDevice(rank->device), "choosing a GPU");
      cudaGraph_t graph = nullptr;
      check(cudaStreamEndCapture(*rank->stream, &graph), "ending the capture of a graph");
      graphs.push_back(nullptr);
      check(cudaGraphInstantiate(&graphs.back(), graph, 0), "making a graph executable");
      cudaGraphDestroy(graph);
    }
    return graphs;
  }

  void enqueue(std::string_view op, std::size_t bytes) const {
    const std::size_t all = bytes / 2;  // elements
    const std::size_t share = all / ranks_.size();
    require(ncclGroupStart(), "NCCL");
    for (const auto& rank : ranks_) {
      const void* send = rank->send.as<void>();
      void* receive = rank->receive.as<void>();
      const ncclComm_t comm = rank->communicator;
      const cudaStream_t stream = *rank->stream;
      if (op == "all_reduce") {
        require(ncclAllReduce(send, receive, all, ncclHalf, ncclSum, comm, stream), "NCCL");
      } else if (op == "all_gather") {
        require(ncclAllGather(send, receive, share, ncclHalf, comm, stream), "NCCL");
      } else if (op == "reduce_scatter") {
        require(ncclReduceScatter(send, receive, share, ncclHalf, ncclSum, comm, stream), "NCCL");
      } else {
        for (std::size_t peer = 0; peer < ranks_.size(); ++peer) {
          const std::size_t offset = peer * share * 2;
          require(ncclSend(rank->send.as<char>() + offset, share, ncclHalf, static_cast<int>(peer),
                           comm, stream),
                  "NCCL");
          require(ncclRecv(rank->receive.as<char>() + offset, share, ncclHalf,
                           static_cast<int>(peer), comm, stream),
                  "NCCL");
        }
      }
    }
    require(ncclGroupEnd(), "NCCL");
  }

  void wait() const {
    for (const auto& rank : ranks_) {
      rank->stream->wait();
    }
  }

  std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace

void run_nccl(SuiteRun& run) {
  int gpus = 0;
  check(cudaGetDeviceCount(&gpus), "counting GPUs");
  Table table(run.directory, layout("nccl"), run.subject);
  for (const std::int64_t ranks : {2, 4, 8}) {
    std::unique_ptr<Node> node;
    std::string no_node;
    if (ranks > gpus) {
      no_node = "GPUs that are visible: " + std::to_string(gpus);
    } else {
      try {
        node = std::make_unique<Node>(static_cast<int>(ranks));
      } catch (const std::exception& error) {
        no_node = error.what();
      }
    }
    for (const char* op : kOps) {
      for (const std::int64_t bytes : powers_of_two(1024, kMost)) {
        run.row(table, {std::string(op), std::string("half"), ranks, bytes / 2, bytes}, [&] {
          if (node == nullptr) {
            throw std::runtime_error(no_node);
          }
          return cells_of(node->time(op, static_cast<std::size_t>(bytes)), 1e3);
        });
      }
    }
  }
}

}  // namespace roofcast::bench
