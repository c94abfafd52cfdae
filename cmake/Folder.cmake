# SPDX-License-Identifier: Apache-2.0
# One static library for each source folder; its PUBLIC links are the arrows of the architecture.

# roofcast_folder(NAME <folder> [TARGET <target>] [EXCLUDE <file>...] [FAST <room>...] [DEPENDS <library>...]
#                 PRECOMPILE <argument of roofcast_precompile>...)
#
# Defines <target> (default roofcast_<folder>) from every .cpp below the current folder except the
# EXCLUDEd ones, and its alias roofcast::<folder>. A new file is noticed by the next build.
# FAST rooms are what a sweep or a replay runs for each point; "." is the folder's own files. They are the objects
# <target>_fast, which own the folder's precompiled header. The rest of the folder is compiled with -O1: in two thirds of
# the time. (The other way round, gcc 12 crashes: a header precompiled with -O1 does not serve -O3.)
function(roofcast_folder)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;TARGET" "EXCLUDE;FAST;DEPENDS;PRECOMPILE")
  if(NOT arg_TARGET)
    set(arg_TARGET roofcast_${arg_NAME})
  endif()

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "*.cpp" "*.hpp")
  list(TRANSFORM arg_EXCLUDE PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  list(REMOVE_ITEM sources ${arg_EXCLUDE})
  if(arg_FAST)
    set(fast "")
    foreach(source IN LISTS sources)
      cmake_path(GET source PARENT_PATH room)
      cmake_path(RELATIVE_PATH room BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
      if(room IN_LIST arg_FAST)
        list(APPEND fast "${source}")
      endif()
    endforeach()
    list(REMOVE_ITEM sources ${fast})
    add_library(${arg_TARGET}_fast OBJECT ${fast})
    roofcast_compile(${arg_TARGET}_fast ${arg_PRECOMPILE})
    list(APPEND sources $<TARGET_OBJECTS:${arg_TARGET}_fast>)
    set(arg_PRECOMPILE REUSE ${arg_TARGET}_fast)
  endif()

  # CMakeLists.txt among the sources and the explicit language let a folder be headers only.
  add_library(${arg_TARGET} STATIC ${sources} CMakeLists.txt)
  add_library(roofcast::${arg_NAME} ALIAS ${arg_TARGET})
  set_target_properties(${arg_TARGET} PROPERTIES LINKER_LANGUAGE CXX EXPORT_NAME ${arg_NAME})
  roofcast_compile(${arg_TARGET} ${arg_PRECOMPILE})
  if(arg_FAST)
    target_compile_options(${arg_TARGET} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
endfunction()

# How the sources of one target of a folder are compiled; reads roofcast_folder's arg_NAME and arg_DEPENDS.
function(roofcast_compile target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")
  target_link_libraries(${target} PUBLIC ${arg_DEPENDS} PRIVATE $<BUILD_INTERFACE:roofcast_compile_flags>)
  # Readers of documents, which the fuzzers search. The rest compiles faster without; sim's precompiled headers, which two
  # more folders use, tell them apart.
  if(ROOFCAST_ENABLE_FUZZERS AND arg_NAME MATCHES "^(base|hardware|workloads|models)$")
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  roofcast_precompile(${target} ${ARGN})

  # The files of one folder at once: most of the time is what they all include. So names of their unnamed namespaces differ.
  if(ROOFCAST_UNITY_BUILD)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "[.][ch]pp$")
    foreach(source IN LISTS sources)
      cmake_path(GET source PARENT_PATH folder)
      cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
      string(MAKE_C_IDENTIFIER "${folder}" group)
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}")
    endforeach()
  endif()
endfunction()
