// SPDX-License-Identifier: Apache-2.0
#include "calibrate/operators/shape_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace roofcast::calibrate {
namespace {

constexpr double kMostCell = 1e8;     // far above what is measured
constexpr double kMostExperts = 1e5;  // each is counted
constexpr double kMostBytes = 1e15;

struct Cell {
  std::string_view column;
  double least = 1.0;
  double most = kMostCell;
};
constexpr Cell kCells[] = {
    {"m"},
    {"n"},
    {"k"},
    {"batch_size"},
    {"isl"},
    {"prefix_len", 0.0},
    {"kv_len_minus_isl", 0.0},
    {"step", 0.0},
    {"window_size", 0.0},
    {"num_heads"},
    {"num_key_value_heads"},
    {"head_dim"},
    {"num_tokens"},
    {"num_token"},
    {"hidden_size"},
    {"inter_size"},
    {"topk"},
    {"num_topk"},
    {"num_experts", 1.0, kMostExperts},
    {"moe_tp_size"},
    {"moe_ep_size"},
    {"node_num"},
    {"dispatch_sms"},
    {"combine_sms"},
    {"d_model"},
    {"d_state"},
    {"d_conv"},
    {"nheads"},
    {"n_groups"},
    {"chunk_size"},
    {"seq_len"},
    {"num_k_heads"},
    {"head_k_dim"},
    {"num_v_heads"},
    {"head_v_dim"},
    {"num_gpus", 2.0},
    {"message_bytes", 1.0, kMostBytes},
};

struct Words {
  std::string_view column;
  std::vector<std::string_view> known;
};
const std::vector<Words>& words() {
  static const std::vector<Words> all = {
      {"phase", {"context", "generation"}},
      {"nccl_dtype",
       {"half", "float16", "bfloat16", "float", "float32", "double", "fp8_e4m3", "fp8_e5m2",
        "f8e4m3", "f8e5m2", "int8", "uint8", "int32", "uint32", "int64", "uint64"}},
  };
  return all;
}

}  // namespace

ShapeCells::ShapeCells(const base::CsvTable& table)
    : table_(table),
      experts_(table.find_column("num_experts")),
      chosen_(table.find_column("topk")),
      ranks_(table.find_column("moe_ep_size")),
      heads_(table.find_column("num_heads")),
      kv_heads_(table.find_column("num_key_value_heads")) {
  for (const Cell& cell : kCells) {
    if (const auto column = table.find_column(cell.column)) {
      checked_.push_back({*column, cell.least, cell.most});
    }
  }
  for (const Words& each : words()) {
    if (const auto column = table.find_column(each.column)) {
      words_.emplace_back(*column, each.known);
    }
  }
}

std::string ShapeCells::wrong(std::size_t row) const {
  for (const Checked& cell : checked_) {
    const double value = number(row, cell.column);
    if (!(value >= cell.least && value <= cell.most) || value != std::floor(value)) {
      return fmt::format("{} is not a whole number from {} to {:.0f}",
                         table_.columns()[cell.column], cell.least, cell.most);
    }
  }
  for (const auto& [column, known] : words_) {
    const std::string_view word = table_.cell(row, column);
    if (!word.empty() && std::find(known.begin(), known.end(), word) == known.end()) {
      return fmt::format("{} is none that is known: \"{}\"", table_.columns()[column], word);
    }
  }
  if (experts_ && chosen_ && number(row, chosen_) > number(row, experts_)) {
    return "topk is more than num_experts";
  }
  if (experts_ && ranks_ && std::fmod(number(row, experts_), number(row, ranks_)) != 0.0) {
    return "num_experts is no multiple of moe_ep_size";
  }
  if (heads_ && kv_heads_ && std::fmod(number(row, heads_), number(row, kv_heads_)) != 0.0) {
    return "num_heads is no multiple of num_key_value_heads";
  }
  return {};
}

double ShapeCells::number(std::size_t row, std::optional<std::size_t> column) const {
  return base::parse_number(table_.cell(row, *column)).value_or(std::nan(""));
}

}  // namespace roofcast::calibrate
