// SPDX-License-Identifier: Apache-2.0
//
// Files of others in a folder of parts, and beside a result.
#include <filesystem>
#include <string>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_sweep_foreign_files {
namespace {

// 288 points, two parts.
void write_sweep(const Program& roofcast) {
  roofcast.write("s.yaml", kSweepBase +
                               "axes:\n"
                               "  traffic.input_tokens: {from: 256, to: 9216, step: 256}\n"
                               "  traffic.concurrency: [1, 2, 4, 8, 16, 32, 64, 128]\n"
                               "where: [fits]\n");
}

// Of r.csv.parts. What hangs is ended, with 124.
constexpr const char* kReaders[] = {"sweep s.yaml --csv r.csv --shard 1/1 --quiet",
                                    "merge r.csv.parts --csv m.csv --no-replay --quiet --force",
                                    "pareto r.csv.parts --maximize throughput_tok_per_s",
                                    "report r.csv.parts -o m.html --force",
                                    "sweep s.yaml --csv r.csv --resume --no-replay --quiet"};
Outcome read_parts(const Program& roofcast, const std::string& reader) {
  return roofcast.shell("timeout -s KILL 20 roofcast " + reader);
}

}  // namespace

TEST_CASE("Files in a folder of parts that are not of the sweep are named, and nobody removes them",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  roofcast.output({"sweep", "s.yaml", "--csv", "r.csv", "--shard", "1/1", "--quiet"});
  roofcast.shell(
      "cd r.csv.parts; echo mine | tee 00002.csv mine.part 00000.csv.part; mkfifo pipe; "
      "mkdir folder; ln -s nowhere link; echo half > 00001.csv.0123456789abcdef.part; "
      "mv 00000.csv ..; ln -s ../00000.csv 00000.csv");
  for (const char* reader : kReaders) {
    INFO(reader);
    const Outcome outcome = read_parts(roofcast, reader);
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.err,
                   "note: not of this sweep, and left alone in r.csv.parts: 00000.csv.part, "
                   "00002.csv, folder, link, mine.part, 1 more\n"));
  }
  // The sweep has removed its own parts.
  CHECK(roofcast.shell("ls r.csv.parts").out ==
        "00000.csv\n00000.csv.part\n00002.csv\nfolder\nlink\nmine.part\npipe\n");
  CHECK(roofcast.read("m.csv") == roofcast.read("r.csv"));
}

TEST_CASE("A file of the sweep that is a pipe, a device or a folder is refused by all that read it",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  roofcast.output({"sweep", "s.yaml", "--csv", "r.csv", "--shard", "1/1", "--quiet"});
  for (const char* file : {"00001.check", "sweep.yaml", "identity.json"}) {
    for (const char* make : {"mkfifo", "mkdir", "ln -s /dev/zero"}) {
      const std::string name = std::string("r.csv.parts/") + file;
      roofcast.shell("mv " + name + " kept; " + make + " " + name);
      for (const char* reader : kReaders) {
        if (std::string(reader).find("--shard") != std::string::npos && contains(file, "check")) {
          continue;  // it reads no part
        }
        INFO(make << " " << name << ": " << reader);
        const Outcome refused = read_parts(roofcast, reader);
        CHECK(refused.code == 2);
        CHECK(contains(refused.err, "r.csv.parts"));
        CHECK_FALSE(contains(refused.err, "the system refuses"));
      }
      roofcast.shell("rm -r " + name + "; mv kept " + name);
    }
  }
  // Where it would be written, too.
  for (const char* file : {"00001.check", "00001.csv"}) {
    INFO(file);
    roofcast.shell("cp -r r.csv.parts kept; cd r.csv.parts; rm 00001.*; mkfifo " +
                   std::string(file));
    const Outcome refused = read_parts(roofcast, kReaders[0]);
    CHECK(refused.code == 2);
    CHECK(contains(refused.err, file + std::string(" is no regular file: remove it")));
    roofcast.shell("rm -r r.csv.parts; mv kept r.csv.parts");
  }
  for (const char* reader : kReaders) {
    CHECK(read_parts(roofcast, reader).code == 0);
  }
}

TEST_CASE("A pipe under a name that a result would write or read is refused and not waited for",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  const auto run = [&](const std::string& command) {
    return roofcast.shell("timeout -s KILL 20 roofcast " + command);
  };
  for (const char* name : {"q.csv.roofcast.part", "q.provenance.json", "q.sweep.yaml"}) {
    INFO(name);
    roofcast.shell(std::string("mkfifo ") + name);
    const Outcome refused = run("sweep s.yaml --csv q.csv --quiet --no-replay");
    CHECK(refused.code == 2);
    CHECK(contains(refused.err, std::string(name)));
    CHECK(contains(refused.err, "no regular file"));
    CHECK(roofcast.shell(std::string("test -p ") + name + "; rm -f q.*").code == 0);
  }
  CHECK(run("sweep s.yaml --csv q.csv --quiet --no-replay").code == 0);
  roofcast.shell("rm q.provenance.json q.sweep.yaml; mkfifo q.provenance.json q.sweep.yaml");
  CHECK(run("report q.csv -o q.html").code == 0);
  CHECK(run("compare q.csv q.csv").code == 0);
  CHECK(run("reproduce q.csv").code == 2);
}

}  // namespace roofcast::cli::cli_sweep_foreign_files
