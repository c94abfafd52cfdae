# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts below the prefix:
#
#   bin/roofcast                        the program, its manual page, its completions, licence and examples
#   include/roofcast/estimate.hpp       the interface: <roofcast/estimate.hpp>, ...
#   lib/cmake/roofcast                  find_package(roofcast): roofcast::roofcast
#   share/roofcast/measurements         the measured tables, which `roofcast calibrate` reads
#   lib/python3.x/dist-packages         the Python module, where it is built (cli/python)

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS roofcast RUNTIME)
install(FILES LICENSE NOTICE README.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY docs/ DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs" FILES_MATCHING PATTERN "*.md")
install(DIRECTORY examples DESTINATION "${CMAKE_INSTALL_DOCDIR}")
# Where calibrate/platforms/measurements.hpp looks, whatever CMAKE_INSTALL_DATADIR is.
install(DIRECTORY calibrate/measurements DESTINATION share/roofcast PATTERN .gitattributes EXCLUDE)

# The program writes its manual and completions itself.
# roofcast_write(<file> <destination> <argument>...)
function(roofcast_write file destination)
  set(output "${PROJECT_BINARY_DIR}/share/${file}")
  add_custom_command(OUTPUT "${output}" COMMAND roofcast ${ARGN} > "${output}"
                     DEPENDS roofcast VERBATIM)
  set_property(GLOBAL APPEND PROPERTY roofcast_written "${output}")
  install(FILES "${output}" DESTINATION "${CMAKE_INSTALL_DATADIR}/${destination}")
endfunction()
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/share")
roofcast_write(roofcast.1 man/man1 man)
roofcast_write(roofcast bash-completion/completions completion bash)
roofcast_write(_roofcast zsh/site-functions completion zsh)
roofcast_write(roofcast.fish fish/vendor_completions.d completion fish)
get_property(written GLOBAL PROPERTY roofcast_written)
add_custom_target(roofcast_share ALL DEPENDS ${written})

# A package cannot be found by others that links libraries which only this build tree has.
if(ROOFCAST_STATIC)
  return()
endif()
foreach(package IN ITEMS yaml-cpp fmt)
  if(package IN_LIST ROOFCAST_FETCHED)
    message(STATUS "${package} was fetched, not found: only the program is installed, no libraries")
    return()
  endif()
endforeach()

target_include_directories(roofcast_sim INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
foreach(layer IN ITEMS base hardware workloads models sim)
  install(TARGETS roofcast_${layer} EXPORT roofcast ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endforeach()
install(DIRECTORY sim/interface/roofcast DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

set(ROOFCAST_INSTALLS_LIBRARIES ON)  # so that the tests try them
set(package_files "${CMAKE_INSTALL_LIBDIR}/cmake/roofcast")
install(EXPORT roofcast NAMESPACE roofcast:: FILE roofcast-targets.cmake
        DESTINATION "${package_files}")
configure_package_config_file(cmake/roofcast-config.cmake.in roofcast-config.cmake
                              INSTALL_DESTINATION "${package_files}")
write_basic_package_version_file(roofcast-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/roofcast-config.cmake"
              "${PROJECT_BINARY_DIR}/roofcast-config-version.cmake"
        DESTINATION "${package_files}")
