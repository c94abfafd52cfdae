// SPDX-License-Identifier: Apache-2.0
//
// How measured runs were made, where their tables do not say it: settings as data.
//
//   title: Servers
//   rules:
//     scheduler:                                    # a topic
//       - where: {source: inferencex*, stack: trtllm, clients: ">= 16"}
//         set: {serving.max_tokens_per_iteration: 16384}
//         source: where this is known from
//
// Topics are read from top to bottom. In each topic the first rule that fits makes its assignments; the others of the
// topic make none. A rule without `set` only keeps those below it from fitting.
//
//   where   facts of a run (Facts, and what earlier topics set): all must fit. A value is a text, in which * stands for
//           any characters; a list, of which one must fit; or a bound of a number: "< 8", "<= 8", "> 8", ">= 8"
//   set     assignments as those of --set (sim/scenario/knob.hpp). What begins with `run.` is no part of a scenario: the
//           reader of the rows knows it
//   source  of a rule, or of the file for all its rules
//
// A file is an entry of the catalog `conventions`. One of ROOFCAST_CATALOG adds its rules to the shipped ones of the same
// id: in a topic its rules come first, and a topic that only it has comes last. So it changes what it names, and no more.
// To take a shipped rule away, it has a rule with the same `where` and no `set`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document/catalog.hpp"
#include "base/document/problems.hpp"

namespace roofcast::calibrate {

base::Catalog convention_catalog();

// What is known of one run, by name.
class Facts {
 public:
  void set(std::string_view name, std::string_view text) { values_[std::string(name)] = text; }
  void set(std::string_view name, std::int64_t number) { set(name, std::to_string(number)); }
  const std::string* find(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

// Assignments, in order; owned by the Conventions they are of.
using Settings = std::vector<const base::Entry*>;

class Conventions {
 public:
  // Rules of one topic are those of the first document, then those of the next one. InputError with every problem.
  explicit Conventions(std::vector<base::Node> documents);
  // The user's entry of the catalog, and the shipped one.
  explicit Conventions(const std::string& id);
  Conventions(const Conventions&) = delete;  // rules point into the documents
  Conventions& operator=(const Conventions&) = delete;

  // Of a run. InputError where a rule asks for what is no fact.
  Settings settings(const Facts& facts) const;
  std::size_t rules() const;

 private:
  struct Rule {
    const base::Node* where = nullptr;  // null: always
    const base::Node* set = nullptr;    // null: nothing
  };
  void read(const base::Node& document, base::Problems& problems);
  std::vector<Rule>& rules_of(const std::string& topic);

  std::vector<base::Node> documents_;
  std::vector<std::pair<std::string, std::vector<Rule>>> topics_;
};

// What was set last at a path; nullptr where nothing was.
const base::Node* find(const Settings& settings, std::string_view path);
// Makes the assignments to a scenario.
void set(base::Node& scenario, const Settings& settings, base::Problems& problems);
// Those of `run.`, as a document of their own.
base::Node run_settings(const Settings& settings, base::Problems& problems);

// Whether a text fits a pattern, in which * stands for any characters.
bool fits_pattern(std::string_view pattern, std::string_view text);

}  // namespace roofcast::calibrate
