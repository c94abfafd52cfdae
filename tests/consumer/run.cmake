# SPDX-License-Identifier: Apache-2.0
# Installs ROOFCAST_BUILD into an empty prefix, builds the consumer against it and compares what it says of
# SCENARIO with what the installed program says. Only the interface's headers are installed. The installed program
# reads the installed measurements. PYTHON, unless it is empty, imports the installed module from PYTHON_DIR.
#   cmake -D ROOFCAST_BUILD=… -D CONFIG=… -D WORK=… -D SCENARIO=… -D GENERATOR=… -D CXX=… \
#         -D PYTHON=… -D PYTHON_DIR=… -P run.cmake
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

file(GLOB_RECURSE headers RELATIVE "${prefix}/include" "${prefix}/include/*")
list(SORT headers)
list(TRANSFORM headers REPLACE "^roofcast/(.*)\\.hpp$" "\\1")
if(NOT headers STREQUAL "estimate;metrics;scenario;simulate;sweep")
  message(FATAL_ERROR "installed headers: ${headers}")
endif()

run(ignored "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${WORK}/build" -G "${GENERATOR}"
    "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_BUILD_TYPE=${CONFIG}")
run(ignored "${CMAKE_COMMAND}" --build "${WORK}/build" --config "${CONFIG}")
find_program(consumer consumer PATHS "${WORK}/build" "${WORK}/build/${CONFIG}" NO_DEFAULT_PATH REQUIRED)
run(from_library "${consumer}" "${SCENARIO}")
run(csv "${prefix}/bin/roofcast" estimate "${SCENARIO}" --format csv)

set(ENV{ROOFCAST_DATA} "")
run(validated "${prefix}/bin/roofcast" calibrate validate rl)
file(GLOB_RECURSE manifests "${prefix}/share/roofcast/measurements/*.yaml")
list(LENGTH manifests manifests)
if(NOT validated MATCHES "step: rows=[1-9]" OR manifests LESS 30)
  message(FATAL_ERROR "${manifests} manifests are installed, and the program says\n${validated}")
endif()

# The columns and their cells, and what the library said as said_<name>.
string(REPLACE "," ";" csv "${csv}")
string(REPLACE "\n" ";" csv "${csv}")
list(LENGTH csv cells)
math(EXPR columns "${cells} / 2")
string(REPLACE "\n" ";" lines "${from_library}")
foreach(line IN LISTS lines)
  string(REGEX MATCH "^([^=]+)=(.*)$" matched "${line}")
  list(APPEND said_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
endforeach()

set(compared 0)
math(EXPR last "${columns} - 1")
foreach(column RANGE ${last})
  list(GET csv ${column} name)
  math(EXPR cell "${column} + ${columns}")
  list(GET csv ${cell} from_program)
  if(DEFINED said_${name} AND NOT from_program STREQUAL "")
    if(NOT said_${name} STREQUAL from_program)
      message(FATAL_ERROR "${name} by the library ${said_${name}}, by the program ${from_program}")
    endif()
    math(EXPR compared "${compared} + 1")
  endif()
endforeach()
if(compared LESS 20)
  message(FATAL_ERROR "Only ${compared} metrics are the library's and the program's:\n${from_library}")
endif()
if(NOT "${said_swept}" STREQUAL "${said_tpot_mean_s};${said_crowded}" OR "${said_simulated}" STREQUAL "")
  message(FATAL_ERROR "A sweep says ${said_swept}, estimates say ${said_tpot_mean_s};${said_crowded}")
endif()
if(PYTHON)
  set(ENV{PYTHONPATH} "${prefix}/${PYTHON_DIR}")
  set(ENV{PYTHONDONTWRITEBYTECODE} 1)
  run(by_module "${PYTHON}" -c "import roofcast, sys\nassert roofcast.__file__.startswith(sys.argv[1]), roofcast.__file__\nprint(roofcast.estimate(sys.argv[2]).tpot_mean_s)"
      "${prefix}" "${SCENARIO}")
  if(NOT by_module STREQUAL said_tpot_mean_s)
    message(FATAL_ERROR "TPOT by the module ${by_module}, by the library ${said_tpot_mean_s}")
  endif()
endif()
message(STATUS "${compared} metrics, a sweep and a simulation by the library as by the program")
