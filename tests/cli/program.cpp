// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/program.hpp"

#include <fmt/format.h>
#include <stdlib.h>  // mkdtemp
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/catch.hpp"

namespace roofcast::cli {
namespace {

namespace fs = std::filesystem;

// What ctest says, or what lies beside the tests in the build tree.
fs::path find_binary() {
  if (const char* named = std::getenv("ROOFCAST_BINARY")) {
    return named;
  }
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path overlapped = self.parent_path().parent_path() / "cli" / "roofcast";
  return fs::is_regular_file(overlapped, error) ? overlapped : fs::path();
}

fs::path new_directory() {
  std::string name = (fs::temp_directory_path() / "roofcast-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("no temporary directory");
  }
  return name;
}

std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    c == '\'' ? out += "'\\''" : out += c;
  }
  return fmt::format("'{}'", out);
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  REQUIRE(in);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

fs::path examples() {
  const char* root = std::getenv("ROOFCAST_SOURCE_DIR");
  return (root != nullptr ? fs::path(root)
                          : fs::absolute(__FILE__).parent_path().parent_path().parent_path()) /
         "examples";
}

}  // namespace

Program::Program() : binary_(find_binary()), directory_(new_directory()) {
  if (!exists()) {
    WARN("no roofcast was built (ROOFCAST_BINARY): nothing tested");
  }
}

Program::~Program() {
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

Outcome Program::run(const std::vector<std::string>& arguments) const {
  std::string quoted_arguments;
  for (const std::string& argument : arguments) {
    quoted_arguments += fmt::format(" {}", quoted(argument));
  }
  return execute(quoted(binary_.string()) + quoted_arguments);
}

Outcome Program::shell(const std::string& line) const {
  return execute(fmt::format("PATH={}:\"$PATH\" bash -c {}", quoted(binary_.parent_path().string()),
                             quoted(line)));
}

Outcome Program::execute(const std::string& command) const {
  const fs::path out = directory_ / ".stdout";
  const fs::path err = directory_ / ".stderr";
  const int status =
      std::system(fmt::format("cd {} && {} >{} 2>{} </dev/null", quoted(directory_.string()),
                              command, quoted(out.string()), quoted(err.string()))
                      .c_str());
  REQUIRE(WIFEXITED(status));
  return {WEXITSTATUS(status), text_of(out), text_of(err)};
}

std::string Program::output(const std::vector<std::string>& arguments) const {
  const Outcome outcome = run(arguments);
  INFO("roofcast " << arguments.front() << ", stderr: " << outcome.err);
  REQUIRE(outcome.code == 0);
  return outcome.out;
}

std::string Program::read(const std::string& name) const { return text_of(path(name)); }

void Program::write(const std::string& name, const std::string& text) const {
  std::ofstream(path(name), std::ios::binary) << text;
}

std::string example(const std::string& name) { return (examples() / (name + ".yaml")).string(); }

std::vector<std::string> example_names() {
  std::vector<std::string> names;
  for (const auto& file : fs::directory_iterator(examples())) {
    if (file.path().extension() == ".yaml") {
      names.push_back(file.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> words(const std::string& line) {
  std::vector<std::string> out;
  for (std::size_t from = 0; from < line.size();) {
    const std::size_t to = std::min(line.find(' ', from), line.size());
    out.push_back(line.substr(from, to - from));
    from = to + 1;
  }
  return out;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

std::string cell(const base::CsvTable& table, std::size_t row, std::string_view column) {
  return std::string(table.cell(row, table.column(column)));
}

double number(const base::CsvTable& table, std::size_t row, std::string_view column) {
  const auto value = base::parse_number(table.cell(row, table.column(column)));
  INFO(column << " of row " << row);
  REQUIRE(value.has_value());
  return *value;
}

}  // namespace roofcast::cli
