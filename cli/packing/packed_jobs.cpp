// SPDX-License-Identifier: Apache-2.0
#include "cli/packing/packed_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/csv/csv_column.hpp"
#include "base/document/problems.hpp"
#include "base/integers.hpp"
#include "base/units/unit_text.hpp"
#include "cli/tables/text_table.hpp"

namespace roofcast::cli {
namespace {

using base::as_double;
using Json = nlohmann::ordered_json;

constexpr std::size_t kTableRows = 40;
constexpr std::size_t kNamesShown = 5;
constexpr double kMostBytes = 1e15;
constexpr double kMostSeconds = 1e9;

// A plain number is in SI units.
std::optional<double> si_of(std::string_view cell, base::Dimension dimension) {
  if (const auto number = base::parse_number(cell)) {
    return number;
  }
  const base::ParsedQuantity quantity = base::parse_quantity(cell, dimension);
  return quantity.ok() ? std::optional(quantity.si) : std::nullopt;
}

std::string memory_text(std::int64_t bytes) { return display(as_double(bytes), "B"); }

// Two that look alike have the difference.
std::string too_large_text(std::int64_t job, std::int64_t gpu) {
  const std::string has = memory_text(gpu);
  return memory_text(job) == has
             ? fmt::format("needs {} and {} more, a GPU has {}", has, memory_text(job - gpu), has)
             : fmt::format("needs {}, a GPU has {}", memory_text(job), has);
}

std::vector<std::string> names_of(const PackedJobs& p, const base::Bin& gpu) {
  std::vector<std::string> names;
  for (const std::size_t job : gpu.items) {
    names.push_back(p.question.jobs[job].name);
  }
  return names;
}

Makespan makespan_of(const std::vector<PackedJob>& jobs, const base::Bin& gpu) {
  Makespan m;
  for (const std::size_t job : gpu.items) {
    m.in_turn += jobs[job].time;
    m.side_by_side = base::max(m.side_by_side, jobs[job].time);
  }
  return m;
}

}  // namespace

std::vector<PackedJob> read_jobs(const std::filesystem::path& file) {
  const base::CsvTable table = base::read_csv(file);
  base::refuse_other_columns(table, {"job", "memory", "time"});
  const base::CsvColumn name(table, "job");
  const base::CsvColumn memory(table, "memory");
  const base::CsvColumn time(table, "time");
  std::vector<PackedJob> jobs;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto bytes = si_of(memory.text(row), base::dimension_of<base::Bytes>());
    if (!bytes || !(*bytes > 0.0 && *bytes <= kMostBytes)) {
      memory.fail(row, "bytes above 0, such as 12 GB, are expected");
    }
    const auto seconds = si_of(time.text(row), base::dimension_of<base::Seconds>());
    if (!seconds || !(*seconds >= 0.0 && *seconds <= kMostSeconds)) {
      time.fail(row, "seconds from 0 to 1e9, such as 90 or 1.5 min, are expected");
    }
    jobs.push_back({std::string(name.text(row)), std::llround(std::ceil(*bytes)),
                    base::Seconds::from_si(*seconds)});
  }
  if (jobs.empty()) {
    throw base::InputError(fmt::format("{}: error: a table without a job", table.name()));
  }
  return jobs;
}

PackedJobs pack_jobs(JobQuestion question) {
  PackedJobs p;
  p.question = std::move(question);
  const JobQuestion& q = p.question;
  std::vector<std::int64_t> sizes;
  for (const PackedJob& job : q.jobs) {
    sizes.push_back(job.memory);
  }
  Packed all = packed(sizes, q.budget, q.order, q.window);
  for (const std::size_t job : all.too_large) {
    p.left_out.push_back({job, too_large_text(sizes[job], q.budget)});
  }
  p.gpus = std::move(all.bins);
  std::int64_t memory = 0;
  for (const base::Bin& gpu : p.gpus) {
    memory += gpu.size;
  }
  p.fewest = base::ceil_div(memory, q.budget);
  // No later GPU would have been opened if one of the first had space when the job's turn came.
  const std::size_t there = q.gpus == 0 ? p.gpus.size() : std::min(q.gpus, p.gpus.size());
  for (std::size_t gpu = there; gpu < p.gpus.size(); ++gpu) {
    for (const std::size_t job : p.gpus[gpu].items) {
      p.left_out.push_back(
          {job, fmt::format("needs {}, no GPU is left for it", memory_text(q.jobs[job].memory))});
    }
  }
  p.gpus.resize(there);
  for (const base::Bin& gpu : p.gpus) {
    const Makespan m = makespan_of(q.jobs, gpu);
    p.makespan = {base::max(p.makespan.in_turn, m.in_turn),
                  base::max(p.makespan.side_by_side, m.side_by_side)};
    p.makespans.push_back(m);
  }
  return p;
}

std::string text_of(const PackedJobs& p) {
  const JobQuestion& q = p.question;
  std::size_t on_gpus = 0;
  base::Seconds all;
  TextTable table({"GPU", "jobs", "memory", "fill", "in turn", "side by side", "which"});
  for (std::size_t i = 0; i < p.gpus.size(); ++i) {
    const base::Bin& gpu = p.gpus[i];
    on_gpus += gpu.items.size();
    all += p.makespans[i].in_turn;
    if (i < kTableRows) {
      std::vector<std::string> names = names_of(p, gpu);
      if (names.size() > kNamesShown) {
        names.resize(kNamesShown);
        names.emplace_back("...");
      }
      table.add({fmt::format("{}", i), fmt::format("{}", gpu.items.size()), memory_text(gpu.size),
                 share_text(as_double(gpu.size) / as_double(q.budget)),
                 display(p.makespans[i].in_turn.si(), "s"),
                 display(p.makespans[i].side_by_side.si(), "s"),
                 fmt::format("{}", fmt::join(names, " "))});
    }
  }
  const Fill fill = fill_of(p.gpus, q.budget);
  std::string text =
      fmt::format("{} of {} jobs on {} GPUs of {}, order {}\n\n{}", on_gpus, q.jobs.size(),
                  p.gpus.size(), memory_text(q.budget), q.order, table.text());
  if (p.gpus.size() > kTableRows) {
    text += fmt::format("and {} more; --csv writes all\n", p.gpus.size() - kTableRows);
  }
  text += fmt::format(
      "\nfill {} on average, {} at least; no packing of the jobs that fit on a GPU needs fewer "
      "than {} GPUs\n",
      share_text(fill.mean), share_text(fill.least), p.fewest);
  text += fmt::format(
      "all done after {} if the jobs of a GPU take turns, {} if they never slow each other; {} "
      "of GPU time\n",
      display(p.makespan.in_turn.si(), "s"), display(p.makespan.side_by_side.si(), "s"),
      display(all.si(), "s"));
  for (const PackedJobs::LeftOut& out : p.left_out) {
    text += fmt::format("does not fit: {} {}\n", q.jobs[out.job].name, out.reason);
  }
  return text;
}

Json json_of(const PackedJobs& p) {
  const JobQuestion& q = p.question;
  const Fill fill = fill_of(p.gpus, q.budget);
  Json json = {{"fits", p.left_out.empty()},
               {"order", q.order},
               {"window", q.window},
               {"jobs", q.jobs.size()},
               {"gpu_memory_b", q.budget},
               {"gpus", p.gpus.size()},
               {"least_gpus", p.fewest},
               {"fill_mean", fill.mean},
               {"fill_least", fill.least},
               {"in_turn_s", p.makespan.in_turn.si()},
               {"side_by_side_s", p.makespan.side_by_side.si()},
               {"left_out", Json::array()},
               {"bins", Json::array()}};
  for (const PackedJobs::LeftOut& out : p.left_out) {
    json["left_out"].push_back({{"job", q.jobs[out.job].name}, {"reason", out.reason}});
  }
  for (std::size_t i = 0; i < p.gpus.size(); ++i) {
    json["bins"].push_back({{"gpu", i},
                            {"memory_b", p.gpus[i].size},
                            {"fill", as_double(p.gpus[i].size) / as_double(q.budget)},
                            {"in_turn_s", p.makespans[i].in_turn.si()},
                            {"side_by_side_s", p.makespans[i].side_by_side.si()},
                            {"jobs", names_of(p, p.gpus[i])}});
  }
  return json;
}

void write_csv(const PackedJobs& p, const std::string& file) {
  base::CsvWriter csv(std::filesystem::path(file),
                      {"gpu", "jobs", "memory_b", "fill", "in_turn_s", "side_by_side_s", "items"});
  for (std::size_t i = 0; i < p.gpus.size(); ++i) {
    csv.append(i);
    csv.append(p.gpus[i].items.size());
    csv.append(p.gpus[i].size);
    csv.append(as_double(p.gpus[i].size) / as_double(p.question.budget));
    csv.append(p.makespans[i].in_turn.si());
    csv.append(p.makespans[i].side_by_side.si());
    csv.append(fmt::format("{}", fmt::join(names_of(p, p.gpus[i]), " ")));
    csv.end_row();
  }
  csv.close();
}

}  // namespace roofcast::cli
