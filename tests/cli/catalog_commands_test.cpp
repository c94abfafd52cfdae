// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/csv/csv.hpp"
#include "cli/catalog/catalogs.hpp"
#include "hardware/calibration.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "workloads/architecture/architecture.hpp"

namespace roofcast::cli::cli_catalog_commands {

TEST_CASE("list names every entry of every catalog", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string everything = roofcast.output({"list"});
  for (const DocumentKind& kind : document_kinds()) {
    const base::Catalog catalog = kind.catalog();
    const std::string listed = roofcast.output({"list", std::string(catalog.kind)});
    CHECK(roofcast.output({"list", std::string(kind.name)}) == listed);
    CHECK(contains(everything, listed));
    const auto ids = base::catalog_ids(catalog);
    const auto fitted = base::catalog_ids(hardware::calibration_catalog());
    const auto versions = static_cast<std::size_t>(
        std::count_if(fitted.begin(), fitted.end(),
                      [](const std::string& id) { return id.find('.') != std::string::npos; }));
    const std::size_t notes = kind.name == "model"   ? 3
                              : kind.name == "stack" ? 2 + versions  // a row for each
                                                     : 0;
    CHECK(lines_of(listed).size() == ids.size() + 1 + notes);
    for (const std::string& id : ids) {
      CHECK(contains(listed, id + " "));
    }
  }
}

TEST_CASE("list precisions names every part that differs from the rest", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string listed = roofcast.output({"list", "precisions"});
  CHECK(contains(listed,
                 "KV cache fp8, recurrent fp8 x fp8, experts nvfp4 x nvfp4, shared fp8 x "
                 "fp8, state fp16\n"));
  CHECK(contains(listed, "shared nvfp4 x bf16, head nvfp4 x bf16\n"));
}

TEST_CASE("list models --csv has a row of plain numbers for every model", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const auto table = base::parse_csv(roofcast.output({"list", "models", "--csv"}), "models");
  CHECK(table.rows() == base::catalog_ids(workloads::model_catalog()).size());
  const auto outcome = roofcast.run({"list", "chips", "--csv"});
  CHECK(outcome.code == 2);
  CHECK(contains(outcome.err, "--csv lists models only"));
}

TEST_CASE("show calibration takes a chip and tells what each stack takes", "[cli]") {
  const std::string own = Program().output({"show", "calibration", "h200_sxm"});
  CHECK(own.find("#   trtllm: h200_sxm.trtllm\n") != std::string::npos);
  CHECK(own.find("name: NVIDIA H200 SXM with vllm, fitted") != std::string::npos);
  const std::string other = Program().output({"show", "calibration", "v100_sxm_32gb"});
  CHECK(other.find(", transferred\n") != std::string::npos);
}

TEST_CASE("show calibration says what every parameter means", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string text = roofcast.output({"show", "calibration", "h200_sxm"});
  std::size_t parameters = 0;
  std::size_t meaning = 0;
  for (const std::string& line : lines_of(text.substr(text.find("\n# parameter ") + 1))) {
    meaning = parameters == 0 && meaning == 0 ? line.find("meaning") : meaning;
    if (line.starts_with("# ") && !line.starts_with("# parameter")) {
      INFO(line);
      CHECK(line.size() > meaning);
      CHECK(line[meaning] != ' ');
      ++parameters;
    }
  }
  CHECK(parameters > 70);
}

TEST_CASE("show prints every entry of the catalog as a document that check accepts",
          "[cli][long]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  for (const DocumentKind& kind : document_kinds()) {
    for (const std::string& id : base::catalog_ids(kind.catalog())) {
      INFO(kind.name << " " << id);
      const std::string text = roofcast.output({"show", std::string(kind.name), id});
      CHECK(text.ends_with('\n'));
      roofcast.write(id + ".yaml", text);
    }
    for (const std::string& id : base::catalog_ids(kind.catalog())) {
      // No key tells the kind of an architecture of which only the name is known.
      const bool tells = lines_of(roofcast.output({"show", std::string(kind.name), id})).size() > 2;
      std::vector<std::string> command{"check", id + ".yaml"};
      if (!tells) {
        command.insert(command.end(), {"--kind", std::string(kind.name)});
      }
      const Outcome outcome = roofcast.run(command);
      INFO(kind.name << " " << id << ": " << outcome.err);
      CHECK(outcome.code == 0);
      CHECK(outcome.out.starts_with(id + ".yaml: ok, "));
    }
  }
}

TEST_CASE("An unknown kind or id is bad input and names the nearest one", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const Outcome kind = roofcast.run({"list", "chps"});
  CHECK(kind.code == 2);
  CHECK(kind.out.empty());
  CHECK(contains(kind.err, "there is no kind \"chps\""));
  CHECK(contains(kind.err, "did you mean \"chips\"?"));
  const Outcome id = roofcast.run({"show", "chip", "h100_smx"});
  CHECK(id.code == 2);
  CHECK(id.out.empty());
  CHECK(contains(id.err, "did you mean \"h100_sxm\"?"));
  CHECK(contains(id.err, "roofcast list chips"));
}

TEST_CASE("check reports on every file, good and bad, and fails when one is bad", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("good.yaml", roofcast.output({"show", "example", "llama-70b"}));
  roofcast.write("bad.yaml",
                 "system: hgx_h1000\nmodel: llama-3.1-70b\nprecision: fp8\n"
                 "deployment: {tensor_paralel: 8}\nserving: {stack: vllm}\n"
                 "traffic: {input_tokens: 2048, output_tokens: 512, concurrency: 64}\n");
  roofcast.write("other.yaml", "name: nobody\n");
  const Outcome outcome =
      roofcast.run({"check", "bad.yaml", "good.yaml", "other.yaml", "missing.yaml"});
  CHECK(outcome.code == 2);
  CHECK(outcome.out.starts_with("good.yaml: ok, scenario: Llama-3.1-70B on "));
  CHECK(lines_of(outcome.out).size() == 1);
  CHECK(contains(outcome.err, "bad.yaml:1:"));
  CHECK(contains(outcome.err, "hgx_h100"));
  CHECK(contains(outcome.err, "bad.yaml:4:"));
  CHECK(contains(outcome.err, "did you mean \"tensor_parallel\"?"));
  CHECK(contains(outcome.err, "other.yaml"));
  CHECK(contains(outcome.err, "--kind"));
  CHECK(contains(outcome.err, "missing.yaml"));
  CHECK(outcome.err.ends_with('\n'));
  CHECK(roofcast.run({"check", "good.yaml"}).code == 0);
  CHECK(roofcast.run({"check", "good.yaml", "--kind", "example"}).code == 0);
  CHECK(roofcast.run({"check", "good.yaml", "--kind", "chip"}).code == 2);
}

TEST_CASE("The list of examples has the whole question of each", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  CHECK(contains(roofcast.output({"list", "examples"}),
                 "would the exchanges with experts cost that it hides?"));
}

}  // namespace roofcast::cli::cli_catalog_commands
