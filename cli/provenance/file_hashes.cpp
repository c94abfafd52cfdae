// SPDX-License-Identifier: Apache-2.0
#include "cli/provenance/file_hashes.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/document/output_file.hpp"
#include "base/fnv.hpp"

namespace roofcast::cli {
namespace {

namespace fs = std::filesystem;

HashedFile hashed_file(const fs::path& file) {
  if (const auto known = base::known_contents(file)) {
    return {file, known->bytes, known->hash};
  }
  std::ifstream in(base::lies_at(file), std::ios::binary);
  base::Contents contents;
  std::string block(1 << 16, '\0');
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    contents.add(std::string_view(block).substr(0, static_cast<std::size_t>(in.gcount())));
  }
  return {file, contents.bytes, contents.hash};
}

fs::path& passing() {
  static fs::path folder;
  return folder;
}

}  // namespace

void note_passing(const fs::path& folder) { passing() = folder; }

std::string hexadecimal(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

std::vector<HashedFile> hashed(const std::vector<fs::path>& files) {
  std::vector<HashedFile> all;
  for (const fs::path& file : files) {
    std::error_code error;
    if (fs::is_regular_file(base::lies_at(file), error)) {
      all.push_back(hashed_file(file));
    }
  }
  return all;
}

nlohmann::ordered_json files_json(const std::vector<fs::path>& files) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  std::vector<fs::path> staying = files;
  std::erase_if(staying, [](const fs::path& file) {
    return !passing().empty() && file.parent_path() == passing();
  });
  for (const HashedFile& file : hashed(staying)) {
    all.push_back(
        {{"path", file.path.string()}, {"bytes", file.bytes}, {"fnv1a", hexadecimal(file.hash)}});
  }
  return all;
}

}  // namespace roofcast::cli
