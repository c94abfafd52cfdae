// SPDX-License-Identifier: Apache-2.0
//
// OUT.csv.parts/finishing: the files that a sweep in parts writes from all its parts, with their hashes. It is there before
// the first of them gets its name, and goes last of the folder. So the same command, after a kill in between, knows which of
// the files that are there are its own, and writes them again.
#pragma once

#include <filesystem>
#include <vector>

namespace roofcast::cli {

// From now on each file that this process writes is noted before it gets its name.
void note_finishing(const std::filesystem::path& folder);

bool is_finishing(const std::filesystem::path& folder);

// Those of the files that are as an earlier run has noted them may be replaced (base::allow_replacing).
void allow_replacing_unfinished(const std::filesystem::path& folder,
                                const std::vector<std::filesystem::path>& files);

}  // namespace roofcast::cli
