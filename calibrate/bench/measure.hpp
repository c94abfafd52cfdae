// SPDX-License-Identifier: Apache-2.0
//
// The measurements, for main: each suite writes its tables. All of this needs the GPU.
#pragma once

#include <filesystem>
#include <string>

#include "calibrate/bench/suite_run.hpp"

namespace roofcast::bench {

// Empty, or why there is no GPU to measure.
std::string no_gpu();
std::string lost_gpu();  // empty, or why it can no longer be used

// The chip as `chosen`, or by the GPU's name; std::runtime_error when that is not known.
Subject subject(const std::string& chosen);

// environment.yaml: GPU, driver, CUDA and its libraries, clocks, power limit, caches, date.
void write_environment(const std::filesystem::path& directory, const Subject& subject);

void run_copy(SuiteRun& run);
void run_arithmetic(SuiteRun& run);
void run_launch(SuiteRun& run);
void run_host(SuiteRun& run);
void run_in_flight(SuiteRun& run);
void run_latency(SuiteRun& run);
void run_gemm(SuiteRun& run);
void run_gemm_backward(SuiteRun& run);
void run_power(SuiteRun& run);
void run_sustained(SuiteRun& run);
void run_decode(SuiteRun& run);
void run_prefill(SuiteRun& run);
void run_elementwise(SuiteRun& run);
void run_grouped_gemm(SuiteRun& run);
void run_mamba2(SuiteRun& run);
void run_pcie(SuiteRun& run);
void run_nccl(SuiteRun& run);
// In a process that run_nccl started: one rank of its team (calibrate/bench/team.hpp).
void run_nccl_rank(const std::filesystem::path& board, std::size_t rank);

// What --drift compares.
double copy_bandwidth();  // B/s, read and written
double l2_bandwidth();    // B/s, reads that hit
double dram_latency();    // s
double bf16_rate();       // FLOP/s of a large GEMM; 0 when built without cuBLASLt

}  // namespace roofcast::bench
