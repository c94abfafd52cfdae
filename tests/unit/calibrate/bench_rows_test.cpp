// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <filesystem>
#include <random>
#include <stdexcept>

#include "base/csv/csv.hpp"
#include "calibrate/bench/suite_run.hpp"
#include "calibrate/operators/operator_rows.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_calibrate_bench_rows {

using namespace roofcast::bench;

namespace {

namespace fs = std::filesystem;

class Scratch {
 public:
  Scratch() {
    std::random_device seed;
    directory_ = fs::temp_directory_path() / ("roofcast_bench_test_" + std::to_string(seed()));
    fs::create_directories(directory_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { fs::remove_all(directory_); }
  const fs::path& directory() const { return directory_; }
  base::CsvTable table(const std::string& name) const {
    return base::read_csv(directory_ / (name + ".csv"));
  }

 private:
  fs::path directory_;
};

const Subject kSubject{"h200_sxm", "13.0"};

// A row as the bench would write it: these cells of the shape, 0.5 for every result.
calibrate::MeasuredOperator read_back(const std::string& kind, const Cells& shape) {
  const Scratch scratch;
  Table table(scratch.directory(), layout(kind), kSubject);
  table.measured(shape, Cells(layout(kind).results.size(), 0.5));
  const base::CsvTable read = scratch.table(kind);
  return calibrate::OperatorRows(kind, read).row(0);
}

std::string text(const char* value) { return value; }
std::int64_t whole(std::int64_t value) { return value; }

}  // namespace

TEST_CASE("A GEMM row of the bench is one multiplication, whatever its format", "[unit]") {
  for (const char* dtype : {"bfloat16", "fp8", "int8", "tf32", "float16"}) {
    CAPTURE(dtype);
    const auto row =
        read_back("gemm", {text("cublaslt"), text(dtype), whole(16), whole(512), whole(1024)});
    CHECK(row.reason.empty());
    CHECK(row.chip == "h200_sxm");
    CHECK(row.stack == "bench");
    CHECK(row.measured_s == Approx(0.5e-3));
    REQUIRE(row.operators.size() == 1);
    const auto& gemm = std::get<workloads::Gemm>(row.operators.front());
    CHECK((gemm.m == 16 && gemm.n == 512 && gemm.k == 1024));
  }
}

TEST_CASE("The bench's tables of other operators are read as what they measure", "[unit]") {
  const Cells attention = {text("kernel"), text("bfloat16"), text("bfloat16"), whole(4),
                           whole(2048),    whole(0),         whole(32),        whole(8),
                           whole(128),     whole(0)};
  const auto decode = read_back("attention_generation", attention);
  CHECK(std::get<workloads::DecodeAttention>(decode.operators.at(0)).context == 2048);

  const auto prefill = read_back("attention_context", attention);
  CHECK(std::get<workloads::PrefillAttention>(prefill.operators.at(0)).new_tokens == 2048);

  const auto mamba = [](const char* kernel) {
    return read_back("mamba2",
                     {text(kernel), text("context"), whole(2), whole(256), whole(512), whole(2688),
                      whole(128), whole(4), whole(64), whole(64), whole(8), whole(64), text("")});
  };
  CHECK(std::get<workloads::StateScan>(mamba("mamba_chunk_scan_combined").operators.at(0)).chunk ==
        64);
  CHECK(std::holds_alternative<workloads::StateUpdate>(
      mamba("selective_state_update").operators.at(0)));

  const auto all_reduce =
      read_back("nccl", {text("all_reduce"), text("half"), whole(8), whole(512), whole(1024)});
  CHECK(std::get<workloads::Collective>(all_reduce.operators.at(0)).bytes == 1024.0);
}

TEST_CASE("A shape is drawn for a fit by what was asked, not by what the bench measured",
          "[unit]") {
  for (const char* kind : {"gemm", "gemm_power", "attention_context", "attention_generation"}) {
    CAPTURE(kind);
    const std::vector<std::string_view>& asked = layout(kind).shape;
    Cells shape = {text("kernel"), text("bfloat16")};
    for (std::size_t i = shape.size(); i < asked.size(); ++i) {
      shape.push_back(asked[i].ends_with("dtype") ? Cell(text("bfloat16")) : Cell(whole(64)));
    }
    const Scratch scratch;
    {
      Table table(scratch.directory(), layout(kind), kSubject);
      table.measured(shape, Cells(layout(kind).results.size(), 0.5));
      table.measured(shape, Cells(layout(kind).results.size(), 0.25));
      table.failed(shape, "not tried");
      shape.back() = whole(65);
      table.measured(shape, Cells(layout(kind).results.size(), 0.5));
    }
    const base::CsvTable read = scratch.table(kind);
    const calibrate::OperatorRows rows(kind, read);
    CHECK(rows.shape(0) == rows.shape(1));
    CHECK(rows.shape(0) == rows.shape(2));
    CHECK(rows.shape(0) != rows.shape(3));
  }
}

TEST_CASE("No two columns of a table share a name, and the last one is the reason", "[unit]") {
  for (const Layout& layout : layouts()) {
    const Scratch scratch;
    { const Table table(scratch.directory(), layout, kSubject); }
    CHECK(scratch.table(std::string(layout.name)).columns().back() == "reason");
  }
}

TEST_CASE("A row is in the file before the next one is measured", "[unit]") {
  const Scratch scratch;
  Table table(scratch.directory(), layout("pcie"), kSubject);
  CHECK(scratch.table("pcie").rows() == 0);
  table.measured({text("host_to_gpu"), whole(4096)}, {0.1, 0.1, 0.2, whole(15), 30.0});
  REQUIRE(scratch.table("pcie").rows() == 1);
  table.failed({text("gpu_to_host"), whole(4096)}, "no, \"not\" today");
  const base::CsvTable read = scratch.table("pcie");
  REQUIRE(read.rows() == 2);
  CHECK(read.cell(0, read.column("bandwidth_gb_per_s")) == "30");
  CHECK(read.cell(0, read.column("reason")).empty());
  CHECK(read.cell(1, read.column("latency_ms")).empty());
  CHECK(read.cell(1, read.column("reason")) == "no, \"not\" today");
}

TEST_CASE("Cells that are not the table's columns are refused", "[unit]") {
  const Scratch scratch;
  Table table(scratch.directory(), layout("pcie"), kSubject);
  CHECK_THROWS_AS(table.measured({text("host_to_gpu")}, {0.1, 0.1, 0.2, whole(15), 30.0}),
                  std::logic_error);
  CHECK_THROWS_AS(table.measured({text("host_to_gpu"), whole(4096)}, {0.1}), std::logic_error);
  CHECK_THROWS_AS(layout("pci"), std::logic_error);
}

TEST_CASE("A spread is the median between the tenth and ninetieth percentile", "[unit]") {
  const Spread spread = spread_of({3.0, 1.0, 2.0, 5.0, 4.0});
  CHECK(spread.median == 3.0);
  CHECK(spread.p10 == Approx(1.4));
  CHECK(spread.p90 == Approx(4.6));
  CHECK(spread.samples == 5);
  CHECK(std::isnan(spread_of({}).median));
}

TEST_CASE("A shape that fails keeps its row, and so do those behind a lost GPU or a deadline",
          "[unit]") {
  const Scratch scratch;
  Table table(scratch.directory(), layout("pcie"), kSubject);
  const Cells shape = {text("host_to_gpu"), whole(4096)};
  const auto good = [] { return Cells{0.1, 0.1, 0.2, std::int64_t{15}, 30.0}; };
  const auto bad = []() -> Cells { throw std::runtime_error("out of memory"); };
  std::string lost;
  SuiteRun run{scratch.directory(), kSubject, Deadline(1e6), [&] { return lost; }};
  run.row(table, shape, bad);
  run.row(table, shape, good);
  lost = "the context is gone";
  run.row(table, shape, bad);
  run.row(table, shape, good);
  SuiteRun late{scratch.directory(), kSubject, Deadline(0.0), [] { return std::string(); }};
  late.row(table, shape, good);

  const base::CsvTable read = scratch.table("pcie");
  const auto reason = [&](std::size_t row) {
    return std::string(read.cell(row, read.column("reason")));
  };
  REQUIRE(read.rows() == 5);
  CHECK(reason(0) == "out of memory");
  CHECK(reason(1).empty());
  CHECK(reason(2) == "out of memory");
  CHECK(reason(3) == "not tried: the context is gone");
  CHECK(reason(4) == "not tried: the suite's time was spent");
  CHECK((run.rows == 4 && run.failures == 3 && run.first_failure == "out of memory"));
}

}  // namespace roofcast::unit_calibrate_bench_rows
