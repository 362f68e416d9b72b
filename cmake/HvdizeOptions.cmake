# SPDX-License-Identifier: Apache-2.0
#
# What can be chosen, what was found, and what follows from it.
#
# HVDIZE_WITH_<X> is what was asked for (AUTO: use it when found; ON: an error when missing; OFF: never);
# HVDIZE_HAVE_<X> is what the build uses.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# One place for binaries and one for libraries; the relation of the two survives installation.
include(GNUInstallDirs)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
# LLVM may live outside of the standard folders.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

option(HVDIZE_BUILD_TOOL "Build the compiler hvdize (needs LLVM and Clang 19)" ON)
option(HVDIZE_BUILD_EXAMPLES "Build the example trainers, sequential and distributed" ON)
option(HVDIZE_BUILD_TESTS "Build the tests (needs GoogleTest)" ON)
option(HVDIZE_FUZZ "Link the fuzz targets with libFuzzer (needs Clang; see scripts/fuzz.sh)" OFF)
option(HVDIZE_WERROR "Treat warnings as errors" OFF)

foreach(feature CUDA JPEG MPI ONEDNN PNG TORCH)
  set(HVDIZE_WITH_${feature} AUTO CACHE STRING "Use ${feature}: AUTO, ON or OFF")
  set_property(CACHE HVDIZE_WITH_${feature} PROPERTY STRINGS AUTO ON OFF)
endforeach()

add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra>")
if(HVDIZE_WERROR)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Werror>")
endif()

include(HvdizeDependencies)
include(HvdizeSummary)
