// SPDX-License-Identifier: Apache-2.0
#include "sim/training/pipeline.hpp"

#include <algorithm>
#include <array>
#include <deque>

#include "base/integers.hpp"

namespace roofcast::sim {
namespace {

using base::Seconds;
using workloads::Schedule;

constexpr std::int64_t kKinds = 3;  // of PipelineWork

// One pass. `place` counts the stages that a micro-batch passes, from 0.
struct Op {
  PipelineWork work;
  std::int64_t micro_batch;
  std::int64_t place;
  bool alone = false;  // no other micro-batch's pass beside it
};

// Passes that a rank runs together: they begin and end at once.
using Block = std::vector<Op>;

struct Order {
  std::vector<std::vector<Block>> blocks;  // by rank
  std::int64_t places = 0;
  std::int64_t micro_batches = 0;
};

// Micro-batches and chunks in the order of the forward passes, or of the backward passes: p micro-batches in a chunk before
// the next chunk.
std::vector<std::pair<std::int64_t, std::int64_t>> in_turn(std::int64_t ranks, std::int64_t chunks,
                                                           std::int64_t m, bool last_first) {
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  for (std::int64_t first = 0; first < m; first += ranks) {
    for (std::int64_t c = 0; c < chunks; ++c) {
      for (std::int64_t i = first; i < std::min(m, first + ranks); ++i) {
        all.emplace_back(i, last_first ? chunks - 1 - c : c);
      }
    }
  }
  return all;
}

// 1f1b, and zero_bubble with the gradients of weights apart.
Order one_by_one(std::int64_t ranks, std::int64_t chunks, std::int64_t m, bool weights_apart) {
  Order order{{}, ranks * chunks, m};
  const auto forwards = in_turn(ranks, chunks, m, false);
  const auto backwards = in_turn(ranks, chunks, m, true);
  const std::size_t all = forwards.size();
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    std::vector<Block>& blocks = order.blocks.emplace_back();
    const auto add = [&](PipelineWork work, const std::pair<std::int64_t, std::int64_t>& of,
                         bool alone = false) {
      blocks.push_back({{work, of.first, of.second * ranks + rank, alone}});
    };
    const std::int64_t after = ranks - rank - 1;
    const auto first =
        static_cast<std::size_t>(chunks > 1 ? 2 * after + (chunks - 1) * ranks : after);
    std::size_t forward = 0;
    std::size_t weights = 0;
    const std::size_t ends = std::min(all, first + 1);
    for (; forward < std::min(all, first); ++forward) {
      add(PipelineWork::forward, forwards[forward], true);
    }
    for (std::size_t backward = 0; backward < all; ++backward) {
      if (forward < all) {
        add(PipelineWork::forward, forwards[forward], forward < ends);
        ++forward;
      }
      add(PipelineWork::backward, backwards[backward], backward + ends >= all);
      if (weights_apart && backward + 1 > weights + static_cast<std::size_t>(rank)) {
        add(PipelineWork::weights, backwards[weights++]);
      }
    }
    for (; weights_apart && weights < all; ++weights) {
      add(PipelineWork::weights, backwards[weights]);
    }
  }
  return order;
}

// What one rank of zb_v runs: warm-up of its chunks, both in turn, and the gradients of weights last.
std::vector<Block> folded_blocks(std::int64_t rank, std::int64_t ranks, std::int64_t m) {
  std::vector<Block> blocks;
  std::array<std::int64_t, 2> forwards{}, backwards{}, weights{};
  const auto run = [&](PipelineWork work, std::array<std::int64_t, 2>& done, std::size_t k) {
    blocks.push_back({{work, done[k]++, k == 0 ? rank : 2 * ranks - 1 - rank}});
  };
  const auto forward = [&](std::size_t k) { run(PipelineWork::forward, forwards, k); };
  const auto backward = [&](std::size_t k) { run(PipelineWork::backward, backwards, k); };
  const auto weight = [&](std::size_t k) { run(PipelineWork::weights, weights, k); };
  const auto whole = [&](std::size_t k) {
    backward(k);
    weight(k);
  };
  for (std::int64_t i = 0; i < 2 * (ranks - rank) - 1; ++i) {
    forward(0);
  }
  for (std::int64_t i = 0; i < rank; ++i) {
    forward(1);
    forward(0);
  }
  for (std::int64_t i = 0; i < ranks - rank; ++i) {
    forward(1);
    whole(1);
  }
  while (forwards[1] < forwards[0] || forwards[0] < m) {
    if (forwards[0] < m) {
      forward(0);
    }
    whole(0);
    forward(1);
    whole(1);
  }
  for (std::int64_t i = 0; i < rank; ++i) {
    backward(0);
    backward(1);
  }
  for (std::int64_t i = 0; i < ranks - rank; ++i) {
    whole(0);
  }
  while (weights[1] < m) {
    weight(1);
  }
  while (weights[0] < m) {
    weight(0);
  }
  return blocks;
}

Order folded(std::int64_t ranks, std::int64_t m) {
  Order order{{}, 2 * ranks, m};
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    order.blocks.push_back(folded_blocks(rank, ranks, m));
  }
  return order;
}

// What one rank of dualpipe runs. `near` and `far`: micro-batches that enter at its end of the pipeline, and at the other.
class DualPipeRank {
 public:
  DualPipeRank(std::int64_t rank, std::int64_t ranks, std::int64_t m)
      : rank_(rank), ranks_(ranks), half_(m / 2), second_(rank >= ranks / 2) {}

  std::vector<Block> blocks() {
    const std::int64_t half_ranks = ranks_ / 2;
    const std::int64_t from_end = std::min(rank_, ranks_ - 1 - rank_);
    const std::int64_t inner = half_ranks - from_end - 1;
    times(2 * inner, [&] { run({forward(kNear)}); });
    times(from_end + 1, [&] {
      run({forward(kNear)});
      run({forward(kFar)});
    });
    times(inner, [&] {
      run(backward(kFar, true));
      weights();
      run({forward(kFar)});
    });
    const std::int64_t steady = half_ - ranks_ + from_end + 1;
    for (std::int64_t i = 0; i < steady; ++i) {
      if (i == 0 && inner == 0) {
        run({forward(kNear)});
        run(backward(kFar, false));
      } else {
        both(kNear, kFar);
      }
      both(kFar, kNear);
    }
    times(inner, [&] {
      run(backward(kFar, false));
      both(kFar, kNear);
    });
    bool apart = false;
    for (std::int64_t i = 0; i <= from_end; ++i) {
      const bool middle = i == (from_end + 1) / 2;
      apart = apart || (middle && from_end % 2 == 1);
      run(backward(kFar, apart));
      apart = apart || (middle && from_end % 2 == 0);
      run(backward(kNear, apart));
    }
    times(inner, [&] {
      weights();
      run(backward(kNear, true));
    });
    while (!waiting_.empty()) {
      weights();
    }
    return std::move(blocks_);
  }

 private:
  static constexpr std::size_t kNear = 0;
  static constexpr std::size_t kFar = 1;

  template <class Work>
  static void times(std::int64_t n, Work work) {
    for (std::int64_t i = 0; i < n; ++i) {
      work();
    }
  }
  Op next(PipelineWork work, std::array<std::int64_t, 2>& done, std::size_t end) {
    const std::size_t direction = second_ ? 1 - end : end;  // 0: enters at rank 0
    const std::int64_t i = done[direction]++;
    return {work, direction == 0 ? i : half_ + i, direction == 0 ? rank_ : ranks_ - 1 - rank_,
            true};
  }
  Op forward(std::size_t end) { return next(PipelineWork::forward, forwards_, end); }
  Block backward(std::size_t end, bool apart) {
    const Op op = next(PipelineWork::backward, backwards_, end);
    const Op later{PipelineWork::weights, op.micro_batch, op.place};
    if (apart) {
      waiting_.push_back(later);
      return {op};
    }
    return {op, later};
  }
  void both(std::size_t forwards, std::size_t backwards) {
    Block block = {forward(forwards)};
    for (const Op& op : backward(backwards, false)) {
      block.push_back(op);
    }
    for (Op& op : block) {
      op.alone = false;
    }
    run(std::move(block));
  }
  void weights() {
    if (!waiting_.empty()) {
      run({waiting_.front()});
      waiting_.pop_front();
    }
  }
  void run(Block block) { blocks_.push_back(std::move(block)); }

  std::int64_t rank_;
  std::int64_t ranks_;
  std::int64_t half_;  // of the micro-batches
  bool second_;        // half of the ranks
  std::array<std::int64_t, 2> forwards_{};
  std::array<std::int64_t, 2> backwards_{};
  std::deque<Op> waiting_;
  std::vector<Block> blocks_;
};

Order from_both_ends(std::int64_t ranks, std::int64_t m) {
  Order order{{}, ranks, m};
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    order.blocks.push_back(DualPipeRank(rank, ranks, m).blocks());
  }
  return order;
}

// Runs every rank's blocks in their order, each as soon as what it waits for has ended.
class Run {
 public:
  Run(const Order& order, std::int64_t chunks, const PipelinePasses& passes)
      : order_(order),
        chunks_(chunks),
        passes_(passes),
        ends_(static_cast<std::size_t>(kKinds * order.places * order.micro_batches),
              Seconds::infinity()) {}

  PipelineTimeline timeline(bool mirrored) {
    const std::size_t ranks = order_.blocks.size();
    std::vector<std::vector<PipelineEvent>> events(ranks);
    std::vector<std::size_t> next(ranks);
    std::vector<Seconds> free(ranks);
    for (bool any = true; any;) {
      any = false;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        while (next[rank] < order_.blocks[rank].size()) {
          const Block& block = order_.blocks[rank][next[rank]];
          const Seconds ready = base::max(free[rank], ready_of(block));
          if (!(ready < Seconds::infinity())) {
            break;
          }
          Seconds end = ready;
          for (const Op& op : block) {
            end += time_of(op);
          }
          for (const Op& op : block) {
            end_of(op) = end;
            const auto stage = static_cast<std::int64_t>(rank);
            const std::int64_t chunk = mirrored ? (op.place == stage ? 0 : 1)
                                                : op.place / static_cast<std::int64_t>(ranks);
            events[rank].push_back({stage, chunk, op.micro_batch, op.work, ready, end});
          }
          free[rank] = end;
          ++next[rank];
          any = true;
        }
      }
    }
    PipelineTimeline timeline;
    timeline.ranks = static_cast<std::int64_t>(ranks);
    timeline.chunks = mirrored ? 2 : chunks_;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      timeline.time = base::max(timeline.time, free[rank]);
      timeline.events.insert(timeline.events.end(), events[rank].begin(), events[rank].end());
    }
    return timeline;
  }

 private:
  Seconds& end_of(const Op& op) {
    return ends_[static_cast<std::size_t>(
        (static_cast<std::int64_t>(op.work) * order_.places + op.place) * order_.micro_batches +
        op.micro_batch)];
  }
  Seconds time_of(const Op& op) const {
    const Seconds all = op.work == PipelineWork::forward    ? passes_.forward
                        : op.work == PipelineWork::backward ? passes_.backward
                                                            : passes_.weights;
    const Seconds longer = op.work == PipelineWork::forward    ? passes_.forward_alone
                           : op.work == PipelineWork::backward ? passes_.backward_alone
                                                               : Seconds{};
    return (all + (op.alone ? longer : Seconds{})) / base::as_double(chunks_);
  }
  Seconds ready_of(const Block& block) {
    Seconds ready;
    for (const Op& op : block) {
      const auto wait = [&](PipelineWork work, std::int64_t place) {
        const bool here = std::any_of(block.begin(), block.end(), [&](const Op& other) {
          return other.work == work && other.micro_batch == op.micro_batch && other.place == place;
        });
        if (!here && place >= 0 && place < order_.places) {
          ready = base::max(ready, end_of({work, op.micro_batch, place}));
        }
      };
      switch (op.work) {
        case PipelineWork::forward:
          wait(PipelineWork::forward, op.place - 1);
          break;
        case PipelineWork::backward:
          wait(PipelineWork::forward, op.place);
          wait(PipelineWork::backward, op.place + 1);
          break;
        case PipelineWork::weights:
          wait(PipelineWork::backward, op.place);
          break;
      }
    }
    return ready;
  }

  const Order& order_;
  std::int64_t chunks_;
  const PipelinePasses& passes_;
  std::vector<Seconds> ends_;  // infinite: not yet
};

}  // namespace

Seconds pipeline_bubble(const workloads::Training& t, std::int64_t ranks,
                        std::int64_t micro_batches, const StagePasses& of) {
  const double stages = base::as_double(ranks);
  const double missing = base::as_double(std::max<std::int64_t>(0, ranks - micro_batches));
  switch (t.schedule) {
    case Schedule::zero_bubble:
      return (stages - 1.0) * base::max(Seconds{}, of.alone - 2.0 * of.weights) +
             missing * of.weights;
    case Schedule::dualpipe:
      return std::max(0.0, stages / 2.0 - 1.0) *
             base::max(Seconds{}, of.both + of.backward_alone - 3.0 * of.weights);
    case Schedule::zero_bubble_v: {
      const Seconds backward = base::max(Seconds{}, of.backward_alone - of.weights);
      const Seconds forward = of.alone - of.backward_alone;
      const Seconds longest =
          base::max(base::max(forward, backward), 2.0 * (backward - of.weights));
      return 0.5 * ((stages - 1.0) * longest +
                    std::max(0.0, stages - 2.0) * base::max(Seconds{}, forward - backward));
    }
    case Schedule::one_forward_one_backward:
      break;
  }
  const double chunks = base::as_double(t.virtual_stages);
  return ((stages - 1.0) + (chunks - 1.0) * missing) / chunks * of.alone;
}

bool runs_in_groups(const workloads::Training& t, std::int64_t ranks, std::int64_t micro_batches) {
  return t.schedule != Schedule::one_forward_one_backward || t.virtual_stages == 1 ||
         micro_batches <= ranks || micro_batches % ranks == 0;
}

double passes_alone(const workloads::Training& t, std::int64_t ranks, std::int64_t micro_batches) {
  const double stages = base::as_double(ranks);
  const double chunks = base::as_double(t.virtual_stages);
  const double besides =
      t.schedule == Schedule::dualpipe ? stages + 1.0 : ((chunks - 1.0) * stages + 1.0) / chunks;
  return std::min(besides, base::as_double(micro_batches));
}

Seconds PipelineTimeline::waits(std::int64_t rank) const {
  Seconds waits = time;
  Seconds last;  // end of the block before; passes of one block are counted once
  for (const PipelineEvent& e : events) {
    if (e.rank == rank && e.start >= last) {
      waits -= e.end - e.start;
      last = e.end;
    }
  }
  return waits;
}

PipelineTimeline pipeline_timeline(Schedule schedule, std::int64_t ranks, std::int64_t chunks,
                                   std::int64_t micro_batches, const PipelinePasses& passes) {
  const bool mirrored = schedule == Schedule::dualpipe;
  const Order order =
      mirrored ? from_both_ends(ranks, micro_batches)
      : schedule == Schedule::zero_bubble_v
          ? folded(ranks, micro_batches)
          : one_by_one(ranks, chunks, micro_batches, schedule == Schedule::zero_bubble);
  return Run(order, chunks, passes).timeline(mirrored);
}

std::optional<PipelineTimeline> pipeline_of(const ScenarioView& s, const TrainingStep& step,
                                            std::int64_t micro_batches) {
  const workloads::Training& t = *s.training;
  const std::int64_t ranks = s.mapping->pipeline_parallel;
  const bool dual = t.schedule == Schedule::dualpipe;
  const bool folds = t.schedule == Schedule::zero_bubble_v;
  const bool apart = t.schedule != Schedule::one_forward_one_backward;
  if (ranks == 1 || ranks * t.virtual_stages * micro_batches * kKinds > kMostPipelineEvents ||
      !runs_in_groups(t, ranks, micro_batches) || (folds && micro_batches < 2 * ranks - 1) ||
      (dual && (micro_batches % 2 != 0 || micro_batches < 2 * ranks))) {
    return std::nullopt;
  }
  const double slowdown = t.trainer.slowdown;
  const Seconds later = apart ? step.weight_gradients : Seconds{};
  const PipelinePasses passes{slowdown * (step.forward + 0.5 * step.sends),
                              slowdown * (step.backward + step.within + 0.5 * step.sends - later),
                              slowdown * later, slowdown * (step.forward_alone - step.forward),
                              slowdown * (step.backward_alone - step.backward)};
  return pipeline_timeline(t.schedule, ranks, t.virtual_stages, micro_batches, passes);
}

}  // namespace roofcast::sim
