// SPDX-License-Identifier: Apache-2.0
//
// The rows behind an answer of `recommend`: as a CSV, and as a page that begins with the answer.
#pragma once

#include <string>

#include "cli/recommend/recommend_answer.hpp"

namespace roofcast::cli {

// The rows of all scans that are legal, one after another, with the columns of a sweep.
void write_rows(const sim::Recommendation& recommendation, const std::string& file);

void write_rows_page(const sim::Question& question, const Heading& heading,
                     const sim::Recommendation& recommendation, const std::string& file);

}  // namespace roofcast::cli
