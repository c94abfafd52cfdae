// SPDX-License-Identifier: Apache-2.0
//
// What the commands say about themselves, read from CLI11's tree: the one source of the help, the
// manual page and the shell completions.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace roofcast::cli {

// What an argument takes, as its type_name(): help prints the word, completion proposes what it
// stands for. Choices are IsMember validators.
inline constexpr const char* kFile = "FILE";
inline constexpr const char* kKind = "KIND";                 // "chip"
inline constexpr const char* kKinds = "KINDS";               // "chips"
inline constexpr const char* kId = "ID";                     // of the kind named before it
inline constexpr const char* kColumn = "COLUMN";             // of the table named before it
inline constexpr const char* kColumnValue = "COLUMN=VALUE";  // the same
inline constexpr const char* kKnobValue = "PATH=VALUE";      // of the scenario named before it
inline constexpr const char* kKnobRange = "PATH=RANGE";      // the same
inline constexpr const char* kMetric = "METRIC";             // of an estimate
inline constexpr const char* kCondition = "CONDITION";       // on one
inline constexpr const char* kChip = "CHIP";                 // an id, or a file
inline constexpr const char* kSystem = "SYSTEM";
inline constexpr const char* kStack = "STACK";
inline constexpr const char* kModel = "MODEL";
inline constexpr const char* kPrecision = "PRECISION";
inline constexpr const char* kNumber = "NUMBER";
inline constexpr const char* kText = "TEXT";

inline constexpr const char* kOutput =
    "Output";  // the heading of options about what a command writes

inline constexpr std::size_t kMostThreads = 1024;  // of --threads

// The footer of a command: command lines that work as they stand, in this order.
std::string examples(std::initializer_list<std::string_view> lines);

// An argument or option on two columns: "--csv FILE" | "where the rows go".
struct Usage {
  std::string name;
  std::string description;  // with the default, and choices that are not beside the name
};

// A heading and what stands below it: indented lines are to be kept as they are.
using Section = std::pair<std::string, std::vector<std::string>>;

std::string name_of(const CLI::App& command);
std::string full_name(const CLI::App& command);  // "roofcast calibrate validate"
std::string summary(const CLI::App& command);    // the description's first line
std::string details(const CLI::App& command);    // what follows, one paragraph
std::string synopsis(const CLI::App& command);   // "roofcast sweep [OPTIONS] SWEEP --csv FILE"
std::vector<std::string> groups_of(const CLI::App& command);  // headings of its options
std::string footer_of(const CLI::App& command);
std::vector<Section> footer_sections(const CLI::App& command);

// Without the hidden ones.
std::vector<const CLI::App*> subcommands(const CLI::App& command);

// The message that a command has no subcommand of this name, with the nearest and all of them.
std::string unknown_command(const CLI::App& command, const std::string& wrong);
std::vector<const CLI::Option*> arguments(const CLI::App& command);
std::vector<const CLI::Option*> options(const CLI::App& command);

std::string group_of(const CLI::Option& option);
bool has_name(const CLI::Option& option, const std::string& name);  // with its dashes
std::vector<std::string> long_names(const CLI::Option& option);     // without
std::string description_of(const CLI::Option& option);              // without the default
std::string value_type(const CLI::Option& option);            // a word above, or "{text,json,csv}"
std::vector<std::string> choices(const CLI::Option& option);  // empty when anything goes
bool takes_value(const CLI::Option& option);
bool is_written(const CLI::Option& option);     // it names a file that the command writes
bool takes_several(const CLI::Option& option);  // one after another
Usage usage(const CLI::Option& option);
bool is_help(const CLI::Option& option, const CLI::App& command);

std::string capitals(std::string text);

// Help as text for a terminal.
std::string help(const CLI::App& command);

}  // namespace roofcast::cli
