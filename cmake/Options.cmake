# SPDX-License-Identifier: Apache-2.0
# Every switch of the build, and its defaults.

option(ROOFCAST_ENABLE_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(ROOFCAST_ENABLE_BENCHMARKS "Build roofcast_bench from tests/perf" OFF)
option(ROOFCAST_ENABLE_WERROR "Treat compiler warnings as errors" OFF)
option(ROOFCAST_ENABLE_SANITIZERS "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(ROOFCAST_ENABLE_FUZZERS "Build the fuzzers of tests/fuzz where the compiler has libFuzzer" OFF)
option(ROOFCAST_STATIC "Link a program that needs no library" OFF)
option(ROOFCAST_ENABLE_PYTHON "Build the Python module of cli/python" OFF)
option(ROOFCAST_UNITY_BUILD "Compile the files of several rooms at once: faster as a whole, slower after a small change" ON)
option(ROOFCAST_ENABLE_CUDA "Build roofcast-bench where CUDA is found" ON)
set(ROOFCAST_DATA "" CACHE PATH "Measured tables that the tests read; empty: calibrate/measurements")
set(ROOFCAST_ECHARTS_JS "" CACHE FILEPATH "A local echarts.min.js; empty: fetched")

get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(PROJECT_IS_TOP_LEVEL AND NOT multi_config AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()
