// SPDX-License-Identifier: Apache-2.0
#include "base/csv/csv.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_sweep_sweep_parts {
namespace {

// 960 points, four parts; with steps of 16 tokens 14,160.
void write_sweep(const Program& roofcast, const std::string& where = "[fits, 'ttft_p50_s <= 0.2']",
                 const std::string& step = "256") {
  roofcast.write("s.yaml", kSweepBase +
                               "axes:\n"
                               "  system: [hgx_h100, hgx_h200]\n"
                               "  traffic.input_tokens: {from: 256, to: 3072, step: " +
                               step +
                               "}\n"
                               "  traffic.output_tokens: {from: 64, to: 320, step: 64}\n"
                               "  traffic.concurrency: [1, 2, 4, 8, 16, 32, 64, 128]\n"
                               "where: " +
                               where + "\n");
}

// Without what made it.
std::string page_alone(const std::string& html) {
  const std::size_t from = html.find("id=\"made_by\"");
  return html.substr(0, from) + html.substr(html.find("</script>", from));
}

std::string without_last_column(const std::string& csv) {
  std::string text;
  for (const std::string& line : lines_of(csv)) {
    text += line.substr(0, line.rfind(',')) + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("Shards joined in any number and order are byte for byte the sweep without shards",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  roofcast.output({"sweep", "s.yaml", "--csv", "whole.csv", "--quiet"});
  for (const std::string of : {"1", "3", "8"}) {
    const std::string csv = "of" + of + ".csv";
    for (int i = std::stoi(of); i >= 1; --i) {
      roofcast.output(
          {"sweep", "s.yaml", "--csv", csv, "--shard", std::to_string(i) + "/" + of, "--quiet"});
    }
    roofcast.output({"merge", csv + ".parts", "--csv", csv, "--quiet"});
    INFO(of);
    CHECK(roofcast.read(csv) == roofcast.read("whole.csv"));
  }
}

TEST_CASE("Shards of two folders join; a part that lacks or is cut is named", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  roofcast.output({"sweep", "s.yaml", "--csv", "whole.csv", "--quiet", "--no-replay"});
  roofcast.output({"sweep", "s.yaml", "--csv", "a.csv", "--shard", "1/2", "--quiet"});
  const Outcome lacks = roofcast.run({"merge", "a.csv.parts", "--csv", "m.csv", "--no-replay"});
  CHECK(lacks.code == 2);
  CHECK(contains(lacks.err, "part 1 of 4 is not there"));
  roofcast.output({"sweep", "s.yaml", "--csv", "b.csv", "--shard", "2/2", "--quiet"});
  roofcast.output({"merge", "a.csv.parts", "b.csv.parts", "--csv", "m.csv", "--no-replay"});
  CHECK(roofcast.read("m.csv") == roofcast.read("whole.csv"));

  const std::string part = roofcast.read("a.csv.parts/00003.csv");
  for (const std::string& bad :
       {std::string("word"), part.substr(0, part.rfind('\n', part.size() - 2) + 1)}) {
    roofcast.write("a.csv.parts/00003.csv", bad);
    const Outcome cut =
        roofcast.run({"merge", "a.csv.parts", "b.csv.parts", "--csv", "n.csv", "--no-replay"});
    CHECK(cut.code == 2);
    CHECK(contains(cut.err, "00003.csv"));
  }
}

TEST_CASE("A bound of memory changes no byte, and is refused where it cannot be kept", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  roofcast.output({"sweep", "s.yaml", "--csv", "whole.csv", "--quiet"});
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"sweep", "s.yaml", "--csv", "bounded.csv", "--memory"});
    return roofcast.run(more);
  };
  const Outcome small = with({"64.01 MB", "--threads", "2", "--no-replay"});
  CHECK(small.code == 2);
  CHECK(contains(small.err, "points take up to 64 MB, also in parts\n"));
  CHECK(contains(with({"64.2 MB", "--report", "b.html", "--threads", "2", "--no-replay"}).err,
                 "points and a page take up to 136 MB, also in parts"));
  CHECK(contains(with({"64.2 MB", "--simulate"}).err, "with --simulate, which needs every row"));
  CHECK(contains(with({"12 GB/s"}).err, "--memory 12 GB/s"));
  // 62 threads more, and a replay of each thread has up to 50,000 requests.
  CHECK(contains(with({"200 MB", "--threads", "64", "--no-replay"}).err, "205 MB of them for 64"));
  CHECK(contains(with({"81 MB", "--threads", "1"}).err,
                 "18 MB of them for 1 thread and what they replay"));
  CHECK(with({"81.7 MB", "--threads", "1", "--quiet"}).code == 0);
  CHECK(roofcast.read("bounded.csv") == roofcast.read("whole.csv"));
  CHECK_FALSE(std::filesystem::exists(roofcast.path("bounded.csv.parts")));
  // Each of 100,000 sections `traffic` is kept.
  roofcast.write("t.yaml", kSweepBase +
                               "axes:\n"
                               "  traffic.concurrency: {from: 1, to: 400, step: 1}\n"
                               "  traffic.input_tokens: {from: 10, to: 2500, step: 10}\n");
  CHECK(contains(roofcast
                     .run({"sweep", "t.yaml", "--csv", "t.csv", "--memory", "70 MB", "--threads",
                           "2", "--no-replay"})
                     .err,
                 "100000 points take up to 76 MB, also in parts"));
}

TEST_CASE("A sweep in parts answers as one in memory, also where no row meets its conditions",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  for (const std::string where :
       {"[fits, 'ttft_p50_s <= 1e-6', 'tpot_p95_s <= 0.004']", "['tpot_p95_s <= 0.03']",
        "['ttft_p50_s <= 0.5', 'step_s <= 1']"}) {
    INFO(where);
    write_sweep(roofcast, where);
    const Outcome whole =
        roofcast.run({"sweep", "s.yaml", "--csv", "w.csv", "--made-by", "--force"});
    const std::string rows = whole.code == 0 ? roofcast.read("w.csv") : "";
    const Outcome parts = roofcast.run({"sweep", "s.yaml", "--csv", "w.csv", "--made-by", "--force",
                                        "--memory", "81.7 MB", "--threads", "1"});
    CHECK(parts.code == whole.code);
    CHECK(parts.out == whole.out);
    CHECK((whole.code == 0) == !contains(where, "step_s"));
    if (whole.code == 0) {
      CHECK(without_last_column(roofcast.read("w.csv")) == without_last_column(rows));
      CHECK(contains(roofcast.read("w.csv"), "made_by"));
    } else {
      CHECK(contains(parts.err, "where: "));
    }
    roofcast.shell("rm -rf w.csv.parts");
  }
}

TEST_CASE("The page of a sweep in parts is that of one in memory, which has some of its rows",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  for (const std::string where :
       {"[fits, 'ttft_p50_s <= 1e-6', 'tpot_p95_s <= 0.004']", "[fits, 'ttft_p50_s <= 0.2']"}) {
    INFO(where);
    write_sweep(roofcast, where, "16");
    const std::vector<std::string> sweep = {"sweep",    "s.yaml", "--csv",   "w.csv",
                                            "--report", "w.html", "--force", "--quiet"};
    roofcast.output(sweep);
    const std::string whole = page_alone(roofcast.read("w.html"));
    CHECK(contains(whole, "\"total_rows\":14160"));
    CHECK_FALSE(contains(whole, "\"shown_rows\":14160"));
    std::vector<std::string> in_parts = sweep;
    in_parts.insert(in_parts.end(), {"--memory", "155 MB", "--threads", "1"});
    roofcast.output(in_parts);
    CHECK((page_alone(roofcast.read("w.html")) == whole));
  }
}

TEST_CASE("The front of a folder of all parts is that of their CSV", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  roofcast.output({"sweep", "s.yaml", "--csv", "p.csv", "--shard", "2/2", "--quiet"});
  const std::vector<std::string> goal = {"--minimize", "tpot_mean_s", "cost_usd_per_mtok",
                                         "--where",    "fits",        "--by",
                                         "system",     "--csv"};
  const auto front_of = [&](const std::string& results, const std::string& csv) {
    std::vector<std::string> words = {"pareto", results};
    words.insert(words.end(), goal.begin(), goal.end());
    words.push_back(csv);
    return roofcast.run(words);
  };
  CHECK(contains(front_of("p.csv.parts", "lacks.csv").err, "part 0 of 4 is not there"));
  roofcast.output({"sweep", "s.yaml", "--csv", "p.csv", "--shard", "1/2", "--quiet"});
  roofcast.output({"merge", "p.csv.parts", "--csv", "p.csv", "--no-replay", "--quiet"});
  const Outcome parts = front_of("p.csv.parts", "a.csv");
  const Outcome whole = front_of("p.csv", "b.csv");
  CHECK(contains(whole.out, " of 960 rows on the front"));
  CHECK(lines_of(parts.out).front() == lines_of(whole.out).front());
  const base::CsvTable a = base::read_csv(roofcast.path("a.csv"));
  const base::CsvTable b = base::read_csv(roofcast.path("b.csv"));
  REQUIRE(a.rows() == b.rows());
  CHECK(a.rows() > 2);
  for (std::size_t row = 0; row < a.rows(); ++row) {
    CHECK(a.cell(row, a.column("point")) == b.cell(row, b.column("point")));
  }
}

TEST_CASE("A folder of all parts has the report of the sweep that is not replayed", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  roofcast.output({"sweep", "s.yaml", "--csv", "p.csv", "--shard", "2/2", "--quiet"});
  const Outcome half = roofcast.run({"report", "p.csv.parts", "-o", "parts.html"});
  CHECK(half.code == 2);
  CHECK(contains(half.err, "part 0 of 4 is not there"));
  roofcast.output({"sweep", "s.yaml", "--csv", "p.csv", "--shard", "1/2", "--quiet"});
  const auto answer = roofcast.output({"report", "p.csv.parts", "-o", "parts.html", "--json"});
  CHECK(contains(answer, "\"rows\": 960"));
  CHECK(contains(roofcast.read("parts.html"), "id=\"made_by\""));
}

TEST_CASE("A sweep that is killed goes on where it was, to the same bytes", "[cli][long]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  const std::vector<std::string> resumed = {"sweep",    "s.yaml",     "--csv",   "r.csv",
                                            "--resume", "--simulate", "--quiet", "--force"};
  roofcast.output({"sweep", "s.yaml", "--csv", "whole.csv", "--simulate", "--quiet"});
  roofcast.shell("timeout -s KILL 1 roofcast sweep s.yaml --csv r.csv --resume --simulate --quiet");
  // The signal may come while a part is being written.
  roofcast.shell("mkdir -p r.csv.parts && echo row > r.csv.parts/00000.csv.0123456789abcdef.part");
  roofcast.output(resumed);
  CHECK(roofcast.read("r.csv") == roofcast.read("whole.csv"));
  CHECK_FALSE(std::filesystem::exists(roofcast.path("r.csv.parts")));
}

TEST_CASE("A sweep that is told to stop keeps its parts, says so, and the same command goes on",
          "[cli][long]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  const std::string resumed =
      "roofcast sweep s.yaml --csv r.csv --resume --simulate --quiet --force";
  roofcast.output({"sweep", "s.yaml", "--csv", "whole.csv", "--simulate", "--quiet"});
  const Outcome stopped = roofcast.shell(
      resumed +
      " & until ls r.csv.parts/0*.csv || ! kill -0 $!; do sleep 0.01; done > /dev/null 2>&1;"
      " kill -TERM $!; wait $!");
  if (stopped.code != 0) {  // else it was done before
    CHECK(stopped.code == 128 + 15);
    CHECK(contains(stopped.err, "of 960 points are in r.csv.parts; the same command goes on"));
    CHECK(roofcast.shell("ls -d r.csv*").out == "r.csv.parts\n");
  }
  CHECK(roofcast.shell(resumed).code == 0);
  CHECK(roofcast.read("r.csv") == roofcast.read("whole.csv"));
}

TEST_CASE("Parts of another sweep, or of another catalog, are refused with the difference",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  roofcast.output({"sweep", "s.yaml", "--csv", "a.csv", "--shard", "1/2", "--quiet"});
  std::filesystem::create_directories(roofcast.path("own/systems"));
  std::string system = roofcast.output({"show", "system", "hgx_h100"});
  roofcast.write("own/systems/hgx_h100.yaml", system + "# mine\n");
  const Outcome other = roofcast.shell(
      "ROOFCAST_CATALOG=$PWD/own roofcast sweep s.yaml --csv a.csv --shard 2/2 --quiet");
  CHECK(other.code == 2);
  CHECK(contains(other.err, "systems/hgx_h100 differs"));
  CHECK(contains(other.err, "in place of the built-in entry"));
  roofcast.shell("sed -i 's/<= 0.2/<= 0.3/' s.yaml");
  const Outcome changed = roofcast.run({"sweep", "s.yaml", "--csv", "a.csv", "--shard", "2/2"});
  CHECK(changed.code == 2);
  CHECK(contains(changed.err, "s.yaml has changed since they were made"));
  const Outcome columns = roofcast.run(
      {"sweep", "s.yaml", "--csv", "a.csv", "--shard", "2/2", "--as-if-unmeasured", "chip"});
  CHECK(columns.code == 2);
  for (const char* shard : {"0/2", "3/2", "1", "a/b", "1/2/3", "slurm"}) {
    CHECK(roofcast.run({"sweep", "s.yaml", "--csv", "b.csv", "--shard", shard}).code == 2);
  }
}

TEST_CASE("A result says what made it, and is made again from that", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  roofcast.output({"sweep", "s.yaml", "--csv=a.csv", "--quiet"});
  const std::string made = roofcast.read("a.provenance.json");
  for (const char* part : {"\"version\"", "systems/hgx_h200", "built-in", "s.yaml", "a.csv"}) {
    CHECK(contains(made, part));
  }
  CHECK(contains(roofcast.output({"reproduce", "a.csv"}), "a.csv: the same bytes"));

  // One shadowed figure tells two results apart.
  std::filesystem::create_directories(roofcast.path("own/chips"));
  roofcast.write("own/chips/h200_sxm.yaml", roofcast.output({"show", "chip", "h200_sxm"}));
  roofcast.shell("sed -i 's/4.8 TB/20 TB/' own/chips/h200_sxm.yaml");
  roofcast.shell("ROOFCAST_CATALOG=$PWD/own roofcast sweep s.yaml --csv b.csv --quiet");
  CHECK(contains(roofcast.output({"compare", "a.csv", "b.csv"}),
                 "made with different figures: chips/h200_sxm"));
  CHECK(contains(roofcast.read("b.provenance.json"), "\"hides_built_in\": true"));
  roofcast.write("word.provenance.json", "word");
  CHECK(roofcast.run({"reproduce", "word.csv"}).code == 2);
  CHECK(roofcast.run({"reproduce", "nothing.csv"}).code == 2);
}

}  // namespace roofcast::cli::cli_sweep_sweep_parts
