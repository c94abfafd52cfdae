// SPDX-License-Identifier: Apache-2.0
#include "calibrate/servers/disaggregated_configurations.hpp"

#include <algorithm>
#include <charconv>

namespace roofcast::calibrate {
namespace {

// Stack, chip, precision and lengths, then a line for each deployment: whether it speculates (mtp),
// prefill and decode workers, after the stroke the sequences that a rank of the latter takes, and concurrencies.
// TEP and DEP cut experts over all their ranks; DEP's attention is data-parallel.
//
// 2025: InferenceMAX/InferenceMAX@525079a; its TensorRT-LLM concurrencies are of one decode worker, here of
// all, as the measured rows have them. What it says of SGLang's widths "does nothing" by its own word; its
// low-latency workers of four GPUs are taken to be TP, as a year later, since DEP4 would not hold FP8 weights.
constexpr std::string_view k2025 = R"(
> trtllm gb200 fp4 1024 1024
mtp 1xtep4 4xtep8/32 4 8 16 32 64 144
mtp 1xdep4 1xdep16/64 512 1075
mtp 2xdep4 1xdep16/128 2150
mtp 1xdep4 1xdep32/16 512
mtp 1xdep4 1xdep8/256 2252
stp 1xtep4 4xtep8/128 4 8 16 32 64 128 256 564
stp 1xdep4 1xdep32/32 1075
stp 1xdep4 1xdep16/64 1075
stp 2xdep4 1xdep16/256 2048 4300
stp 1xdep4 1xdep8/512 4300
> trtllm gb200 fp4 8192 1024
mtp 1xtep4 3xtep8/16 3 6 12 24 54
mtp 5xdep4 1xdep32/8 128 269
mtp 8xdep4 1xdep32/16 538
mtp 8xdep4 1xdep16/64 1075
mtp 6xdep4 1xdep8/256 2150
stp 1xtep4 3xtep8/32 3 6 12 24 48 102
stp 4xdep4 1xdep32/16 256 538
stp 6xdep4 1xdep16/64 1075
stp 8xdep4 1xdep16/128 2150
stp 5xdep4 1xdep8/256 2150
> sglang gb200 fp8 1024 1024
stp 2xdep8 1xdep32 4096
stp 1xtp4 4xtp4 2 4 8 16 64 128
stp 3xdep8 1xdep48 1024 2048 4096
> sglang gb200 fp8 8192 1024
stp 1xtp4 1xtp4 4 8 16 32
stp 5xdep8 1xdep32 512 1024 2048 6144
> sglang gb200 fp4 1024 1024
stp 1xtp4 2xtp4 4 8 32 64
stp 4xdep4 1xdep48 512 1024 2048 4096 8192
stp 4xdep4 1xdep32 8192 12000 15000
> sglang gb200 fp4 8192 1024
stp 1xtp4 4xtp4 4 8 32 64
stp 6xtp4 1xdep48 512 1024 2048 4096
stp 10xdep4 1xdep32 1024 2048 8192
)";

// 2026: SemiAnalysisAI/InferenceX@0004cf5; concurrencies of H200 by TensorRT-LLM are of one decode worker there, here
// of all, as the recipes it names have them (ishandhanani/srt-slurm, recipes/trtllm/h200), and where it says 1,
// the measured rows' two more than decode workers.
constexpr std::string_view k2026 = R"(
> trtllm b200_sxm fp4 1024 1024
mtp 1xdep4 2xdep8/64 1214
mtp 1xdep4 5xdep8/16 875
mtp 1xdep4 5xtep8/1 6
mtp 1xdep4 5xtep8/32 10 15 25 45 90 180
mtp 3xdep4 4xdep8/128 4968
mtp 3xdep4 5xdep4/512 10860
stp 1xdep4 1xdep8/512 4096
stp 1xdep4 2xdep8/128 2192
stp 1xdep4 5xdep8/32 1365
stp 1xdep4 5xtep8/1 6
stp 1xdep4 5xtep8/32 10 15 25 45 90 180
stp 1xdep4 6xtep8/64 450
> trtllm b200_sxm fp4 8192 1024
mtp 1xdep4 1xdep8/8 90
mtp 1xdep4 3xtep8/16 66
mtp 1xdep4 5xtep8/1 6
mtp 1xdep4 5xtep8/8 10 15 30 60
mtp 3xdep4 1xdep8/64 548
mtp 5xdep4 1xdep8/192 1096 1691
mtp 5xdep4 2xdep8/32 658
stp 1xdep4 5xtep8/1 6
stp 1xdep4 5xtep8/8 10 15 25 50 100
stp 2xdep4 5xtep8/64 370
stp 4xdep4 1xdep8/192 1606
stp 4xdep4 3xdep8/32 837
stp 7xdep4 2xdep8/128 2222
> trtllm b200_sxm fp8 1024 1024
mtp 1xdep8 8xtp8/1 8
mtp 1xdep8 8xtp8/4 32
mtp 1xdep8 8xtp8/8 64
mtp 1xdep8 8xtp8/32 256
mtp 1xdep8 7xdep8/128 896
mtp 1xdep8 4xdep8/256 1024
mtp 1xdep8 3xdep8/384 1184
mtp 1xdep8 2xdep8/768 1600
stp 1xdep8 3xtp8/1024 4 32 128
stp 1xdep8 5xdep8/48 1920
stp 1xdep8 1xdep8/512 4096
stp 2xdep8 5xdep8/128 5152
> trtllm b200_sxm fp8 8192 1024
mtp 1xdep8 6xtp8/8 8 48
mtp 1xdep8 2xtp8/32 8
mtp 1xdep8 4xtp8/16 64
mtp 2xdep8 3xdep8/8 224
mtp 2xdep8 1xdep8/32 288
mtp 4xdep8 1xdep8/128 1088
stp 1xdep8 1xtp8/1 1
stp 1xdep8 4xtp8/32 32 128
stp 1xdep8 6xtp8/16 96
stp 1xdep8 1xdep8/128 128
stp 1xdep8 1xdep8/256 256
stp 1xdep8 2xdep8/64 128
stp 2xdep8 1xdep8/640 640
> trtllm h200_sxm fp8 1024 1024
mtp 1xdep8 11xtep8/1 13
mtp 1xtep8 11xtep8/128 44 88 352
mtp 1xtep8 9xtep8/128 144
mtp 1xdep8 8xdep8/128 512
mtp 1xdep8 7xdep8/128 896
mtp 1xdep8 4xdep8/128 1024
mtp 1xdep8 2xdep8/256 1024
stp 1xdep8 9xtep8/1 11
stp 1xtep8 9xtep8/256 36 72 144 288 576
stp 1xdep8 9xdep8/512 1152
stp 1xdep8 6xdep8/512 1536
stp 2xdep8 7xdep8/512 3584
> trtllm h200_sxm fp8 8192 1024
mtp 1xtep8 7xtep8/1 9
mtp 1xtep8 7xtep8/32 28
mtp 1xtep8 6xtep8/32 48
mtp 1xtep8 3xtep8/32 48
mtp 3xtep8 5xtep8/32 160
mtp 1xdep8 1xdep8/32 64
mtp 2xdep8 1xdep8/32 128
mtp 3xdep8 1xdep8/32 256
mtp 3xdep8 1xdep8/64 512
stp 1xtep8 7xtep8/1 9
stp 1xtep8 7xtep8/32 28
stp 1xtep8 6xtep8/16 48
stp 1xtep8 3xtep8/32 48
stp 2xtep8 5xtep8/128 160
stp 2xdep8 3xdep8/128 192
stp 1xdep8 1xdep8/256 128
stp 5xdep8 3xdep8/256 768
stp 3xdep8 1xdep8/512 512
> trtllm h100_sxm fp8 1024 1024
mtp 1xdep16 3xtep16/1 6
mtp 1xdep16 3xtep16/2 9
mtp 1xdep16 3xtep16/8 30
mtp 1xdep16 3xtep16/16 60
mtp 1xdep16 3xtep16/32 117
mtp 1xdep16 3xtep16/128 462
mtp 1xdep16 3xdep16/4 231
mtp 1xdep16 1xdep16/32 615
mtp 1xdep16 1xdep16/64 1229
stp 1xdep16 3xtep16/1 6
stp 1xdep16 3xtep16/2 9
stp 1xdep16 3xtep16/8 30
stp 1xdep16 3xtep16/16 60
stp 1xdep16 3xdep16/4 231
stp 1xdep16 3xdep16/8 462
stp 1xdep16 3xdep16/16 924
stp 1xdep16 3xdep16/32 1845
stp 2xdep16 1xdep16/256 4916
> trtllm h100_sxm fp8 8192 1024
mtp 1xdep16 3xtep16/1 6
mtp 1xdep16 3xtep16/2 9
mtp 1xdep16 3xtep16/8 30
mtp 1xdep16 1xdep16/4 77
mtp 2xdep16 1xdep16/8 154
stp 1xdep16 3xtep16/1 6
stp 1xdep16 3xtep16/2 9
stp 1xdep16 3xtep16/8 30
stp 1xdep16 2xtep16/64 154
stp 2xdep16 1xdep16/16 308
> sglang h100_sxm fp8 1024 1024
mtp 1xtp16 2xtp16 1 2 4 8 16 32 64 128
mtp 1xtp16 1xdep16 1 2 4 8 16 32 64
stp 1xtp16 2xtp16 1 2 4 8 16 32 64 128
stp 1xtp16 1xdep16 1 2 4 8 16 32 64
> sglang h100_sxm fp8 1024 8192
mtp 1xtp16 2xtp16 1 2 4 8 16 32 64
mtp 1xtp16 1xdep16 1 2 4 8 16 32 64
stp 1xtp16 2xtp16 1 2 4 8 16 32
stp 1xtp16 1xdep16 1 2 4 8
> sglang h100_sxm fp8 8192 1024
mtp 1xtp16 1xtp16 1 2 4 8 16 32 64 128
mtp 1xtp16 1xdep16 1 2 4 8 16 32 64
stp 1xtp16 1xtp16 1 2 4 8 16 32 64 128
stp 1xtp16 1xdep16 1 2 4 8 16 32 64
> trtllm gb200 fp4 1024 1024
mtp 1xdep4 1xdep32/4 180
mtp 1xdep4 4xtep8/8 4 8 12 24 48
mtp 2xdep4 1xdep16/256 4301
mtp 3xdep4 1xdep32/64 2253
mtp 3xdep4 5xdep4/768 16130
stp 1xdep4 1xdep8/512 4301
stp 1xdep4 1xdep32/16 666
stp 1xdep4 2xdep4/768 6144
stp 1xdep4 4xtep8/1 5
stp 1xdep4 4xtep8/32 12 24 48 96 192
stp 2xdep4 1xdep16/256 4301
stp 2xdep4 1xdep32/64 2253
> trtllm gb200 fp4 1024 8192
mtp 1xdep4 7xtep8/1 7
mtp 1xdep4 7xtep8/4 4 8 12 24 48
mtp 1xdep4 1xdep32/4 128
mtp 1xdep4 1xdep32/16 512
mtp 1xdep4 1xdep32/256 8192
mtp 1xdep4 3xdep16/64 3072
mtp 1xdep4 3xdep16/128 6144
stp 1xdep4 7xtep8/1 5
stp 1xdep4 15xtep4/4 60
stp 1xdep4 15xtep4/8 135
stp 1xdep4 1xdep32/16 563
stp 1xdep4 1xdep32/64 2048
stp 1xdep4 1xdep32/128 4096
stp 1xdep4 1xdep32/256 8192
> trtllm gb200 fp4 8192 1024
mtp 1xdep4 4xtep8/8 4 8 12 24 48
mtp 3xdep4 1xdep32/4 180
mtp 7xdep4 1xdep16/64 1229
mtp 8xdep4 1xdep32/16 666
mtp 11xdep4 1xdep16/256 4301
stp 1xdep4 4xtep8/1 5
stp 1xdep4 4xtep8/16 12 44 76
stp 2xdep4 1xdep32/8 333
stp 7xdep4 1xdep32/32 1229
stp 8xdep4 1xdep16/128 2253
stp 10xdep4 1xdep16/256 4096
> trtllm gb200 fp8 1024 1024
mtp 1xdep8 1xdep8/256 2151
mtp 1xdep8 1xdep8/512 4301
mtp 1xdep8 1xdep16/64 1229
mtp 1xdep8 1xdep32/16 615
mtp 1xdep8 3xtep8/2 9
mtp 1xdep8 3xtep8/4 18
mtp 1xdep8 3xtep8/8 36
stp 1xdep8 1xdep8/512 4301
stp 1xdep8 1xdep8/768 6144
stp 1xdep8 1xdep16/128 2151
stp 1xdep8 1xdep32/8 256
stp 1xdep8 1xdep32/32 1127
stp 1xdep8 3xtep8/1 3
stp 1xdep8 3xtep8/8 27
> trtllm gb200 fp8 1024 8192
mtp 1xdep8 2xdep16/64 2152
mtp 1xdep8 2xdep16/256 8192
mtp 1xdep8 1xdep32/2 72
mtp 1xdep8 1xdep32/16 564
mtp 1xdep8 4xtep8/2 4 8
stp 1xdep8 2xdep16/256 8192
stp 1xdep8 1xdep32/16 564
stp 1xdep8 1xdep32/64 2048
stp 1xdep8 4xtep8/1 4
stp 1xdep8 4xtep8/8 36
> trtllm gb200 fp8 8192 1024
mtp 3xdep8 1xdep8/64 666
mtp 5xdep8 1xdep16/32 666
mtp 3xdep8 1xdep16/16 333
mtp 4xdep8 1xdep32/8 333
mtp 2xdep8 1xdep32/2 90
mtp 1xdep8 3xtep8/2 6
mtp 1xdep8 3xtep8/4 15
stp 5xdep8 1xdep16/64 1229
stp 4xdep8 1xdep32/16 666
stp 3xdep8 1xdep16/32 615
stp 2xdep8 1xdep32/8 333
stp 1xdep8 3xtep8/1 6
stp 1xdep8 3xtep8/4 18
stp 1xdep8 3xtep8/16 63
> sglang gb200 fp8 1024 1024
stp 1xtp4 1xtp4 4 8
stp 3xdep8 1xdep48 1024 2048 4096
stp 2xdep8 1xdep32 1024 2048 4096 6144
stp 1xdep8 1xdep8 4096
> sglang gb200 fp8 8192 1024
stp 1xtp8 1xtp8 4 8 16
stp 5xdep8 1xdep32 512 1024 2048 6144
stp 6xdep8 1xdep24 2048 4096 6144
> sglang gb200 fp4 1024 1024
stp 1xtp4 2xtp4 4 8 32
stp 4xdep4 1xdep32 512 2048 4096 8192
stp 4xdep4 1xdep48 2048 4096
> sglang gb200 fp4 8192 1024
stp 1xtp4 4xtp4 4 8
stp 6xtp4 1xdep48 512 2048 4096
stp 10xtp4 1xdep32 2048
> trtllm gb200 gpt-oss 1024 1024
stp 1xtp1 1xtp4/256 1 2 4 16 32 64 128
stp 1xtp1 4xtp2/32 16
stp 1xtp1 1xdep2/1536 256 512 1024 2048 2560
stp 1xtp1 2xdep2/1536 512 1024 2048 2560
stp 1xtp1 1xdep4/512 256 1024 1536
stp 1xtp1 3xdep4/1024 3072
> trtllm gb200 gpt-oss 8192 1024
stp 1xtp1 1xtp8/4 1
stp 1xtp1 1xtp4/128 2 4 8 16 32 64
stp 2xtp1 1xtp4/1024 128 512
stp 2xtp1 1xtp2/512 256 384
stp 2xtp1 1xdep2/512 128 512
> sglang h200_sxm fp8 1024 1024
stp 1xtp8 9xtp8 1 4 8 16 32 64 128 256
stp 1xtp8 6xtp8 512 1024 2048
stp 1xdep8 6xdep8 128 256 512 1024 2048
mtp 1xtp8 9xtp8 1 4 8 16 32 64 128 256
mtp 1xtp8 6xtp8 512 1024 2048
mtp 1xdep8 6xdep8 128 256 512 1024 2048
> sglang h200_sxm fp8 8192 1024
stp 1xtp8 7xtp8 1 4 8
stp 1xtp8 6xtp8 4 8 16
stp 1xtp8 3xtp8 8 16 32
stp 2xtp8 3xtp8 32 64 128
stp 1xtp8 1xdep8 64 128 256
mtp 1xtp8 7xtp8 1 4 8
mtp 1xtp8 6xtp8 2 4 8 16 32
mtp 1xtp8 3xtp8 4 8 16 32 64
mtp 2xtp8 3xtp8 32 64 128
mtp 1xtp8 1xdep8 32 64 128 256 512
> sglang b200_sxm fp4 1024 1024
stp 1xdep4 5xtep8 16 128
stp 1xdep4 6xtep8 32 64 256
stp 1xdep4 1xdep8 512
stp 1xdep4 2xdep8 512
mtp 1xdep4 5xtep8 16 512
mtp 1xdep4 6xtep8 32 64 256 512
mtp 1xdep4 1xdep8 512 1024
mtp 1xdep4 2xdep8 512
> sglang b200_sxm fp4 8192 1024
stp 1xdep4 1xtep8 64 128
stp 1xdep4 5xtep8 8
stp 2xdep4 5xtep8 4 128
stp 1xtp4 1xtp8 4 8 16 64
stp 7xdep4 2xdep8 1024 2048
mtp 1xdep4 1xtep8 64 128
mtp 1xdep4 5xtep8 8
mtp 2xdep4 5xtep8 4 128
mtp 1xtp4 1xtp8 4 8 16 64
> sglang b200_sxm fp8 1024 1024
stp 1xtep8 1xtep8 4
stp 1xtep8 3xtep8 16 32 64 128 256
stp 1xdep8 5xdep8 1024 2048 4096
stp 2xdep8 5xdep8 2048 4096
mtp 1xtep8 1xtep8 4 64
mtp 1xtep8 3xtep8 4 8 16 32 128
mtp 1xdep8 5xdep8 512 4096
mtp 2xdep8 5xdep8 1024 2048 4096
mtp 1xdep8 2xdep8 512 1024 2048
> sglang b200_sxm fp8 8192 1024
stp 1xtep8 1xtep8 4 32 64 512
stp 1xtep8 4xtep8 64 512
stp 1xtep8 6xtep8 32
stp 1xdep8 1xdep8 128 512 1024
stp 2xdep8 1xdep8 256 512 1024
mtp 1xtep8 1xtep8 16 32 64
mtp 1xtep8 4xtep8 8 256
mtp 1xtep8 6xtep8 4 8 16 256
mtp 1xdep8 1xdep8 256
mtp 2xdep8 1xdep8 128 512
)";

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The next word of a line.
std::string_view word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view first = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return first;
}

// "5xtep8"
workloads::Pool pool_of(std::string_view text) {
  const std::size_t cross = text.find('x');
  const std::size_t digits = text.find_first_of("0123456789", cross);
  const std::string_view kind = text.substr(cross + 1, digits - cross - 1);
  const std::int64_t width = number(text.substr(digits));
  const std::size_t stroke = std::min(text.find('/'), text.size() - 1);
  workloads::Pool pool;
  pool.replicas = number(text.substr(0, cross));
  (kind == "dep" ? pool.mapping.data_parallel : pool.mapping.tensor_parallel) = width;
  pool.mapping.expert_parallel = kind == "tp" ? 1 : width;
  pool.limits.max_sequences = number(text.substr(stroke + 1));
  return pool;
}

void read(std::string_view text, std::int64_t year, std::vector<Configuration>& all) {
  Configuration of;
  of.year = year;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view first = word(line);
    if (first == ">") {
      of.stack = word(line);
      of.chip = word(line);
      of.precision = word(line);
      of.input_tokens = number(word(line));
      of.output_tokens = number(word(line));
    } else if (!first.empty()) {
      Configuration each = of;
      each.speculates = first == "mtp";
      each.pools.prefill = pool_of(word(line));
      each.pools.decode = pool_of(word(line));
      while (!line.empty()) {
        each.concurrencies.push_back(number(word(line)));
      }
      all.push_back(std::move(each));
    }
  }
}

}  // namespace

const std::vector<Configuration>& disaggregated_configurations() {
  static const std::vector<Configuration> all = [] {
    std::vector<Configuration> configurations;
    read(k2025, 2025, configurations);
    read(k2026, 2026, configurations);
    return configurations;
  }();
  return all;
}

}  // namespace roofcast::calibrate
