// SPDX-License-Identifier: Apache-2.0
//
// Recorded requests. The first line tells the format; the first bytes tell gzip.
//
//   arrival_s,input_tokens,output_tokens[,session][,priority]    our own; session is a whole number or empty;
//                                                       priority from 0 on, the greater goes first
//   TIMESTAMP,ContextTokens,GeneratedTokens             Azure LLM inference traces 2023 and 2024
//     2023-11-16 18:17:03.9799600,4808,10               (Azure/AzurePublicDataset)
//   {"timestamp": 0, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1, 2]}
//                                                       Mooncake (kvcache-ai/Mooncake): one object a line,
//                                                       milliseconds, hashes of blocks of 512 tokens
//
// The first request arrives at 0, whatever the clock of the trace says. Requests out of order are put in order. A
// request has at least one token in and one out. A text that cannot be read is an InputError with file, line and column.
#pragma once

#include <filesystem>
#include <string>

#include "workloads/traffic/requests.hpp"

namespace roofcast::workloads {

// `name`: the name of the text in messages.
Requests parse_requests(std::string text, const std::string& name);
Requests read_requests(const std::filesystem::path& file);

}  // namespace roofcast::workloads
