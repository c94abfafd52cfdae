// SPDX-License-Identifier: Apache-2.0
//
// Any bytes are a document that is read, or a base::InputError with a text; nothing else.
#include <cstdint>
#include <string>

#include "base/document/problems.hpp"
#include "cli/catalog/catalogs.hpp"
#include "sim/decide/sweep.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/equal_nodes.hpp"
#include "tests/fuzz/fault.hpp"

namespace {

using namespace roofcast;
using fuzz::require;

template <class Read>
bool is_read(Read read) {
  try {
    read();
    return true;
  } catch (const base::InputError& error) {
    require(error.what() != std::string(), "an error says something");
    return false;
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  base::Node document;
  if (!is_read([&] { document = base::parse_document("fuzz.yaml", text); })) {
    return 0;
  }
  base::Node again;
  const std::string written = base::to_yaml(document);
  require(is_read([&] { again = base::parse_document("written.yaml", written); }),
          "what was written can be read:\n" + written);
  require(equal(document, again), "what was written is read as it was:\n" + written);

  for (const cli::DocumentKind& kind : cli::document_kinds()) {
    if (kind.keys != nullptr) {
      is_read([&] { kind.check(document); });
    }
  }
  is_read([&] { sim::read_scenario(document); });
  is_read([&] { sim::read_sweep(document); });
  return 0;
}
