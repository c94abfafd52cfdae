# SPDX-License-Identifier: Apache-2.0
# Sets ROOFCAST_COMMIT: `git describe` of a checkout when it was configured, empty for sources without
# Git, whose builds are then the same everywhere.

set(ROOFCAST_COMMIT "")
find_package(Git QUIET)
if(Git_FOUND AND EXISTS "${PROJECT_SOURCE_DIR}/.git")
  execute_process(
    COMMAND "${GIT_EXECUTABLE}" describe --always --tags --dirty
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    OUTPUT_VARIABLE ROOFCAST_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
