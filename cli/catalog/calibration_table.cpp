// SPDX-License-Identifier: Apache-2.0
#include "cli/catalog/calibration_table.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "cli/assets/asset.hpp"
#include "cli/catalog/catalogs.hpp"
#include "cli/tables/text_table.hpp"

namespace roofcast::cli {

namespace {

// "`a`, `b.{c,d}`" → a, b
std::vector<std::string> names_in(std::string_view cell) {
  std::vector<std::string> names;
  for (std::size_t open = cell.find('`'); open != cell.npos;) {
    const std::size_t close = cell.find('`', open + 1);
    std::string name(cell.substr(open + 1, close - open - 1));
    names.push_back(name.substr(0, name.find(".{")));
    open = close == cell.npos ? cell.npos : cell.find('`', close + 1);
  }
  return names;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != text.npos; begin = end + 2) {
    end = text.find("; ", begin);
    parts.push_back(text.substr(begin, end - begin));
  }
  return parts;
}

// From the rows "| `group` | `key`, … | meaning |" of the page's section.
std::map<std::string, std::string> meanings() {
  const std::string_view page = asset_catalog_md();
  const std::size_t begin = page.find("\n## calibration\n");
  std::istringstream section(
      std::string(page.substr(begin, page.find("\n## ", begin + 1) - begin)));
  std::map<std::string, std::string> all;
  std::string group;
  for (std::string line; std::getline(section, line);) {
    const std::size_t keys = line.find(" | ");
    const std::size_t meaning = keys == line.npos ? line.npos : line.find(" | ", keys + 3);
    if (!line.starts_with("| ") || meaning == line.npos) {
      continue;
    }
    const auto groups = names_in(line.substr(0, keys));
    group = groups.empty() ? group : groups.front();
    const auto names = names_in(line.substr(keys, meaning - keys));
    const std::string text = line.substr(meaning + 3, line.rfind(" |") - meaning - 3);
    const auto parts = split(text);
    for (std::size_t i = 0; i < names.size(); ++i) {
      all[group + "." + names[i]] = parts.size() == names.size() ? parts[i] : text;
    }
  }
  return all;
}

struct Number {
  std::string path;
  std::string text;      // as it is written
  std::string document;  // that it is written in
};

void numbers_of(const base::Node& node, const std::string& place, std::vector<Number>& all) {
  for (const base::Entry& entry : node.entries) {
    const std::string path = place.empty() ? entry.key : place + "." + entry.key;
    if (entry.value.is_map()) {
      numbers_of(entry.value, path, all);
    } else if (entry.value.is_scalar() && !place.empty() && entry.key != "source") {
      const auto& source = entry.value.place.source;
      all.push_back({path, entry.value.text, source ? source->name : ""});
    }
  }
}

struct Written {
  double number = 0.0;
  std::string unit;
};
Written read(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return {number, end};
}

// Least and most of all calibrations, where they are written in one unit.
struct Span {
  Written least;
  Written most;
  bool one_unit = true;
};

std::map<std::string, Span> spans(const DocumentKind& kind) {
  std::map<std::string, Span> all;
  for (const std::string& id : base::catalog_ids(kind.catalog())) {
    std::vector<Number> numbers;
    numbers_of(resolved(base::load_entry(kind.catalog(), id), kind.place), "", numbers);
    for (const Number& number : numbers) {
      const Written value = read(number.text);
      const auto [at, is_new] = all.try_emplace(number.path, Span{value, value});
      Span& span = at->second;
      span.one_unit = span.one_unit && span.least.unit == value.unit;
      span.least = value.number < span.least.number ? value : span.least;
      span.most = value.number > span.most.number ? value : span.most;
    }
  }
  return all;
}

std::string text_of(const Span& span) {
  return span.one_unit ? fmt::format("{:.3g} to {:.3g}{}", span.least.number, span.most.number,
                                     span.least.unit)
                       : std::string();
}

}  // namespace

std::string meaning_of(const std::string& parameter) {
  static const std::map<std::string, std::string> all = meanings();
  const auto meaning = all.find(parameter.substr(0, parameter.find('.', parameter.find('.') + 1)));
  return meaning == all.end() ? "" : meaning->second;
}

std::string calibration_table(const base::Node& resolved_document) {
  const std::map<std::string, Span> ranges = spans(kind_named("calibration"));
  std::vector<Number> numbers;
  numbers_of(resolved_document, "", numbers);
  TextTable table({"# parameter", "value", "in all calibrations", "meaning", "from"});
  for (const auto& [path, value, document] : numbers) {
    const auto range = ranges.find(path);
    table.add({"# " + path, value, range == ranges.end() ? "" : text_of(range->second),
               meaning_of(path), document});
  }
  return table.text();
}

}  // namespace roofcast::cli
