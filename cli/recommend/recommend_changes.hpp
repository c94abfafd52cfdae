// SPDX-License-Identifier: Apache-2.0
//
// What would change an answer of `roofcast recommend`, from the rows that were scanned for it: a limit that is 10 %
// looser, another price of the runner-up's GPU, a precision that was not tried. Rows behind a looser limit are
// estimated only, and compared with the estimate of the answer.
#pragma once

#include <string>
#include <vector>

#include "sim/recommend/recommendation.hpp"

namespace roofcast::cli {

// Sentences. The recommendation has an answer.
std::vector<std::string> changes_of(const sim::Question& question,
                                    const sim::Recommendation& recommendation);

}  // namespace roofcast::cli
