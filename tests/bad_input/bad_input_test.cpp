// SPDX-License-Identifier: Apache-2.0
//
// Documents with one defect each, named by it, and beside each the whole text its user sees.
//
// The folder says as what a document is read. ROOFCAST_REGENERATE=1 rewrites the .expected files;
// the diff is the review.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "base/document/fields.hpp"
#include "base/document/node.hpp"
#include "base/document/problems.hpp"
#include "hardware/chip.hpp"
#include "sim/decide/solve.hpp"
#include "sim/decide/sweep.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/roadmap/roadmap.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "workloads/architecture/architecture.hpp"
#include "workloads/serving/speculation.hpp"

namespace roofcast::bad_input_bad_input {

namespace {

namespace fs = std::filesystem;

fs::path fixtures() {
  const char* root = std::getenv("ROOFCAST_SOURCE_DIR");
  return root != nullptr ? fs::path(root) / "tests" / "bad_input"
                         : fs::absolute(__FILE__).parent_path();
}

// Messages name files relative to the working directory, so they do not depend on the machine.
class WorkingDirectory {
 public:
  explicit WorkingDirectory(const fs::path& path) : before_(fs::current_path()) {
    fs::current_path(path);
  }
  ~WorkingDirectory() { fs::current_path(before_); }
  WorkingDirectory(const WorkingDirectory&) = delete;
  WorkingDirectory& operator=(const WorkingDirectory&) = delete;

 private:
  fs::path before_;
};

template <class T>
void read_as(const base::Node& document) {
  base::Problems problems;
  base::Fields fields(document, "", problems);
  T value;
  read(fields, value);
  fields.end();
  problems.throw_if_any();
}

// A system names its chip and calibration by reference, which only a scenario resolves.
void read_as_system(const base::Node& document) {
  base::Problems problems;
  base::Node scenario;
  scenario["system"] = document;
  sim::load_references(scenario, problems);
  problems.throw_if_any();
  sim::read_platform(scenario, problems);
  problems.throw_if_any();
}

// A published configuration is translated where a scenario refers to it.
void read_as_config(const base::Node& document) {
  base::Problems problems;
  base::Node scenario;
  scenario["model"] = document;
  sim::load_references(scenario, problems);
  problems.throw_if_any();
  sim::read_model(scenario, problems);
  problems.throw_if_any();
}

// What is asked of a scenario, as typed after --vary and --until of solve and sensitivity.
void read_as_question(const base::Node& document) {
  base::Problems problems;
  base::Node scenario = *document.find("scenario");
  sim::load_references(scenario, problems);
  for (const base::Node& text : document.find("vary")->items) {
    sim::parse_knob_range({"--vary", text.text, {}}, scenario, problems);
  }
  for (const base::Node& text : document.find("until")->items) {
    const auto source =
        std::make_shared<const base::Source>(base::Source{"--until", text.text, {}});
    sim::parse_condition(text.text, {source, {}}, problems, "");
  }
  problems.throw_if_any();
}

using Reader = void (*)(const base::Node&);

const std::map<std::string, Reader>& readers() {
  static const std::map<std::string, Reader> table = {
      {"document", read_as<hardware::Chip>},
      {"chip", read_as<hardware::Chip>},
      {"model", read_as<workloads::Architecture>},
      {"config", read_as_config},
      {"acceptance", read_as<workloads::MeasuredAcceptance>},
      {"system", read_as_system},
      {"question", read_as_question},
      {"scenario", [](const base::Node& document) { sim::read_scenario(document); }},
      {"sweep", [](const base::Node& document) { sim::SweepPoints(sim::read_sweep(document)); }},
      {"roadmap", [](const base::Node& document) { sim::check(sim::read_roadmap(document)); }},
  };
  return table;
}

// What the user reads, or nothing when the document is taken.
std::string message_about(const fs::path& file, Reader read) {
  try {
    read(base::load_document(file));
    return "";
  } catch (const base::InputError& error) {
    return error.what();
  }
}

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<fs::path> documents_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".expected") {
      files.push_back(entry.path().filename());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

TEST_CASE("every defect is told in the words beside its document", "[bad_input]") {
  const bool regenerate = std::getenv("ROOFCAST_REGENERATE") != nullptr;
  for (const auto& [kind, reader] : readers()) {
    const WorkingDirectory in(fixtures() / kind);
    const auto files = documents_in(".");
    CHECK_FALSE(files.empty());
    for (const fs::path& file : files) {
      const std::string message = message_about(file, reader);
      const fs::path expected = fs::path(file).replace_extension(".expected");
      INFO(kind << "/" << file.string());
      CHECK(message != "");
      if (regenerate) {
        std::ofstream(expected, std::ios::binary) << message;
      }
      CHECK(message == text_of(expected));
    }
  }
}

TEST_CASE("every text of a defect has its document", "[bad_input]") {
  for (const auto& entry : fs::recursive_directory_iterator(fixtures())) {
    if (entry.path().extension() == ".expected") {
      INFO(entry.path().string());
      CHECK((fs::exists(fs::path(entry.path()).replace_extension(".yaml")) ||
             fs::exists(fs::path(entry.path()).replace_extension(".json"))));
    }
  }
}

}  // namespace roofcast::bad_input_bad_input
