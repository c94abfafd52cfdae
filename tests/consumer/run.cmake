# SPDX-License-Identifier: Apache-2.0
# Installs ROOFCAST_BUILD into an empty prefix, builds the consumer against it and compares its TPOT of
# SCENARIO with that of the installed program.
#   cmake -D ROOFCAST_BUILD=… -D CONFIG=… -D WORK=… -D SCENARIO=… -D GENERATOR=… -D CXX=… -P run.cmake
cmake_minimum_required(VERSION 3.22)

set(prefix "${WORK}/prefix")
file(REMOVE_RECURSE "${WORK}")

function(run output)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE err
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${out}\n${err}")
  endif()
  set(${output} "${out}" PARENT_SCOPE)
endfunction()

run(ignored "${CMAKE_COMMAND}" --install "${ROOFCAST_BUILD}" --config "${CONFIG}" --prefix "${prefix}")
foreach(file bin/roofcast share/man/man1/roofcast.1 share/doc/roofcast/LICENSE
        share/bash-completion/completions/roofcast share/zsh/site-functions/_roofcast
        share/fish/vendor_completions.d/roofcast.fish)
  file(SIZE "${prefix}/${file}" size)
  if(size EQUAL 0)
    message(FATAL_ERROR "${file} is empty")
  endif()
endforeach()

run(ignored "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${WORK}/build" -G "${GENERATOR}"
    "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_BUILD_TYPE=${CONFIG}")
run(ignored "${CMAKE_COMMAND}" --build "${WORK}/build" --config "${CONFIG}")
find_program(consumer consumer PATHS "${WORK}/build" "${WORK}/build/${CONFIG}" NO_DEFAULT_PATH REQUIRED)
run(from_library "${consumer}" "${SCENARIO}")

run(csv "${prefix}/bin/roofcast" estimate "${SCENARIO}" --format csv)
string(REPLACE "," ";" csv "${csv}")
string(REPLACE "\n" ";" csv "${csv}")
list(LENGTH csv cells)
math(EXPR columns "${cells} / 2")
list(FIND csv tpot_mean_s column)
math(EXPR column "${column} + ${columns}")
list(GET csv ${column} from_program)
if(NOT from_library STREQUAL from_program)
  message(FATAL_ERROR "TPOT by the library ${from_library}, by the program ${from_program}")
endif()
message(STATUS "TPOT ${from_library} s")
