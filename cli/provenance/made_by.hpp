// SPDX-License-Identifier: Apache-2.0
//
// What made the answers of this process. It stands in OUT.provenance.json beside a CSV (cli/provenance/provenance.hpp), in
// every HTML page, and in the JSON answer to a question.
//
//   version       of the program, with its commit
//   command       the arguments, as they were given
//   catalog       every entry that was read: kind, id, built-in or the user's file, FNV-1a of its text, whether it hides
//                 a built-in one
//   inputs        every file that was read: path, bytes, FNV-1a
//   stdin         the document that was read from there, as it was
//   user_catalog  the directory of ROOFCAST_CATALOG, if it was set
//   question      {"scenario": …} or {"sweep": …}: what was asked, with what options said of it; paths of files as seen
//                 from the current folder. Absent where the command and the inputs say all of it
//   seeds         of what is drawn
//   id            FNV-1a of all of these
//
// The place, the time and the machine are no part of it: the same command writes the same bytes again, and a page that is
// handed on tells no folder that the command did not name.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/document/node.hpp"

namespace roofcast::cli {

// At the start of a process that answers a command line. Without it nothing is known of who asks: then pages have none.
void note_command(std::vector<std::string> arguments);
// "scenario" or "sweep". A later one replaces it.
void note_question(const std::string& kind, const base::Node& document);
void note_seed(const std::string& what, std::int64_t seed);

// The command and its inputs say all that is asked.
void note_asked();

// Whether the answer is one to a question: of note_question() or note_asked(), in a process with note_command().
bool is_asked();

// Made at the first call and then kept, so call it when everything is read.
const nlohmann::ordered_json& made_by();

// For the head of a page that is written as `file`, which is its "file"; empty without note_command().
std::string provenance_element(const std::string& file);

// Of a JSON that may have names of files in it: what is no UTF-8 is replaced.
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

// Numbers, true, false and null as JSON has them; quantities as they are written.
nlohmann::ordered_json document_json(const base::Node& node);

// A text with paths of files below the current folder or the home, as they are seen from the current folder: pages and
// answers are handed on, and tell nobody's folders.
std::string seen_from_here(std::string text);

std::string without_tags(std::string json);  // for a <script>: "<" becomes \u003c

}  // namespace roofcast::cli
