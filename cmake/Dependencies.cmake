# SPDX-License-Identifier: Apache-2.0
# Third-party libraries: the installed package where there is one that is new enough, otherwise the
# pinned release from its repository.

include(FetchContent)

# roofcast_dependency(<package> <minimum version> <target> <repository> <tag>)
# Afterwards <target> exists, and its headers count as system headers (no warnings from them).
# ROOFCAST_FETCHED lists the packages that were fetched.
macro(roofcast_dependency package version target repository tag)
  find_package(${package} ${version} QUIET)
  if(NOT ${package}_FOUND)
    list(APPEND ROOFCAST_FETCHED ${package})
    message(STATUS "${package} ${version} or newer is not installed: fetching ${tag}")
    FetchContent_Declare(${package} GIT_REPOSITORY ${repository} GIT_TAG ${tag} GIT_SHALLOW ON)
    FetchContent_MakeAvailable(${package})
    get_target_property(aliased ${target} ALIASED_TARGET)
    if(NOT aliased)
      set(aliased ${target})
    endif()
    set_target_properties(${aliased} PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES
      "$<TARGET_PROPERTY:${aliased},INTERFACE_INCLUDE_DIRECTORIES>")
  endif()
endmacro()

# Packages have static libraries beside the others, which their CMake files do not name; of {fmt} the headers do.
if(ROOFCAST_STATIC)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  find_library(yaml_cpp_library yaml-cpp REQUIRED)
  add_library(yaml-cpp::yaml-cpp STATIC IMPORTED)
  set_target_properties(yaml-cpp::yaml-cpp PROPERTIES IMPORTED_LOCATION "${yaml_cpp_library}")
  set(roofcast_fmt fmt::fmt-header-only)
else()
  set(YAML_CPP_BUILD_TOOLS OFF CACHE BOOL "")
  set(YAML_CPP_BUILD_TESTS OFF CACHE BOOL "")
  roofcast_dependency(yaml-cpp 0.7 yaml-cpp https://github.com/jbeder/yaml-cpp yaml-cpp-0.9.0)
  set(roofcast_fmt fmt::fmt)
endif()
if(NOT TARGET yaml-cpp::yaml-cpp)  # the name since 0.8
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

roofcast_dependency(fmt 9 ${roofcast_fmt} https://github.com/fmtlib/fmt 10.2.1)
roofcast_dependency(CLI11 2.1 CLI11::CLI11 https://github.com/CLIUtils/CLI11 v2.4.2)
roofcast_dependency(nlohmann_json 3.10 nlohmann_json::nlohmann_json
                    https://github.com/nlohmann/json v3.11.3)
if(ROOFCAST_ENABLE_TESTS)
  roofcast_dependency(Catch2 2.13 Catch2::Catch2 https://github.com/catchorg/Catch2 v3.7.1)
endif()

roofcast_dependency(Eigen3 3.4 Eigen3::Eigen https://gitlab.com/libeigen/eigen.git 3.4.0)

# The Python that has NumPy is the distribution's, which need not be the first on the PATH. -D Python3_EXECUTABLE=…
# chooses another one.
if(ROOFCAST_ENABLE_PYTHON)
  find_program(first_python python3)
  foreach(python IN ITEMS "${first_python}" /usr/bin/python3)
    if(NOT Python3_EXECUTABLE AND EXISTS "${python}")
      execute_process(COMMAND "${python}" -c "import numpy" RESULT_VARIABLE lacks OUTPUT_QUIET ERROR_QUIET)
      if(lacks EQUAL 0)
        set(Python3_EXECUTABLE "${python}" CACHE FILEPATH "The Python of the module")
      endif()
    endif()
  endforeach()
  find_package(Python3 REQUIRED COMPONENTS Interpreter Development.Module)
  roofcast_dependency(pybind11 2.10 pybind11::module https://github.com/pybind/pybind11 v2.13.6)
endif()

find_package(ZLIB REQUIRED)
find_library(zstd_library zstd REQUIRED)  # its package has no CMake files
find_path(zstd_headers zstd.h REQUIRED)
mark_as_advanced(zstd_library zstd_headers)
find_package(Threads REQUIRED)
