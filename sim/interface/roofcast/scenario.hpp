// SPDX-License-Identifier: Apache-2.0
//
// A scenario: what runs, on what, under which traffic. The documentation of scenarios lists the sections and keys.
//
//   const roofcast::Scenario today("llama-70b.yaml");
//   const roofcast::Scenario faster = today.with("system.chip.hbm.bandwidth", "x1.5");
//
// The headers of <roofcast/...> are the interface of the library. They include standard headers and each other. All
// types are values: a copy shares nothing that changes. Every function may be called from several threads at once.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roofcast {

// One mistake of the user.
struct Problem {
  std::string file;     // or the name of the text; empty where it has no place
  std::size_t line;     // 1-based; 0 where it has no place
  std::size_t column;   // 1-based, in characters
  std::string path;     // the dotted key path; may be empty
  std::string message;  // one sentence
  std::string excerpt;  // the line of the file, and a caret below the column
};

// Bad input. what() is the whole text for the user: every problem that was found, each with its file, line and column.
class InputError : public std::runtime_error {
 public:
  InputError(const std::string& text, std::vector<Problem> problems)
      : std::runtime_error(text), problems_(std::move(problems)) {}

  const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

class Scenario {
 public:
  // Reads a YAML or JSON file. Names in it are ids of the catalog or paths from the file's directory. Throws
  // InputError when the file cannot be read as a document; what its sections say is checked when it is used.
  explicit Scenario(const std::filesystem::path& file);

  // The same from a text; messages call it `name`, and paths in it start in the working directory.
  static Scenario parse(std::string text, std::string name = "scenario");

  // The scenario with one knob overridden: a dotted path, through references, and a value as YAML has it:
  // "8", "3.35 TB/s", "h200_sxm". "x1.5" multiplies the number that is there. Overrides apply in the order of the
  // calls: choose a system before you change its chip. Throws InputError when there is no such path.
  Scenario with(std::string_view path, std::string_view value) const;

  std::string yaml() const;  // the document, overrides included

  struct Document;  // of the library's own
  const Document& document() const { return *document_; }

 private:
  explicit Scenario(std::shared_ptr<const Document> document);

  std::shared_ptr<const Document> document_;
};

}  // namespace roofcast
