// SPDX-License-Identifier: Apache-2.0
//
// The page docs/parameters.md: what each parameter of a calibration means, how far it ranges over the measured chips, and
// how well the rows of each chip and stack place it.
#pragma once

#include <string>

namespace roofcast::cli {

std::string parameters_page();

}  // namespace roofcast::cli
