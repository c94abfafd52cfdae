# SPDX-License-Identifier: Apache-2.0
# Apache ECharts (Apache-2.0) draws the charts of the HTML report and is written into it, so that a
# report opens without a network. One pinned file, fetched at configure time, never committed.
# Sets ROOFCAST_ECHARTS_FILE.

set(echarts_version 5.6.0)
set(echarts_sha256 bf4a223524e40b77c304bec67e1222cf551f14880cf42c69dc046558e11c07b1)

# By npm where it is installed, else by git: Debian's npm is 371 packages.
function(roofcast_fetch_echarts destination)
  find_program(NPM_PROGRAM npm)
  find_package(Git QUIET)
  mark_as_advanced(NPM_PROGRAM)
  message(STATUS "Fetching echarts ${echarts_version}")
  get_filename_component(directory "${destination}" DIRECTORY)
  set(package "${directory}/package")
  set(file dist/echarts.min.js)
  file(REMOVE_RECURSE "${package}")
  file(MAKE_DIRECTORY "${package}")
  if(NPM_PROGRAM)
    execute_process(
      COMMAND "${NPM_PROGRAM}" pack echarts@${echarts_version} --silent
      WORKING_DIRECTORY "${directory}"
      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE reason)
    set(archive "${directory}/echarts-${echarts_version}.tgz")
    if(NOT failed)
      file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${directory}" PATTERNS package/${file})
      file(REMOVE "${archive}")
    endif()
  else()  # of the repository, the one file of the one release
    execute_process(
      COMMAND "${GIT_EXECUTABLE}" clone --quiet --depth 1 --filter=blob:none --no-checkout
              --branch ${echarts_version} https://github.com/apache/echarts "${package}"
      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE reason)
    if(NOT failed)
      execute_process(COMMAND "${GIT_EXECUTABLE}" -C "${package}" checkout --quiet HEAD -- ${file}
                      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE reason)
    endif()
  endif()
  if(failed)
    message(FATAL_ERROR
      "The HTML report needs Apache ECharts ${echarts_version}, and neither npm (Debian, Ubuntu: apt-get install npm) nor "
      "git fetched it. Without a network, hand over the file: -DROOFCAST_ECHARTS_JS=/path/to/echarts.min.js (dist/ of the "
      "npm package).\n${reason}")
  endif()
  file(RENAME "${package}/${file}" "${destination}")
  file(REMOVE_RECURSE "${package}")
endfunction()

if(ROOFCAST_ECHARTS_JS)
  set(ROOFCAST_ECHARTS_FILE "${ROOFCAST_ECHARTS_JS}")
else()
  set(ROOFCAST_ECHARTS_FILE
      "${PROJECT_BINARY_DIR}/third_party/echarts-${echarts_version}/echarts.min.js")
  if(NOT EXISTS "${ROOFCAST_ECHARTS_FILE}")
    roofcast_fetch_echarts("${ROOFCAST_ECHARTS_FILE}")
  endif()
endif()

file(SHA256 "${ROOFCAST_ECHARTS_FILE}" found_sha256)
if(NOT found_sha256 STREQUAL echarts_sha256)
  message(FATAL_ERROR
    "${ROOFCAST_ECHARTS_FILE} is not echarts.min.js of ${echarts_version}: its SHA-256 is "
    "${found_sha256}, expected ${echarts_sha256}")
endif()
