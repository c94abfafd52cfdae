// SPDX-License-Identifier: Apache-2.0
//
// A measured run of requests, written by hand: the engine's clock is not the client's.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace roofcast {

inline void write_text(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

inline const std::string kRunMeta = R"({
  "engine_kwargs": {
    "model": "meta-llama/Llama-3.1-8B-Instruct",
    "max_num_seqs": 64,
    "max_num_batched_tokens": 2048,
    "max_model_len": null,
    "dtype": "bfloat16",
    "kv_cache_dtype": "auto"
  }
}
)";
inline const std::string kRunRequests =
    R"({"request_id": "b", "input_toks": 512, "output_toks": 1, "arrival_time": 1000.5, "queued_ts": 7.5, "first_token_ts": 7.6, "last_token_ts": 7.6}
{"request_id": "a", "input_toks": 1024, "output_toks": 11, "arrival_time": 1000.0, "queued_ts": 7.0, "first_token_ts": 7.2, "last_token_ts": 7.4}
)";

// `directory`/meta.json, requests.jsonl and timeseries.csv.
inline void write_run(const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  write_text(directory / "meta.json", kRunMeta);
  write_text(directory / "requests.jsonl", kRunRequests);
  write_text(directory / "timeseries.csv", "t,running,waiting\n1.0,2,0\n2.0,0,0\n");
}

}  // namespace roofcast
