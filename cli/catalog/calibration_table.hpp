// SPDX-License-Identifier: Apache-2.0
//
// The parameters of a calibration, how far they range over all that are shipped, what each means, and the document it
// was written in.
//
// Meanings are those of docs/catalog.md, so that they are written once.
#pragma once

#include <string>

#include "base/document/node.hpp"

namespace roofcast::cli {

// Comments of a YAML document: "# gemm.fill_trips  0.4375  0.438 to 3.5  start  h200_sxm.vllm".
std::string calibration_table(const base::Node& resolved);

// Of "gemm.wave_tail"; that of "gemm.tensor_efficiency.bf16" is of its first two names. Empty where there is none.
std::string meaning_of(const std::string& parameter);

}  // namespace roofcast::cli
