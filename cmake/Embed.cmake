# SPDX-License-Identifier: Apache-2.0
# Text files as string literals in a library, so that the program needs no installed data.
# The generated source is rebuilt when a file changes, and when a catalog gains or loses one.

set(ROOFCAST_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/EmbedText.cmake")

# roofcast_embed_catalog(TARGET <target> NAMESPACE <ns> FUNCTION <name> DIRECTORY <folder>)
#
# Defines   std::span<const base::CatalogEntry> roofcast::<ns>::<name>()
# over the .yaml files directly in <folder>, sorted by id (file name without .yaml). A folder that
# does not exist is an empty catalog.
function(roofcast_embed_catalog)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;NAMESPACE;FUNCTION;DIRECTORY" "")
  get_filename_component(directory "${arg_DIRECTORY}" ABSOLUTE)
  file(GLOB files CONFIGURE_DEPENDS "${directory}/*.yaml")
  roofcast_embed(catalog "${files}")
endfunction()

# roofcast_embed_files(TARGET <target> NAMESPACE <ns> HEADER <folder>/<name>.hpp FILES <file>...)
#
# Defines and declares in HEADER, for each file,   std::string_view roofcast::<ns>::<name>_<file>()
# where <file> is its name with "_" for ".": asset_report_html(). The names differ.
function(roofcast_embed_files)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;NAMESPACE;HEADER" "FILES")
  set(files "")
  foreach(file IN LISTS arg_FILES)
    get_filename_component(file "${file}" ABSOLUTE)
    list(APPEND files "${file}")
  endforeach()
  roofcast_embed(files "${files}")
  target_include_directories(${arg_TARGET} PUBLIC "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>")
endfunction()

# The part they share; reads the caller's arg_*. The list of files goes through a file of its own,
# which changes only when the list does: that is what notices a file that went away.
macro(roofcast_embed kind files)
  set(header "")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${arg_FUNCTION}.cpp")
  if(arg_HEADER)
    set(header "${PROJECT_BINARY_DIR}/${arg_HEADER}")
    string(REGEX REPLACE "hpp$" "cpp" output "${header}")
  endif()
  set(manifest "${output}.files")
  file(CONFIGURE OUTPUT "${manifest}" CONTENT "${files}" @ONLY)
  add_custom_command(
    OUTPUT "${output}" ${header}
    COMMAND "${CMAKE_COMMAND}" -D KIND=${kind} -D NAMESPACE=${arg_NAMESPACE}
            -D "FUNCTION=${arg_FUNCTION}" -D "HEADER=${arg_HEADER}"
            -D "BINARY=${PROJECT_BINARY_DIR}" -D "ROOT=${PROJECT_SOURCE_DIR}"
            -D "MANIFEST=${manifest}" -D "OUTPUT=${output}" -P "${ROOFCAST_EMBED_SCRIPT}"
    DEPENDS ${files} "${manifest}" "${ROOFCAST_EMBED_SCRIPT}"
    COMMENT "Embedding ${arg_NAMESPACE}::${arg_FUNCTION}${arg_HEADER}"
    VERBATIM)
  # Objects of their own, so that libraries wait for these alone (cmake/Folder.cmake).
  set(objects ${arg_TARGET}_embedded)
  if(NOT TARGET ${objects})
    add_library(${objects} OBJECT)
    set_target_properties(${objects} PROPERTIES UNITY_BUILD ${ROOFCAST_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 0)
    target_include_directories(${objects} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
    target_sources(${arg_TARGET} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endif()
  target_sources(${objects} PRIVATE "${output}" ${header})
endmacro()
