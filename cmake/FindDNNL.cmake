# SPDX-License-Identifier: Apache-2.0
#
# oneDNN: DNNL_FOUND, DNNL_VERSION and the target DNNL::dnnl. Debian's own package configuration cannot be used, because it
# insists on OpenCL's headers, which only oneDNN's GPU engine needs.
find_path(DNNL_INCLUDE_DIR NAMES dnnl.hpp)
find_library(DNNL_LIBRARY NAMES dnnl)
mark_as_advanced(DNNL_INCLUDE_DIR DNNL_LIBRARY)

set(DNNL_VERSION "")
foreach(header dnnl_version.h oneapi/dnnl/dnnl_version.h)
  if(NOT DNNL_VERSION AND DNNL_INCLUDE_DIR AND EXISTS ${DNNL_INCLUDE_DIR}/${header})
    file(READ ${DNNL_INCLUDE_DIR}/${header} text)
    if(text MATCHES "DNNL_VERSION_MAJOR +([0-9]+)")
      set(DNNL_VERSION ${CMAKE_MATCH_1})
      foreach(part MINOR PATCH)
        if(text MATCHES "DNNL_VERSION_${part} +([0-9]+)")
          string(APPEND DNNL_VERSION ".${CMAKE_MATCH_1}")
        endif()
      endforeach()
    endif()
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(DNNL REQUIRED_VARS DNNL_LIBRARY DNNL_INCLUDE_DIR VERSION_VAR DNNL_VERSION)

if(DNNL_FOUND AND NOT TARGET DNNL::dnnl)
  add_library(DNNL::dnnl UNKNOWN IMPORTED)
  set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION ${DNNL_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${DNNL_INCLUDE_DIR})
endif()
