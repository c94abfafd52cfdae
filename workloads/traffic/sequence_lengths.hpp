// SPDX-License-Identifier: Apache-2.0
//
// Lengths of sequences in their order, from a file. The first line tells the format; the first bytes tell gzip.
//
//   tokens                 a table with this column; its other columns are not read
//   arrival_s,… and others a trace of requests (workloads/traffic/request_traces.hpp), by arrival
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace roofcast::workloads {

// The part of a request that is the sequence. A table of tokens has no parts.
enum class SequencePart : std::uint8_t { input, output, both };

// A text that cannot be read, or has no sequence, is an InputError with file, line and column.
std::vector<std::int64_t> read_lengths(const std::filesystem::path& file, SequencePart part);

}  // namespace roofcast::workloads
