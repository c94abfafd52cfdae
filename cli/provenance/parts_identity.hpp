// SPDX-License-Identifier: Apache-2.0
//
// identity.json of a folder of parts (cli/provenance/sweep_parts.hpp): what its parts were made from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace roofcast::cli {

inline constexpr const char* kIdentity = "identity.json";

// The text of the file: the version, what is done with a row, and the hashes of the sweep, of the catalog entries and of
// the files that were read so far.
std::string parts_identity(std::string_view sweep, bool simulate, std::size_t points_of_a_part);

// That of a folder, which may be damaged; empty if there is none.
std::string identity_in(const std::filesystem::path& folder);

bool says_simulate(const std::string& identity);

// The first file of an identity whose contents do not come next in what `made` names; empty if there is none. `but` does not
// count.
std::string changed_file(const std::string& identity, const std::string& made,
                         const std::filesystem::path& but);
// The first file that `made` names and that is there with other contents; empty if there is none.
std::string changed_since(const std::string& made);
// The identity with the files that `made` names, and with the entries that it names alone: of a base that sweep.yaml has.
std::string with_inputs_of(const std::string& identity, const std::string& made);

// What differs between the identity of a folder and one's own, in words; empty if nothing does.
std::string difference(const std::string& there, const std::string& own);

// What the check of each part begins with. It is the same wherever the files lie, and another one where two of them are
// swapped.
std::uint64_t key_of(const std::string& identity);

}  // namespace roofcast::cli
