// SPDX-License-Identifier: Apache-2.0
#include "calibrate/operators/power_neighbours.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace roofcast::calibrate {

PowerNeighbours::PowerNeighbours(const base::CsvTable& table)
    : places_(table.rows()), order_(table.rows()), rank_(table.rows()) {
  std::vector<std::size_t> alike;
  for (const std::string_view name : {"system", "fw", "gemm_dtype", "n", "k"}) {
    alike.push_back(table.column(name));
  }
  for (const std::string_view name : {"fw_version", "kernel_source"}) {
    if (const auto column = table.find_column(name)) {
      alike.push_back(*column);
    }
  }
  const std::size_t m = table.column("m");
  const std::size_t latency = table.column("latency_ms");
  const std::size_t power = table.column("power_w");
  const auto number = [&](std::size_t row, std::size_t column) {
    return base::parse_number(table.cell(row, column)).value_or(0.0);
  };
  std::unordered_map<std::string, std::size_t> layers;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    std::string layer;
    for (const std::size_t column : alike) {
      layer += table.cell(row, column);
      layer += ',';
    }
    const std::size_t number_of_layer = layers.emplace(layer, layers.size()).first->second;
    places_[row] = {number_of_layer,
                    {static_cast<std::int64_t>(number(row, m)), 1e-3 * number(row, latency),
                     number(row, power)}};
  }
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(places_[a].layer, places_[a].run.m) <
           std::tuple(places_[b].layer, places_[b].run.m);
  });
  for (std::size_t i = 0; i < order_.size(); ++i) {
    rank_[order_[i]] = i;
  }
}

std::vector<PowerRun> PowerNeighbours::of(std::size_t row) const {
  std::vector<PowerRun> runs;
  if (row >= rank_.size()) {
    return runs;
  }
  const auto add = [&](std::size_t rank) {
    const Place& place = places_[order_[rank]];
    if (place.layer == places_[row].layer && place.run.seconds > 0.0 && place.run.watts > 0.0) {
      runs.push_back(place.run);
    }
  };
  if (rank_[row] > 0) {
    add(rank_[row] - 1);
  }
  if (rank_[row] + 1 < order_.size()) {
    add(rank_[row] + 1);
  }
  return runs;
}

}  // namespace roofcast::calibrate
