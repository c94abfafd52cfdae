// SPDX-License-Identifier: Apache-2.0
//
// Jobs packed onto GPUs under a budget of memory. A GPU holds all of its jobs at once, from beginning to end.
//
//   job,memory,time        a table
//   ranker,12 GB,40        memory in bytes or with a unit, time in seconds or with a unit
//
//   makespan of a GPU      Σ times if its jobs take turns, the longest time if they never slow each other. How far
//                          jobs slow each other is not known here: the truth lies between.
//   makespan of all GPUs   that of the last GPU to end
//
// A job that is larger than the budget is left out, and a job whose turn comes when the last GPU is full.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/units/quantity.hpp"
#include "cli/packing/packing_order.hpp"

namespace roofcast::cli {

struct PackedJob {
  std::string name;
  std::int64_t memory = 0;  // B
  base::Seconds time;
};
// A table that cannot be read is an InputError with file and line.
std::vector<PackedJob> read_jobs(const std::filesystem::path& file);

struct JobQuestion {
  std::vector<PackedJob> jobs;
  std::int64_t budget = 0;  // B, of a GPU
  std::size_t gpus = 0;     // 0: as many as are needed
  std::string order;
  std::size_t window = 1;
};

struct Makespan {
  base::Seconds in_turn;
  base::Seconds side_by_side;
};

struct PackedJobs {
  JobQuestion question;
  base::Bins gpus;  // items are positions in the question's jobs
  std::vector<Makespan> makespans;
  Makespan makespan;
  std::int64_t fewest = 0;  // GPUs, ⌈Σ memory / budget⌉ of all jobs that fit on one
  struct LeftOut {
    std::size_t job = 0;
    std::string reason;
  };
  std::vector<LeftOut> left_out;
};

PackedJobs pack_jobs(JobQuestion question);

std::string text_of(const PackedJobs& packed);
nlohmann::ordered_json json_of(const PackedJobs& packed);
void write_csv(const PackedJobs& packed, const std::string& file);

}  // namespace roofcast::cli
