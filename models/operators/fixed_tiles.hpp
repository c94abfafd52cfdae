// SPDX-License-Identifier: Apache-2.0
//
// Tiles that kernels take by a rule: they try no others, so more rows may take less time.
//
//   rule       rows m          tile                                        rows end at a multiple of
//   by rows    up to 16        16 × 64                                     16
//              up to 64        64 × 64, or 16 × 64 where n ≤ 1280          64
//              up to 128       64 × 128, two beside each other             128
//              more            128 × 128, two beside each other            256
//   by waves   fewer than 32   16, 24 … 128 × 128                          the tile
//              up to 64        64 × 16, 24 … 128                           64
//              more            128 × 16, 24 … 128                          128
//
// By waves: of the widths, the one with the fewest waves; of these the one that fills the last wave most; of these the
// narrowest. The rows between m and that multiple are absent: no tile is smaller, and they are loaded as zeros.
//
// By rows: CUTLASS in fp8 of vLLM on chips with wgmma instructions (vllm-project/vllm@68f442e
// csrc/quantization/w8a8/cutlass/c3x/scaled_mm_sm90_fp8_dispatch.cuh). By waves: DeepGEMM with block scales of TensorRT-LLM
// there (NVIDIA/TensorRT-LLM@3aa6b11 cpp/include/tensorrt_llm/deep_gemm/jit_utils.cuh; fewer than 32 rows:
// cpp/tensorrt_llm/kernels/cutlass_kernels/fp8_blockscale_gemm).
#pragma once

#include "models/operators/tiling.hpp"
#include "models/tile_rule.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

struct FixedTiles {
  Tiling tiling;
  double absent_rows = 0;
};
// `rule` is one.
FixedTiles fixed_tiles(TileRule rule, const workloads::Gemm& op, double sms);

}  // namespace roofcast::models
