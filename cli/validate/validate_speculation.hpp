// SPDX-License-Identifier: Apache-2.0
//
// The part of `calibrate validate serving` on servers that may have used speculative decoding: their errors without
// it and with it (MeasuredServer::speculating), and how many rows each explains better.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "calibrate/platforms/error_summary.hpp"
#include "calibrate/servers/serving_rows.hpp"

namespace roofcast::cli {

class SpeculationErrors {
 public:
  // A row that may speculate, and its forecast without.
  void add(const calibrate::MeasuredServer& measured, const calibrate::ServerForecast& without,
           sim::Workspace& workspace);
  std::string text() const;  // empty without rows

 private:
  struct Group {
    std::vector<calibrate::Pair> without;
    std::vector<calibrate::Pair> with;
    std::size_t better = 0;  // rows whose TPOT is nearer with speculation
  };
  std::map<std::pair<std::string, std::string>, Group> groups_;  // by chip and stack
  Group all_;
};

}  // namespace roofcast::cli
