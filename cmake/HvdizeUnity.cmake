# SPDX-License-Identifier: Apache-2.0
#
# Compiling several sources at once (CMAKE_UNITY_BUILD, which scripts/test.sh and scripts/demo.sh ask for) takes half the time of compiling
# them one by one: most of it goes into headers. Names local to a file must then be unique within a library. Plain builds, which compile less
# after an edit, do not need that, so an error that only a unity build shows is a name that stands in two files.
if(CMAKE_UNITY_BUILD AND NOT DEFINED CMAKE_UNITY_BUILD_BATCH_SIZE)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
endif()

# Headers that cost more than the sources of the target: read once, by precompiling them or by compiling all sources at once.
function(hvdize_heavy_headers target)
  if(CMAKE_UNITY_BUILD)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 0)
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()
