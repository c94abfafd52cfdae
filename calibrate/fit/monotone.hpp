// SPDX-License-Identifier: Apache-2.0
//
// Makes a corrected time rise with the work: from node to node of a grid the time, physical · exp(g), falls along
// none of its first axes.
//
// By turns along each axis, the weighted isotonic regression of ln time (pool adjacent violators); what the turns
// leave is taken out by running maxima.
#pragma once

#include <vector>

#include "hardware/correction.hpp"

namespace roofcast::calibrate {

// `log_physical`: ln of the physical time at each node; `weights` > 0: how well each node is known.
void make_monotone(hardware::CorrectionGrid& grid, std::size_t axes,
                   const std::vector<double>& log_physical, const std::vector<double>& weights);

}  // namespace roofcast::calibrate
