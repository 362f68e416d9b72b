# SPDX-License-Identifier: Apache-2.0
#
# Writes OUT, a header with the names of the frameworks' headers and of their folders, from the dialects' tables (TABLES).
set(headers "")
set(folders "")
foreach(table IN LISTS TABLES)
  file(READ ${table} text)
  string(REGEX MATCH "\nreveals: \\[([^]]*)\\]" found "${text}")
  if(NOT found)
    message(FATAL_ERROR "${table} has no line 'reveals: [...]'")
  endif()
  string(REGEX REPLACE " *, *" ";" names "${CMAKE_MATCH_1}")
  list(APPEND headers ${names})
  foreach(name IN LISTS names)
    string(REGEX REPLACE "/.*" "" folder "${name}")
    list(APPEND folders ${folder})
  endforeach()
  if(text MATCHES "\nfolders: \\[([^]]*)\\]")
    string(REGEX REPLACE " *, *" ";" names "${CMAKE_MATCH_1}")
    list(APPEND folders ${names})
  endif()
endforeach()
list(REMOVE_DUPLICATES folders)
string(REPLACE ";" "\", \"" headers "${headers}")
string(REPLACE ";" "\", \"" folders "${folders}")
file(WRITE ${OUT} "// Made from the dialects' tables.
#pragma once
namespace hvdize::wrapper {
inline constexpr const char* kFrameworkHeaders[] = {\"${headers}\"};
inline constexpr const char* kFrameworkFolders[] = {\"${folders}\"};
}  // namespace hvdize::wrapper
")
