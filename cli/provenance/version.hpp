// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace roofcast::cli {

// "0.1.0", and where the sources were a Git checkout when configured, "0.1.0 (v0.1.0-12-gd25e254)".
std::string version();

}  // namespace roofcast::cli
