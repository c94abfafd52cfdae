// SPDX-License-Identifier: Apache-2.0
//
// The replicas of a simulation, and the router that chooses one for each request.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/replay/ahead.hpp"
#include "sim/replay/front_end.hpp"
#include "sim/replay/scheduler.hpp"

namespace roofcast::sim {

// A scheduler with its iterations in flight.
struct Replica {
  Replica(const ScenarioView& s, base::Bytes cache, std::uint64_t seed)
      : scheduler(s, cache, seed),
        front_end(*s.serving, *s.mapping, !s.model->recommender.has_value()),
        ends(scheduler.micro_batches(), base::Seconds::infinity()),
        tokens(scheduler.micro_batches(), 0),
        link_free(static_cast<std::size_t>(s.mapping->data_parallel)) {}

  Scheduler scheduler;
  FrontEnd front_end;
  std::vector<base::Seconds>
      ends;  // end of the iteration of each micro-batch; infinite if it is not in flight
  std::vector<std::int64_t> tokens;  // prompt tokens of these iterations
  Ahead ahead;               // iterations after the one in flight; `ends` is then that of the last
  base::Seconds stage_free;  // time at which the first stage takes the next micro-batch
  std::size_t last_micro_batch = 0;
  std::vector<base::Seconds> link_free;  // time at which a rank has sent its KV caches
  std::size_t incoming = 0;  // requests in the front end, or whose KV caches are on their way

  std::size_t load() const { return incoming + scheduler.waiting() + scheduler.running(); }
  double cache_share() const {
    return static_cast<double>(scheduler.cache_used()) /
           static_cast<double>(scheduler.cache_capacity());
  }
};

// Chooses the replica of a request.
class Routing {
 public:
  explicit Routing(workloads::Router router) : router_(router) {}

  bool looks_at_caches() const { return router_ == workloads::Router::prefix_aware; }

  std::size_t operator()(std::vector<Replica>& replicas, const Job& job) {
    if (router_ == workloads::Router::session && job.session >= 0) {
      const auto [place, fresh] = sessions_.try_emplace(job.session, 0);
      if (fresh) {
        place->second = choose(replicas, job);
      }
      return place->second;
    }
    return choose(replicas, job);
  }

 private:
  std::size_t choose(std::vector<Replica>& replicas, const Job& job) {
    if (router_ == workloads::Router::round_robin) {
      return next_++ % replicas.size();
    }
    std::size_t least = 0;
    std::size_t most = 0;
    std::size_t known = 0;
    std::int64_t known_tokens = -1;
    for (std::size_t i = 0; i < replicas.size(); ++i) {
      const std::size_t load = replicas[i].load();
      least = load < replicas[least].load() ? i : least;
      if (load == 0 && router_ != workloads::Router::prefix_aware) {
        return i;
      }
      most = load > replicas[most].load() ? i : most;
      if (router_ == workloads::Router::prefix_aware) {
        const std::int64_t tokens = replicas[i].scheduler.known_tokens(job);
        if (tokens > known_tokens || (tokens == known_tokens && load < replicas[known].load())) {
          known = i;
          known_tokens = tokens;
        }
      }
    }
    const std::size_t low = replicas[least].load();
    const std::size_t high = replicas[most].load();
    const bool uneven = high - low > kUnevenBy &&
                        static_cast<double>(high) > kUnevenRatio * static_cast<double>(low);
    return router_ == workloads::Router::prefix_aware && !uneven ? known : least;
  }

  // sgl-project/sglang, sgl-router: defaults of balance_abs_threshold and balance_rel_threshold.
  static constexpr std::size_t kUnevenBy = 64;
  static constexpr double kUnevenRatio = 1.5;

  workloads::Router router_;
  std::size_t next_ = 0;
  std::unordered_map<std::int32_t, std::size_t> sessions_;  // the replica of each session
};

}  // namespace roofcast::sim
