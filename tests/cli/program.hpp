// SPDX-License-Identifier: Apache-2.0
//
// The built program as a user runs it: arguments in, files beside, stdout, stderr and exit code
// out.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/csv/csv.hpp"

namespace roofcast::cli {

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

// An empty directory of its own, which goes when it goes.
class Program {
 public:
  Program();
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // False where no program was built; a test that needs one then has nothing to say.
  bool exists() const { return !binary_.empty(); }

  // Runs in the directory, stdout and stderr into files.
  Outcome run(const std::vector<std::string>& arguments) const;
  // A line of bash in the directory, with the program on the path.
  Outcome shell(const std::string& line) const;
  // run(), and requires that it worked.
  std::string output(const std::vector<std::string>& arguments) const;

  std::filesystem::path path(const std::string& name) const { return directory_ / name; }
  std::string read(const std::string& name) const;
  void write(const std::string& name, const std::string& text) const;

 private:
  Outcome execute(const std::string& command) const;

  std::filesystem::path binary_;
  std::filesystem::path directory_;
};

// A scenario for sweeps of many points, which are quick.
inline const std::string kSweepBase =
    "base:\n"
    "  system: hgx_h100\n"
    "  model: llama-3.1-8b\n"
    "  precision: fp8\n"
    "  deployment: {}\n"
    "  serving: {stack: vllm}\n"
    "  traffic: {input_tokens: 512, output_tokens: 128, concurrency: 8}\n";

// examples/<name>.yaml of the sources.
std::string example(const std::string& name);
std::vector<std::string> example_names();

bool contains(const std::string& text, const std::string& part);
std::vector<std::string> lines_of(const std::string& text);
// Between single blanks.
std::vector<std::string> words(const std::string& line);

// One row of CSV text by column name.
std::string cell(const base::CsvTable& table, std::size_t row, std::string_view column);
double number(const base::CsvTable& table, std::size_t row, std::string_view column);

}  // namespace roofcast::cli
