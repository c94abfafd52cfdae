// SPDX-License-Identifier: Apache-2.0
//
// `calibrate import`, and fits to what it writes.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "base/sha256.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_calibrate_import {
namespace {

const char* const kCollector =
    "framework,version,device,op_name,kernel_source,gemm_dtype,m,n,k,latency\n"
    "VLLM,0.24.0,NVIDIA H200,gemm,cublas,bfloat16,16,4096,4096,0.0125\n"
    "VLLM,0.24.0,NVIDIA H200,gemm,cublas,bfloat16,32,4096,4096,0.0126\n"
    "VLLM,0.24.0,NVIDIA H200,gemm,cublas,nf4,32,4096,4096,0.0126\n"
    "VLLM,0.24.0,NVIDIA H2000,gemm,cublas,bfloat16,32,4096,4096,0.0126\n"
    "myserver,0.24.0,NVIDIA H200,gemm,cublas,bfloat16,32,4096,4096,0.0126\n"
    "VLLM,0.24.0,NVIDIA H200,gemm,cublas,bfloat16,32,4096,4096,\n"
    "VLLM,0.24.0,NVIDIA H200,gemm,cublas,bfloat16,64,4096,4096,inf\n";

const std::string kImport = "roofcast calibrate import ";

base::CsvTable table(const Program& roofcast, const std::string& name) {
  return base::read_csv(roofcast.path(name));
}

std::string refused(const Program& roofcast, const std::string& arguments) {
  const Outcome outcome = roofcast.shell(kImport + arguments);
  CHECK(outcome.code == 2);
  return outcome.err;
}

}  // namespace

TEST_CASE("A collector's table becomes our own, by catalog ids, without what means nothing",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("collector.txt", kCollector);
  const Outcome outcome =
      roofcast.shell(kImport + "collector.txt -o mine.csv --licence Apache-2.0 --source o/r@1");
  REQUIRE(outcome.code == 0);
  CHECK(contains(outcome.out, "collector.txt  aiconfigurator     7     2\n"));
  CHECK(contains(outcome.out, "no chip of the catalog is called \"NVIDIA H2000\""));
  CHECK(contains(outcome.out, "no stack of the catalog is called \"myserver\""));
  CHECK(contains(outcome.out, "number format nf4 is not modelled"));
  CHECK(contains(outcome.out, "no measured latency"));
  CHECK(contains(outcome.out, "mine.csv: 2 rows of gemm on h200_sxm, vllm 0.24.0\n"));
  const base::CsvTable mine = table(roofcast, "mine.csv");
  REQUIRE(mine.rows() == 2);
  CHECK(cell(mine, 0, "system") == "h200_sxm");
  CHECK(cell(mine, 0, "fw") == "vllm");
  CHECK(cell(mine, 0, "fw_version") == "0.24.0");
  CHECK(number(mine, 1, "latency_ms") == Approx(0.0126));
  CHECK(contains(roofcast.output({"calibrate", "validate", "gemm", "mine.csv"}),
                 "gemm: rows=2 skipped=0 "));
  const std::string manifest = roofcast.read("mine.yaml");
  CHECK(contains(manifest, base::sha256(roofcast.read("mine.csv"))));
  CHECK(contains(manifest, base::sha256(kCollector)));
  // As a table of the repository.
  const Outcome checked = roofcast.shell(
      "mkdir -p calibrate/measurements && mv mine.csv mine.yaml calibrate/measurements && echo o/r "
      "> NOTICE && python3 \"$ROOFCAST_SOURCE_DIR\"/tests/architecture/check_measurements.py .");
  INFO(checked.out << checked.err);
  CHECK((checked.code == 0 || checked.code == 77));
}

TEST_CASE("Columns of any CSV are mapped to ours, times in their unit, and several are joined",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("us.csv", "M,N,K,latency\n16,4096,4096,12.5\n");
  roofcast.write("s.csv", "rows,N,K,took\n16,4096,4096,12.5e-6\n");
  const std::string common =
      " --chip 'NVIDIA H100 80GB HBM3' --stack TensorRT-LLM --fill gemm_dtype=bfloat16 --map ";
  REQUIRE(
      roofcast.shell(kImport + "us.csv -o a.csv" + common + "m=M,n=N,k=K,time_us=latency").code ==
      0);
  REQUIRE(
      roofcast.shell(kImport + "s.csv -o b.csv.gz" + common + "m=rows,n=N,k=K,time_s=took").code ==
      0);
  REQUIRE(roofcast.shell(kImport + "a.csv b.csv.gz -o c.csv").code == 0);
  const base::CsvTable joined = table(roofcast, "c.csv");
  REQUIRE(joined.rows() == 2);
  for (std::size_t row = 0; row < 2; ++row) {
    CHECK(cell(joined, row, "system") == "h100_sxm");
    CHECK(cell(joined, row, "fw") == "trtllm");
    CHECK(number(joined, row, "latency_ms") == Approx(0.0125));
  }
  CHECK(contains(roofcast.read("c.yaml"), "licence: \"unknown\""));

  CHECK(contains(refused(roofcast, "us.csv -o d.csv" + common + "m=m,n=N,k=K,time_us=latency"),
                 "--map m=m: no column m; did you mean \"M\"?; it has M, N, K, latency"));
  CHECK(contains(refused(roofcast, "us.csv -o d.csv" + common + "m=M,n=N,time_us=latency"),
                 "us.csv: error: the columns do not tell the kind of operators"));
  CHECK(contains(
      refused(roofcast, "us.csv -o d.csv --kind gemm" + common + "m=M,n=N,time_us=latency"),
      "a table of gemm needs the column k; --map k=COLUMN or --fill k=VALUE gives it"));
  CHECK(contains(refused(roofcast, "us.csv -o d.csv" + common + "m"),
                 "--map m: expects COLUMN=COLUMN"));
  CHECK(contains(refused(roofcast, "us.csv -o d.csv --kind gemm --map m=M,n=N,k=K,time_us=latency"),
                 "needs the column system; --chip gives it"));
  CHECK(contains(refused(roofcast, "us.csv -o d.csv --fill head_dim=3" + common +
                                       "m=M,n=N,k=K,time_us=latency"),
                 "a table of gemm has no column head_dim"));
  CHECK(contains(refused(roofcast, "a.csv -o d.txt"), "a table is called NAME.csv"));
  CHECK(contains(refused(roofcast, "a.csv -o a.csv"), "a.csv"));
  roofcast.write("notes.yaml", "base: h200_sxm\n");
  CHECK(contains(refused(roofcast, "a.csv -o notes.csv"), "notes.yaml is there already"));
  CHECK(roofcast.read("notes.yaml") == "base: h200_sxm\n");
  roofcast.write("bad.csv", "M,N,K,latency\n16,4096,4096,\n");
  CHECK(contains(refused(roofcast, "bad.csv -o d.csv" + common + "m=M,n=N,k=K,time_us=latency"),
                 "no row can be used\n  1 rows: no measured latency"));
}

TEST_CASE("The content of a source tells its format, and --format forces one", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string nccl =
      "all_gather_perf -g 8\n"
      "# Rank  0 Group  0 Pid 7 on host device  0 [0x1b] NVIDIA H100 80GB HBM3\n"
      "# Rank  1 Group  0 Pid 7 on host device  1 [0x43] NVIDIA H100 80GB HBM3\n"
      "# size count type redop root time algbw busbw\n"
      "268435456 67108864 float none -1 1119.8 239.71 119.85 0\n";
  roofcast.write("nccl.txt", nccl);
  REQUIRE(roofcast.shell(kImport + "nccl.txt -o nccl.csv --version 2.27.3").code == 0);
  const base::CsvTable collectives = table(roofcast, "nccl.csv");
  REQUIRE(collectives.rows() == 1);
  CHECK(cell(collectives, 0, "op_name") == "all_gather");
  CHECK(cell(collectives, 0, "system") == "h100_sxm");
  CHECK(cell(collectives, 0, "num_gpus") == "2");
  CHECK(number(collectives, 0, "latency_ms") == Approx(1.1198));
  CHECK(contains(roofcast.output({"calibrate", "validate", "nccl", "nccl.csv"}), "nccl: rows=1 "));

  const std::string shape =
      " --chip h100_sxm --stack vllm --kind gemm --fill m=64,n=4096,k=1024,gemm_dtype=bfloat16 ";
  roofcast.write("sum.csv",
                 "Total Time (ns),Instances,Name\n125000,10,gemm\n5000,10,splitk\n9,3,fill\n");
  roofcast.write(
      "list.csv",
      "Start (ns),Duration (ns),CorrId,Device,Name\n0,13000,1,G,gemm\n20000,13000,2,G,gemm\n");
  roofcast.write("ncu.csv",
                 "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
                 "\"0\",\"gemm\",\"Duration\",\"us\",\"13.0\"\n");
  REQUIRE(
      roofcast.shell(kImport + "sum.csv -o sum1.csv --kernel gemm --kernel splitk" + shape).code ==
      0);
  REQUIRE(roofcast.shell(kImport + "list.csv -o list1.csv" + shape).code == 0);
  REQUIRE(roofcast.shell(kImport + "ncu.csv -o ncu1.csv" + shape).code == 0);
  for (const char* name : {"sum1.csv", "list1.csv", "ncu1.csv"}) {
    const base::CsvTable one = table(roofcast, name);
    REQUIRE(one.rows() == 1);
    CHECK(number(one, 0, "latency_ms") == Approx(0.013));
    CHECK(cell(one, 0, "k") == "1024");
  }
  CHECK(contains(roofcast.read("ncu1.yaml"), "at a fixed clock"));
  CHECK(contains(refused(roofcast, "sum.csv -o x.csv" + shape), "several kernels; --kernel says"));
  CHECK(contains(refused(roofcast, "sum.csv -o x.csv --kernel gemm --kernel fill" + shape),
                 "--runs says how often the operator ran: 10 × gemm, 3 × fill"));
  CHECK(roofcast.shell(kImport + "sum.csv -o x.csv --kernel gemm --kernel fill --runs 5" + shape)
            .code == 0);
  CHECK(number(table(roofcast, "x.csv"), 0, "latency_ms") == Approx(125009e-6 / 5));
  CHECK(contains(refused(roofcast, "sum.csv -o y.csv --format ncu" + shape), "is not of ncu"));
  CHECK(contains(refused(roofcast, "nccl.txt -o y.csv --format csv" + shape), "nccl.txt"));
  CHECK(contains(refused(roofcast, "sum1.csv nccl.csv -o y.csv"),
                 "rows of nccl; those of sum1.csv are of gemm"));
}

TEST_CASE("Attention, MLA and collectives of a collector are told apart by what it says", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string head = "framework,version,device,op_name,kernel_source,";
  const std::string row = "TRTLLM,1.3.0,NVIDIA H200,";
  const auto imported = [&](const std::string& text, const std::string& kind) {
    roofcast.write("in.txt", text);
    const Outcome outcome = roofcast.shell(kImport + "in.txt -o out.csv --force");
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(contains(outcome.out, "1 rows of " + kind + " on h200_sxm"));
    return table(roofcast, "out.csv");
  };
  const std::string attention =
      head +
      "batch_size,isl,num_heads,num_key_value_heads,head_dim,beam_width,attn_dtype,"
      "kv_cache_dtype,step,latency\n" +
      row;
  CHECK(cell(imported(attention + "context_attention,x,1,512,32,8,128,1,bfloat16,bfloat16,64,0.1\n",
                      "attention_context"),
             0, "prefix_len") == "64");
  CHECK(
      cell(imported(attention + "generation_attention,x,1,1,32,8,128,1,bfloat16,bfloat16,64,0.1\n",
                    "attention_generation"),
           0, "kv_len_minus_isl") == "64");
  const std::string mla =
      head + "mla_dtype,kv_cache_dtype,num_heads,batch_size,isl,tp_size,step,latency\n" + row;
  imported(mla + "mla_context,x,bfloat16,bfloat16,16,1,512,8,0,0.1\n", "mla_context");
  imported(mla + "mla_generation,x,bfloat16,bfloat16,16,1,1,8,512,0.1\n", "mla_generation");
  const base::CsvTable nccl = imported(
      "framework,version,device,op_name,kernel_source,nccl_dtype,num_gpus,message_size,"
      "latency\nNCCL,2.27.3,NVIDIA H200,all_gather,NCCL,half,8,1024,0.01\n",
      "nccl");
  CHECK(cell(nccl, 0, "message_bytes") == "2048");
  CHECK(cell(nccl, 0, "fw") == "nccl");
  const base::CsvTable custom = imported(head + "allreduce_dtype,num_gpus,message_size,latency\n" +
                                             row + "all_reduce,TRTLLM,bfloat16,8,1024,0.01\n",
                                         "custom_allreduce");
  CHECK(cell(custom, 0, "message_elements") == "1024");
}

TEST_CASE("Ten rows move what they tell, and the rest stays that of the nearest chip", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  std::string rows = "M,N,K,latency\n";
  for (int m = 1; m <= 512; m *= 2) {
    rows += fmt::format("{},4096,4096,{}\n", m, 18.0 + 0.05 * m);
  }
  roofcast.write("t.csv", rows);
  REQUIRE(roofcast
              .shell(kImport + "t.csv -o mine.csv --chip h200_sxm --stack vllm --fill "
                               "gemm_dtype=bfloat16 --map m=M,n=N,k=K,time_us=latency")
              .code == 0);
  const std::string out = roofcast.output(
      {"calibrate", "fit", "mine.csv", "--chip", "h200_sxm", "--stack", "vllm", "-o", "few.yaml"});
  CHECK(contains(
      out, "Fewer than 100 rows are few: parameters start from NVIDIA H200 SXM with vllm, fitted"));
  CHECK(contains(out, "not told by these rows"));
  CHECK(contains(out, "fitted on 10 rows, FNV-1a "));
  const std::string overlay = roofcast.read("few.yaml");
  CHECK(contains(overlay, "base: h200_sxm.vllm\n"));
  CHECK(contains(overlay, "provenance: measured-corrected\n"));
  CHECK(contains(overlay, "fitted_on: \"10 rows, FNV-1a "));
  CHECK(!contains(overlay, "corrections:"));
  CHECK(roofcast.run({"check", "few.yaml"}).code == 0);
  const auto median = [&](const std::vector<std::string>& with) {
    std::vector<std::string> arguments = {"calibrate", "validate", "gemm", "mine.csv"};
    arguments.insert(arguments.end(), with.begin(), with.end());
    const std::string printed = roofcast.output(arguments);
    return std::stod(printed.substr(printed.rfind("median=") + 7));
  };
  CHECK(median({"--calibration", "few.yaml"}) < 0.7 * median({}));

  // Of a chip that nobody measured: what is not told stays transferred.
  std::filesystem::create_directories(roofcast.path("own/chips"));
  roofcast.write("own/chips/h300.yaml",
                 "base: h200_sxm\nknown_as: [ACME H300]\nsource: a test\nhbm.bandwidth: 6 TB/s\n");
  roofcast.write(
      "own.csv",
      "system,fw,gemm_dtype,m,n,k,latency_ms\nACME H300,vllm,bfloat16,64,4096,4096,0.02\n");
  const Outcome own = roofcast.shell(
      "ROOFCAST_CATALOG=own roofcast calibrate fit own.csv --chip 'ACME H300' --stack vllm -o "
      "own.yaml");
  INFO(own.err);
  REQUIRE(own.code == 0);
  CHECK(contains(roofcast.read("own.yaml"), "provenance: transferred\n"));
  CHECK(contains(roofcast.read("own.yaml"), "base: h200_sxm.vllm\n"));
  CHECK(roofcast
            .shell("ROOFCAST_CATALOG=own roofcast calibrate validate gemm own.csv --calibration "
                   "own.yaml")
            .code == 0);
}

TEST_CASE("Own rows are fitted together with shipped ones, whatever their version", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  std::string shipped = "system,fw,fw_version,gemm_dtype,m,n,k,latency_ms\n";
  for (int m = 16; m <= 4096; m *= 2) {
    for (int n = 512; n <= 8192; n += 512) {
      shipped += fmt::format("h200_sxm,vllm,0.24.0,bfloat16,{},{},4096,{}\n", m, n,
                             0.005 + 2.0 * m * n * 4096 / 0.6e12);
    }
  }
  std::filesystem::create_directories(roofcast.path("data/ops"));
  roofcast.write("data/ops/gemm.csv", shipped);
  roofcast.write("mine.csv",
                 "system,fw,fw_version,gemm_dtype,m,n,k,latency_ms\n"
                 "h200_sxm,vllm,0.99.0,bfloat16,48,4096,4096,0.02\n");
  const std::string fit =
      "ROOFCAST_DATA=data roofcast calibrate fit --chip h200_sxm --stack vllm -o o.yaml --force ";
  REQUIRE(roofcast.shell(fit).code == 0);
  const std::string alone = roofcast.read("o.yaml");
  CHECK(contains(alone, "fitted_on: \"144 rows, FNV-1a "));
  const Outcome both = roofcast.shell(fit + "mine.csv --with-shipped");
  REQUIRE(both.code == 0);
  CHECK(contains(both.out, "fitted on 1 own and 144 shipped rows, FNV-1a "));
  const std::string merged = roofcast.read("o.yaml");
  CHECK(contains(merged, "\nversion: 0.24.0\n"));
  CHECK(!contains(merged, "older_versions"));

  // The hash is of the rows: in another order, and compressed, they are the same.
  const std::vector<std::string> lines = lines_of(shipped);
  std::string reversed = lines.front() + "\n";
  for (std::size_t i = lines.size() - 1; i > 0; --i) {
    reversed += lines[i].empty() ? "" : lines[i] + "\n";
  }
  roofcast.write("data/ops/gemm.csv", reversed);
  REQUIRE(roofcast.shell("gzip data/ops/gemm.csv; " + fit).code == 0);
  const auto hash = [](const std::string& text) { return text.substr(text.find("FNV-1a"), 24); };
  CHECK(hash(roofcast.read("o.yaml")) == hash(alone));
  CHECK(hash(merged) != hash(alone));

  CHECK(contains(roofcast.shell(fit + "--fix gemm.wave_tial").err,
                 "no parameter gemm.wave_tial; did you mean \"gemm.wave_tail\"?"));
  REQUIRE(roofcast.shell(fit + "--fix launch.kernel").code == 0);
  CHECK(!contains(roofcast.read("o.yaml"), "launch.kernel:"));
}

TEST_CASE("The page of the parameters is that of the calibrations", "[cli]") {
  const Program roofcast;
  const char* root = std::getenv("ROOFCAST_SOURCE_DIR");
  if (!roofcast.exists() || root == nullptr) {
    return;
  }
  const std::string out =
      roofcast.output({"calibrate", "parameters", "-o", "parameters.md", "--csv", "p.csv"});
  CHECK(contains(out, "lost share of a partial wave"));
  CHECK(roofcast.read("parameters.md") ==
        base::read_text(std::filesystem::path(root) / "docs/parameters.md"));
  const base::CsvTable csv = table(roofcast, "p.csv");
  REQUIRE(csv.rows() > 100);
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    CHECK(number(csv, row, "uncertainty_percent") > 0.0);
  }
}

}  // namespace roofcast::cli::cli_calibrate_import
