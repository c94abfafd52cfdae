// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 (FIPS 180-4), by which manifests name a table's bytes.
#pragma once

#include <string>
#include <string_view>

namespace roofcast::base {

std::string sha256(std::string_view bytes);  // 64 hexadecimal digits

}  // namespace roofcast::base
