// SPDX-License-Identifier: Apache-2.0
#include "cli/provenance/unfinished_sweep.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <fstream>

#include "base/document/output_file.hpp"
#include "base/document/text_file.hpp"
#include "cli/provenance/file_hashes.hpp"
#include "cli/provenance/parts_files.hpp"

namespace roofcast::cli {
namespace {

std::string line_of(const std::filesystem::path& file, std::uint64_t hash) {
  return fmt::format("{} {}\n", hexadecimal(hash), base::real_path(file).string());
}

}  // namespace

void note_finishing(const std::filesystem::path& folder) {
  if (!is_finishing(folder)) {  // what an earlier run has noted is there until this one writes it
    base::write_text(folder / kFinishing, "", base::Output::repeated);
  }
  base::call_before_naming([folder](const auto& name, const auto& whole, const auto& contents) {
    std::ofstream(folder / kFinishing, std::ios::app)
        << line_of(name, contents ? contents->hash : hashed({whole}).at(0).hash);
  });
}

bool is_finishing(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::is_regular_file(folder / kFinishing, error);
}

void allow_replacing_unfinished(const std::filesystem::path& folder,
                                const std::vector<std::filesystem::path>& files) {
  if (!is_finishing(folder)) {
    return;
  }
  const std::string noted = "\n" + base::bytes_of(folder / kFinishing);
  for (const std::filesystem::path& file : files) {
    const std::vector<HashedFile> now = hashed({file});
    if (!now.empty() && noted.find("\n" + line_of(file, now.front().hash)) != std::string::npos) {
      base::allow_replacing(file);
    }
  }
}

}  // namespace roofcast::cli
