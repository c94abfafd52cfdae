# SPDX-License-Identifier: Apache-2.0
# One static library for each source folder; its PUBLIC links are the arrows of the architecture.

# roofcast_folder(NAME <folder> [TARGET <target>] [EXCLUDE <file>...] [OPTIMISE <flag>] [FAST <room>...] [EIGEN <file>...]
#                 [TOGETHER "<room> <room>..."...] [DEPENDS <library>...]
#                 PRECOMPILE <header>... | REUSE <target>)
#
# Defines <target> (default roofcast_<folder>) from every .cpp below the current folder except the
# EXCLUDEd ones, and its alias roofcast::<folder>. A new file is noticed by the next build.
# OPTIMISE is a flag of release builds, in place of -O3. FAST rooms, which a sweep or a replay runs for each point, do
# without it: they are the objects <target>_fast.
# EIGEN files, the objects <target>_eigen, have no precompiled header: one that was made with -O3 would have them compiled
# with -O3, because the headers of SSE, which Eigen includes, set the options back to those of the precompiled header.
# TOGETHER rooms are one translation unit; "." is the folder's own files. Other rooms are one each.
# <target>_headers own the folder's precompiled header, which others REUSE. (It has the highest level of all that use it:
# gcc 12 crashes where a header precompiled with -O1 serves -O3.)
#
# Libraries wait for no other library to be compiled, only for what is generated: the objects <target>_embedded.
function(roofcast_folder)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;TARGET;OPTIMISE;REUSE" "EXCLUDE;FAST;EIGEN;TOGETHER;DEPENDS;PRECOMPILE")
  if(NOT arg_TARGET)
    set(arg_TARGET roofcast_${arg_NAME})
  endif()
  set(release "")
  if(arg_OPTIMISE)
    set(release "$<$<CONFIG:Release>:${arg_OPTIMISE}>")
  endif()

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "*.cpp" "*.hpp")
  list(TRANSFORM arg_EXCLUDE PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  list(REMOVE_ITEM sources ${arg_EXCLUDE})
  set(fast "")
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH room)
    cmake_path(RELATIVE_PATH room BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    if(room IN_LIST arg_FAST)
      list(APPEND fast "${source}")
    endif()
  endforeach()

  if(arg_PRECOMPILE)
    set(arg_REUSE ${arg_TARGET}_headers)
    file(CONFIGURE OUTPUT headers.cpp CONTENT "")
    add_library(${arg_REUSE} OBJECT "${CMAKE_CURRENT_BINARY_DIR}/headers.cpp")
    roofcast_compile(${arg_REUSE})
    set_target_properties(${arg_REUSE} PROPERTIES UNITY_BUILD OFF)
    roofcast_precompile(${arg_REUSE} ${arg_PRECOMPILE})
    if(NOT fast)
      target_compile_options(${arg_REUSE} PRIVATE ${release})
    endif()
  endif()
  if(fast)
    list(REMOVE_ITEM sources ${fast})
    add_library(${arg_TARGET}_fast OBJECT ${fast})
    roofcast_compile(${arg_TARGET}_fast)
    target_precompile_headers(${arg_TARGET}_fast REUSE_FROM ${arg_REUSE})
    list(APPEND sources $<TARGET_OBJECTS:${arg_TARGET}_fast>)
  endif()
  if(arg_EIGEN)
    list(TRANSFORM arg_EIGEN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
    list(REMOVE_ITEM sources ${arg_EIGEN})
    add_library(${arg_TARGET}_eigen OBJECT ${arg_EIGEN})
    roofcast_compile(${arg_TARGET}_eigen)
    target_compile_options(${arg_TARGET}_eigen PRIVATE ${release})
    target_link_libraries(${arg_TARGET}_eigen PRIVATE Eigen3::Eigen)
    list(APPEND sources $<TARGET_OBJECTS:${arg_TARGET}_eigen>)
  endif()

  # CMakeLists.txt among the sources and the explicit language let a folder be headers only.
  add_library(${arg_TARGET} STATIC ${sources} CMakeLists.txt)
  add_library(roofcast::${arg_NAME} ALIAS ${arg_TARGET})
  set_target_properties(${arg_TARGET} PROPERTIES LINKER_LANGUAGE CXX EXPORT_NAME ${arg_NAME})
  roofcast_compile(${arg_TARGET})
  target_compile_options(${arg_TARGET} PRIVATE ${release})
  target_precompile_headers(${arg_TARGET} REUSE_FROM ${arg_REUSE})
endfunction()

# How the sources of one target of a folder are compiled; reads roofcast_folder's arg_NAME, arg_TOGETHER and arg_DEPENDS.
function(roofcast_compile target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")
  target_link_libraries(${target} PUBLIC ${arg_DEPENDS} PRIVATE $<BUILD_INTERFACE:roofcast_compile_flags>)
  set_target_properties(${target} PROPERTIES OPTIMIZE_DEPENDENCIES ON)
  # Readers of documents, which the fuzzers search. The rest compiles faster without; sim's precompiled headers, which two
  # more folders use, tell them apart.
  if(ROOFCAST_ENABLE_FUZZERS AND arg_NAME MATCHES "^(base|hardware|workloads|models)$")
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()

  # Many files at once: most of the time is what they all include and instantiate. So names of their unnamed namespaces
  # differ.
  if(ROOFCAST_UNITY_BUILD)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "[.][ch]pp$")
    foreach(source IN LISTS sources)
      cmake_path(GET source PARENT_PATH room)
      cmake_path(RELATIVE_PATH room BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
      foreach(rooms IN LISTS arg_TOGETHER)
        separate_arguments(rooms)
        if(room IN_LIST rooms)
          list(GET rooms 0 room)
        endif()
      endforeach()
      string(MAKE_C_IDENTIFIER "${arg_NAME}_${room}" group)
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}")
    endforeach()
  endif()
endfunction()
