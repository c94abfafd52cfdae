// SPDX-License-Identifier: Apache-2.0
//
// What the rules of a file of conventions set for a run under `run.`, in the form of its reader. Few sets of rules fit
// many runs, so each is read once.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "base/document/fields.hpp"
#include "calibrate/conventions/conventions.hpp"

namespace roofcast::calibrate {

template <class T>
class ReadSettings {
 public:
  // The entry `id` of the catalog `conventions`; `read` reads the keys of `run.`.
  ReadSettings(const std::string& id, T (*read)(base::Fields& run))
      : conventions_(id), read_(read) {}

  // Owned here. InputError with every problem.
  const T& of(const Facts& facts) {
    const Settings settings = conventions_.settings(facts);
    if (const auto found = known_.find(settings); found != known_.end()) {
      return found->second;
    }
    base::Problems problems;
    const base::Node document = run_settings(settings, problems);
    base::Fields run(document, "run", problems);
    T value = read_(run);
    run.end();
    problems.throw_if_any();
    return known_.emplace(settings, std::move(value)).first->second;
  }

 private:
  Conventions conventions_;
  T (*read_)(base::Fields& run);
  std::map<Settings, T> known_;
};

}  // namespace roofcast::calibrate
