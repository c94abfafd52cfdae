// SPDX-License-Identifier: Apache-2.0
//
// The pages, run as they are read: README.md and every .md below docs, each in a directory of its own.
//
//   ```sh      every line is a command that works, after the lines before it; "\" at its end continues it
//   ```text    lines, in this order, of what the last command before it prints; "…" stands for any others
//   ```yaml    a document; one that begins with "# name.yaml" is that file from then on
//   ```        is not run
//
// ROOFCAST_REGENERATE=1 writes what is printed today in place of lines whose words are the same and whose numbers are not.
// What it says after that still fails: a line with other words is for a person to read.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "tests/catch.hpp"
#include "tests/cli/printed.hpp"
#include "tests/cli/program.hpp"
#include "tests/measured_log.hpp"

namespace roofcast::cli::cli_documentation {
namespace {

namespace fs = std::filesystem;

struct Block {
  std::string language;
  std::vector<std::string> lines;
  std::size_t first = 0;  // number of the first one in its page
};

std::vector<Block> blocks_of(const fs::path& page) {
  std::ifstream in(page);
  REQUIRE(in);
  std::vector<Block> blocks;
  bool inside = false;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line); ++number) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) {
        blocks.push_back({line.substr(3), {}, number + 1});
      }
    } else if (inside) {
      std::vector<std::string>& lines = blocks.back().lines;
      if (blocks.back().language == "sh" && !lines.empty() && lines.back().ends_with('\\')) {
        lines.back() += "\n" + line;
      } else {
        lines.push_back(line);
      }
    }
  }
  CHECK(!inside);
  return blocks;
}

// "# name.yaml"; empty when a document says no name.
std::string name_of(const Block& block) {
  if (block.language != "yaml" || block.lines.empty()) {
    return {};
  }
  const std::string& first = block.lines.front();
  const bool named = first.starts_with("# ") && first.ends_with(".yaml") &&
                     first.find(' ', 2) == std::string::npos;
  return named ? first.substr(2) : std::string();
}

std::vector<fs::path> pages(const fs::path& root) {
  std::vector<fs::path> all = {root / "README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") {
      all.push_back(entry.path());
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

// What the pages take for granted that a reader has.
void provide(const Program& roofcast, const fs::path& root) {
  fs::create_directory_symlink(root / "examples", roofcast.path("examples"));
  fs::copy_file(root / "tests/unit/hugging_face/llama-3.1-8b.json", roofcast.path("config.json"));
  roofcast.write("gemm.csv",
                 "system,fw,gemm_dtype,m,n,k,latency_ms\n"
                 "h200_sxm,vllm,bfloat16,64,4096,4096,0.02\n");
  roofcast.write("bench.json", kLogOfLlama70b);
}

// The first line of a block that is not printed where it should be; empty when all are.
std::string not_printed(const Block& block, const std::string& out) {
  const std::vector<std::string> printed = lines_of(out);
  std::size_t at = 0;
  bool any = true;  // lines may be left out here
  for (const std::string& line : block.lines) {
    if (line == "…") {
      any = true;
      continue;
    }
    while (any && at < printed.size() && !same_print(line, printed[at])) {
      ++at;
    }
    if (at == printed.size() || !same_print(line, printed[at])) {
      return line;
    }
    ++at;
    any = false;
  }
  return {};
}

// Its letters.
std::string words_of(const std::string& line) {
  std::string words;
  std::copy_if(line.begin(), line.end(), std::back_inserter(words),
               [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; });
  return words;
}

// The first cell of a line of a table, or what stands before the colon of a line in words.
std::string label_of(const std::string& line) {
  return line.substr(0, std::min(line.find("  "), line.find(": ")));
}

// The lines of a block as they are printed today, where the first line after a "…" has the words of a printed one, or its
// label.
std::vector<std::string> as_printed(const Block& block, const std::string& out) {
  const std::vector<std::string> printed = lines_of(out);
  std::vector<std::string> lines;
  std::size_t at = 0;
  bool any = true;
  for (const std::string& line : block.lines) {
    if (line != "…" && any) {
      const auto from = printed.begin() + static_cast<std::ptrdiff_t>(at);
      auto same = std::find_if(from, printed.end(), [&](const std::string& each) {
        return words_of(each) == words_of(line);
      });
      if (same == printed.end()) {
        same = std::find_if(from, printed.end(), [&](const std::string& each) {
          return label_of(each) == label_of(line);
        });
      }
      if (same == printed.end()) {
        return block.lines;
      }
      at = static_cast<std::size_t>(same - printed.begin());
    }
    any = line == "…";
    if (any || at < printed.size()) {
      lines.push_back(any ? line : printed[at++]);
    }
  }
  return lines;
}

void rewrite(const fs::path& page, const std::map<std::size_t, std::vector<std::string>>& changes) {
  std::ifstream in(page);
  std::string text;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line); ++number) {
    const auto change = changes.upper_bound(number);
    const bool inside = change != changes.begin() &&
                        number < std::prev(change)->first + std::prev(change)->second.size();
    text += (inside ? std::prev(change)->second[number - std::prev(change)->first] : line) + "\n";
  }
  in.close();
  std::ofstream(page) << text;
}

// Whether a line reads and writes no file: it is run once, on whatever page it is.
bool stands_alone(const std::string& line) {
  constexpr std::string_view kFiles[] = {".yaml", ".csv", ".html", ".json", ".txt", ">"};
  return std::none_of(std::begin(kFiles), std::end(kFiles),
                      [&](std::string_view part) { return line.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("Every command line of the documentation that is marked sh runs", "[cli][long]") {
  const char* source = std::getenv("ROOFCAST_SOURCE_DIR");
  if (source == nullptr) {
    WARN("ROOFCAST_SOURCE_DIR is not set; the documentation is not looked at");
    return;
  }
  std::size_t run = 0;
  std::map<std::string, Outcome> alone;
  for (const fs::path& page : pages(source)) {
    const Program roofcast;
    if (!roofcast.exists()) {
      return;
    }
    provide(roofcast, source);
    std::string printed;     // by the last command
    bool by_python = false;  // the last block that runs; tests/python looks at those
    std::map<std::size_t, std::vector<std::string>> changes;
    for (const Block& block : blocks_of(page)) {
      if (const std::string name = name_of(block); !name.empty()) {
        std::string text;
        for (const std::string& line : block.lines) {
          text += line + "\n";
        }
        fs::create_directories(roofcast.path(name).parent_path());
        roofcast.write(name, text);
      }
      if (block.language == "python" || block.language == "sh") {
        by_python = block.language == "python";
      }
      if (block.language == "text" && !by_python) {
        if (std::getenv("ROOFCAST_REGENERATE") != nullptr) {
          std::vector<std::string> lines = as_printed(block, printed);
          if (lines.size() == block.lines.size() && lines != block.lines) {
            changes.emplace(block.first, std::move(lines));
            continue;
          }
        }
        INFO(page.string() << " says what is not printed, which is\n" << printed);
        CHECK(not_printed(block, printed).empty());
        continue;
      }
      if (block.language != "sh") {
        continue;
      }
      for (const std::string& line : block.lines) {
        const bool once = stands_alone(line);
        const auto known = once ? alone.find(line) : alone.end();
        const Outcome outcome = known != alone.end() ? known->second : roofcast.shell(line);
        if (once) {
          alone.emplace(line, outcome);
        }
        INFO(page.string() << ": " << line << "\n" << outcome.err);
        CHECK(outcome.code == 0);
        printed = outcome.out;
        ++run;
      }
    }
    if (!changes.empty()) {
      rewrite(page, changes);
    }
  }
  CHECK(run > 0);
}

}  // namespace roofcast::cli::cli_documentation
