# SPDX-License-Identifier: Apache-2.0
# Run by Embed.cmake during the build: writes OUTPUT, a C++ source that holds the text of the files
# named in MANIFEST. KIND is catalog, which FUNCTION in NAMESPACE returns, or files, whose functions HEADER declares.

# Appends the literal of one file to OUTPUT. Compilers need not take a literal over 65,536
# characters, so a long text becomes adjacent literals, cut after a line or a comma (an ASCII
# character, hence never inside a UTF-8 sequence).
function(append_literal file)
  file(READ "${file}" text)
  string(FIND "${text}" ")roofcast\"" position)
  if(NOT position EQUAL -1)
    message(FATAL_ERROR "${file} contains the raw string delimiter )roofcast\"")
  endif()
  string(LENGTH "${text}" left)
  set(begin 0)
  while(left GREATER 60000)
    string(SUBSTRING "${text}" ${begin} 60000 window)
    string(REGEX MATCH "^.*[\n,]" piece "${window}")
    string(LENGTH "${piece}" length)
    if(length EQUAL 0)
      message(FATAL_ERROR "${file} has 60000 characters without a line end or a comma")
    endif()
    file(APPEND "${OUTPUT}" "R\"roofcast(${piece})roofcast\"\n")
    math(EXPR begin "${begin} + ${length}")
    math(EXPR left "${left} - ${length}")
  endwhile()
  string(SUBSTRING "${text}" ${begin} -1 piece)
  file(APPEND "${OUTPUT}" "R\"roofcast(${piece})roofcast\"sv")
endfunction()

function(write_catalog files)
  set(signature "std::span<const base::CatalogEntry> ${FUNCTION}()")
  set(ids "")
  foreach(file IN LISTS files)
    get_filename_component(id "${file}" NAME_WLE)
    list(APPEND ids "${id}")
    get_filename_component(directory "${file}" DIRECTORY)
  endforeach()
  list(SORT ids)
  list(LENGTH ids count)

  file(APPEND "${OUTPUT}" "#include \"base/catalog_entry.hpp\"\n\n#include <array>\n#include <span>\n"
    "#include <string_view>\n\nnamespace roofcast::${NAMESPACE} {\n"
    "using namespace std::string_view_literals;\n\n${signature};\n\n${signature} {\n"
    "  static constexpr std::array<base::CatalogEntry, ${count}> kEntries{")
  foreach(id IN LISTS ids)
    file(RELATIVE_PATH name "${ROOT}" "${directory}/${id}.yaml")
    file(APPEND "${OUTPUT}" "\nbase::CatalogEntry{\"${id}\"sv, \"${name}\"sv,\n")
    append_literal("${directory}/${id}.yaml")
    file(APPEND "${OUTPUT}" "},")
  endforeach()
  file(APPEND "${OUTPUT}" "};\n  return kEntries;\n}\n\n}  // namespace roofcast::${NAMESPACE}\n")
endfunction()

function(write_files files)
  get_filename_component(prefix "${HEADER}" NAME_WE)
  set(declarations "")
  file(APPEND "${OUTPUT}" "#include \"${HEADER}\"\n\nnamespace roofcast::${NAMESPACE} {\n"
    "using namespace std::string_view_literals;\n")
  foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME)
    string(MAKE_C_IDENTIFIER "${prefix}_${name}" name)
    string(APPEND declarations "std::string_view ${name}();\n")
    file(APPEND "${OUTPUT}" "\nstd::string_view ${name}() {\n  return ")
    append_literal("${file}")
    file(APPEND "${OUTPUT}" ";\n}\n")
  endforeach()
  file(APPEND "${OUTPUT}" "\n}  // namespace roofcast::${NAMESPACE}\n")
  # Unchanged, it must not look newer: whatever includes it would be compiled again.
  file(CONFIGURE OUTPUT "${BINARY}/${HEADER}" @ONLY CONTENT
    "// Written by cmake/EmbedText.cmake. Do not edit.\n#pragma once\n\n#include <string_view>\n\nnamespace roofcast::${NAMESPACE} {\n\n${declarations}\n}  // namespace roofcast::${NAMESPACE}\n")
endfunction()

file(READ "${MANIFEST}" files)
file(WRITE "${OUTPUT}" "// Written by cmake/EmbedText.cmake. Do not edit.\n\n")
if(KIND STREQUAL "catalog")
  write_catalog("${files}")
else()
  write_files("${files}")
endif()
