# SPDX-License-Identifier: Apache-2.0
# How every file of this project is compiled. Fetched dependencies are not held to the warnings.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# The libraries may become part of a shared object: cli/python, or someone else's.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

# Where there is a ccache it is used. With precompiled headers it finds nothing unless it may overlook the macros of the
# files in them (its manual, "Precompiled headers"); gcc must name them to it, clang leave the time out of them.
find_program(CCACHE_PROGRAM ccache)
mark_as_advanced(CCACHE_PROGRAM)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(sloppiness pch_defines,time_macros)
  if(DEFINED ENV{CCACHE_SLOPPINESS})
    string(APPEND sloppiness ",$ENV{CCACHE_SLOPPINESS}")
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND}" -E env "CCACHE_SLOPPINESS=${sloppiness}" "${CCACHE_PROGRAM}")
endif()
# gcc collects garbage from half a gigabyte on: a precompiled header alone is over its own limit, and each collection reads
# all of it.
add_compile_options(
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess;--param=ggc-min-heapsize=524288>"
  "$<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:SHELL:-Xclang -fno-pch-timestamp>")

if(ROOFCAST_ENABLE_SANITIZERS)
  # Without the checks of every pointer that is used, which are a third of the build: AddressSanitizer stops at bad ones.
  set(sanitizers -fsanitize=address,undefined -fno-sanitize=null,alignment,vptr,object-size -fno-sanitize-recover=all)
  # gcc takes what the sanitizers insert for mistakes of the program (uninitialised values, even in
  # std::regex), so that its warnings are left to the other builds.
  add_compile_options(${sanitizers} -fno-omit-frame-pointer $<$<CXX_COMPILER_ID:GNU>:-w>)
  add_link_options(${sanitizers})
endif()

if(ROOFCAST_ENABLE_FUZZERS)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS -fsanitize=fuzzer)
  check_cxx_source_compiles(
    "extern \"C\" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }"
    ROOFCAST_HAS_LIBFUZZER)
  unset(CMAKE_REQUIRED_FLAGS)
  if(NOT ROOFCAST_HAS_LIBFUZZER)
    message(STATUS "Fuzzers: off, ${CMAKE_CXX_COMPILER} has no libFuzzer")
    set(ROOFCAST_ENABLE_FUZZERS OFF)
  endif()
endif()

add_library(roofcast_compile_flags INTERFACE)
target_compile_options(roofcast_compile_flags INTERFACE
  -Wall -Wextra -Wconversion -Wshadow
  $<$<BOOL:${ROOFCAST_ENABLE_WERROR}>:-Werror>
  # Results are byte-identical from machine to machine. Where the target has fused multiply-add
  # (every AArch64, x86-64 with -march), compilers contract a*b+c by default and change the last
  # digit. For the same reason nothing here sets -ffast-math.
  -ffp-contract=off)
