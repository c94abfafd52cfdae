// SPDX-License-Identifier: Apache-2.0
//
// Every combination of the values of several knobs, in memory. A point costs some microseconds, or less: points share
// what they have in common.
//
//   roofcast::Sweep question{roofcast::Scenario("llama-70b.yaml")};
//   question.axes = {{"system", {"hgx_h100", "hgx_h200"}}, {"traffic.concurrency", {"1", "8", "64"}}};
//   question.where = {"ttft_p95_s <= 0.5"};
//   const roofcast::SweepResult result = roofcast::sweep(question);
//   const std::vector<double> tpot = result.column("tpot_mean_s");    // result.points() numbers
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <roofcast/metrics.hpp>
#include <roofcast/scenario.hpp>

namespace roofcast {

struct Axis {
  std::string path;                 // of a knob
  std::vector<std::string> values;  // as Scenario::with takes them
};

struct Sweep {
  Scenario base;
  std::vector<Axis> axes = {};
  std::vector<std::string> where = {};  // conditions: "fits", or a metric in SI units and a bound
  std::vector<std::string> maximize =
      {};  // metrics; without any, throughput a GPU and interactivity
  std::vector<std::string> minimize = {};
};

// Point i is a combination of one value of each axis; the last axis changes fastest.
class SweepResult {
 public:
  std::size_t points() const;
  std::vector<std::string> axes() const;  // their paths

  // The value of an axis, counted from 0. Throws std::out_of_range when there is no such point or axis.
  const std::string& value(std::size_t point, std::size_t axis) const;
  bool runs(std::size_t point) const;
  bool meets(std::size_t point) const;  // runs, and keeps every condition
  // Of the points that meet, no other is better in one objective and worse in none.
  bool on_front(std::size_t point) const;
  std::string reason(std::size_t point) const;  // why it does not meet; empty when it does

  // A metric of every point, or a bound of its 90 % interval (low90_tpot_mean_s, high90_tpot_mean_s); NaN where a point
  // does not run or has no such number. Throws InputError when there is no such metric.
  std::vector<double> column(std::string_view metric) const;

 private:
  struct Points;
  friend SweepResult sweep(const Sweep& sweep, unsigned threads);
  friend SweepResult sweep(const std::filesystem::path& file, unsigned threads);
  explicit SweepResult(std::shared_ptr<const Points> points);
  std::size_t row(std::size_t point) const;

  std::shared_ptr<const Points> points_;
};

// On `threads` threads, 0 for all cores; the numbers are the same whatever their number. The second reads the YAML of a
// sweep. Both throw InputError when any value of any axis is bad input.
SweepResult sweep(const Sweep& sweep, unsigned threads = 0);
SweepResult sweep(const std::filesystem::path& file, unsigned threads = 0);

}  // namespace roofcast
