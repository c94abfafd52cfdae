// SPDX-License-Identifier: Apache-2.0
#include "sim/interface/roofcast/sweep.hpp"

#include <limits>
#include <stdexcept>

#include "sim/decide/sweep_run.hpp"
#include "sim/interface/document.hpp"
#include "sim/result/condition.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast {
namespace {

// A list of what is written at a key.
base::Node list_of(const std::string& key, const std::vector<std::string>& values) {
  base::Node list = base::parse_document(key, "[]");
  for (const std::string& value : values) {
    list.items.push_back(base::parse_document(key, value));
  }
  return list;
}

// The document that a sweep's file would have.
base::Node document_of(const Sweep& sweep) {
  base::Node document = base::parse_document("sweep", "{axes: {}}");
  document["base"] = sweep.base.document().node;
  for (const Axis& axis : sweep.axes) {
    document["axes"][axis.path] = list_of(axis.path, axis.values);
  }
  document["where"] = list_of("where", sweep.where);
  if (!sweep.maximize.empty() || !sweep.minimize.empty()) {
    document["pareto"] = base::parse_document("pareto", "{}");
    document["pareto"]["maximize"] = list_of("maximize", sweep.maximize);
    document["pareto"]["minimize"] = list_of("minimize", sweep.minimize);
  }
  return document;
}

}  // namespace

struct SweepResult::Points {
  Points(const base::Node& document, unsigned threads)
      : points(sim::read_sweep(document)), result(sim::run_sweep(points, threads)) {}

  sim::SweepPoints points;
  sim::ResultTable result;
};

SweepResult::SweepResult(std::shared_ptr<const Points> points) : points_(std::move(points)) {}

std::size_t SweepResult::points() const { return points_->points.size(); }

std::vector<std::string> SweepResult::axes() const {
  std::vector<std::string> names;
  for (const sim::Axis& axis : points_->points.sweep().axes) {
    names.push_back(axis.name);
  }
  return names;
}

const std::string& SweepResult::value(std::size_t point, std::size_t axis) const {
  if (point >= points() || axis >= points_->points.sweep().axes.size()) {
    throw std::out_of_range("a sweep has no such point or axis");
  }
  return points_->points.label(point, axis);
}

// The row of a point.
std::size_t SweepResult::row(std::size_t point) const {
  if (point >= points()) {
    throw std::out_of_range("a sweep has no such point");
  }
  return point;
}

bool SweepResult::runs(std::size_t point) const { return points_->result.fits(row(point)); }

bool SweepResult::meets(std::size_t point) const { return points_->result.meets(row(point)); }

bool SweepResult::on_front(std::size_t point) const {
  return points_->result.is_on_front(row(point));
}

std::string SweepResult::reason(std::size_t point) const {
  return points_->result.column("reason").text(row(point));
}

std::vector<double> SweepResult::column(std::string_view metric) const {
  const sim::Metric* known = sim::find_metric(metric);
  if (known == nullptr) {
    refuse(sim::unknown_metric(std::string(metric)));
  }
  const sim::ResultColumn& numbers = points_->result.column(known->name);
  std::vector<double> values;
  values.reserve(points());
  for (std::size_t point = 0; point < points(); ++point) {
    values.push_back(runs(point) ? numbers.number(point)
                                 : std::numeric_limits<double>::quiet_NaN());
  }
  return values;
}

SweepResult sweep(const Sweep& sweep, unsigned threads) {
  return with_input_errors([&] {
    return SweepResult(std::make_shared<SweepResult::Points>(document_of(sweep), threads));
  });
}

SweepResult sweep(const std::filesystem::path& file, unsigned threads) {
  return with_input_errors([&] {
    return SweepResult(std::make_shared<SweepResult::Points>(base::load_document(file), threads));
  });
}

}  // namespace roofcast
