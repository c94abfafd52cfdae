# SPDX-License-Identifier: Apache-2.0
# The Debian package: what `cmake --install` puts below /usr. scripts/package builds and checks it.

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
install(FILES cmake/packaging/copyright DESTINATION "${CMAKE_INSTALL_DOCDIR}")

set(CPACK_GENERATOR DEB)
# All but roofcast-bench, whose CUDA is no package of Debian.
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};${PROJECT_NAME};Unspecified;/")
set(CPACK_PACKAGE_CONTACT "roofcast maintainers <maintainers@roofcast.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "Latency, throughput, cost, memory and energy of serving, training and agents on GPUs that exist or do not.
The package has the program, its manual and completions, the C++ library, the Python module and the measured tables
that parameters were fitted to.")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libyaml-cpp-dev, libfmt-dev, zlib1g-dev, libzstd-dev")  # of the library
if(ROOFCAST_ENABLE_PYTHON)
  math(EXPR next_minor "${Python3_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
    "python3 (>= 3.${Python3_VERSION_MINOR}), python3 (<< 3.${next_minor}), python3-numpy, python3-pandas")
endif()
include(CPack)
