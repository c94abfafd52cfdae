// SPDX-License-Identifier: Apache-2.0
//
// What a file holds, in a number (base/fnv.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace roofcast::cli {

struct HashedFile {
  std::filesystem::path path;
  std::uintmax_t bytes = 0;
  std::uint64_t hash = 0;
};
// Those of the files that are regular ones. Of a file that this process hashed as it read or wrote it, that hash is taken.
std::vector<HashedFile> hashed(const std::vector<std::filesystem::path>& files);

// {path, bytes, fnv1a} of each.
// Of those that a provenance names: not in a folder that the command removes.
nlohmann::ordered_json files_json(const std::vector<std::filesystem::path>& files);

std::string hexadecimal(std::uint64_t hash);

void note_passing(const std::filesystem::path& folder);

}  // namespace roofcast::cli
