// SPDX-License-Identifier: Apache-2.0
//
// One self-contained HTML file: a page of cli/assets with styles, chart library, scripts and data put in.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roofcast::cli {

// Replaces each token once, in order of appearance, never looking inside what was put in.
std::string fill(std::string_view page,
                 const std::vector<std::pair<std::string_view, std::string_view>>& tokens);

// A page between head and foot, with the scripts that every page has and then its own, and the data, whose numbers
// that are not finite become null. InputError when the file cannot be written.
void write_page(std::string_view page, const std::vector<std::string_view>& scripts,
                const nlohmann::ordered_json& data, const std::filesystem::path& file);

}  // namespace roofcast::cli
