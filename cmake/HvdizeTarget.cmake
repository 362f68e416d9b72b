# SPDX-License-Identifier: Apache-2.0
#
#   hvdize_target(<target> [BATCH global|per-rank] [LR_SCALING auto|linear|sqrt|none] [OPTIONS <option>...] [SOURCES <file>...])
#
# Turns an executable target with sequential sources into its distributed form: at build time its C++ sources are rewritten by hvdize,
# all together, with the flags they are compiled with; the result, with the headers that change, is compiled in their place, and
# hvdize::runtime is linked; for a target that links LibTorch, hvdize::torch.
# SOURCES names the sources to rewrite when that is not all of them. They are rewritten again when one of them, a header that one
# includes, hvdize itself or a flag has changed. OPTIONS go to hvdize as they are, for example OPTIONS --sync-bn.

# The flags that decide how a source of the target is parsed, as a list of generator expressions.
function(_hvdize_parse_flags target default_standard out)
  set(dirs $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  set(system_dirs $<TARGET_PROPERTY:${target},SYSTEM_INCLUDE_DIRECTORIES>)
  set(definitions $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
  get_target_property(standard ${target} CXX_STANDARD)
  if(NOT standard)
    set(standard ${default_standard})
  endif()
  # What a library asks of its users counts for them too, as it does when they are compiled.
  if(default_standard GREATER standard)
    set(standard ${default_standard})
  endif()
  set(${out}
      -std=c++${standard}
      "$<$<BOOL:${dirs}>:-I$<JOIN:$<FILTER:${dirs},EXCLUDE,^$>,$<SEMICOLON>-I>>"
      "$<$<BOOL:${system_dirs}>:-isystem$<JOIN:${system_dirs},$<SEMICOLON>-isystem>>"
      "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},$<SEMICOLON>-D>>"
      PARENT_SCOPE)
endfunction()

# The deepest folder that holds all of the files.
function(_hvdize_common_folder out folder)
  foreach(file IN LISTS ARGN)
    string(FIND "${file}" "${folder}/" at)
    while(NOT at EQUAL 0)
      get_filename_component(folder ${folder} DIRECTORY)
      string(FIND "${file}" "${folder}/" at)
      if(folder STREQUAL "/")
        set(at 0)
      endif()
    endwhile()
  endforeach()
  set(${out} ${folder} PARENT_SCOPE)
endfunction()

# The precompiled headers of a target as flags. The target's own headers are refused: their old form would be read in front of the rewritten
# sources, and hide the new one.
function(_hvdize_precompiled target out)
  set(flags "")
  get_target_property(headers ${target} PRECOMPILE_HEADERS)
  get_target_property(reused ${target} PRECOMPILE_HEADERS_REUSE_FROM)
  foreach(header IN LISTS headers)
    if(header AND NOT header MATCHES "^<(.+)>$")
      message(FATAL_ERROR "hvdize_target(${target}): it precompiles '${header}', which hvdize may change: precompile only headers in <>, or build it with hvdize-c++")
    elseif(header)
      list(APPEND flags -include ${CMAKE_MATCH_1})
    endif()
  endforeach()
  if(reused)
    message(FATAL_ERROR "hvdize_target(${target}): it reuses the precompiled headers of '${reused}': give it its own (in <>), or build it with hvdize-c++")
  endif()
  set(${out} ${flags} PARENT_SCOPE)
endfunction()

# Whichever signature of target_link_libraries the author used: CMake allows no mixture.
function(_hvdize_link target library)
  set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES ${library})
endfunction()

function(hvdize_target target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "BATCH;LR_SCALING" "OPTIONS;SOURCES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "hvdize_target(${target}): unknown argument '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "hvdize_target: there is no target '${target}'")
  endif()

  # In hvdize's own build the tool is a target; in the installed package it is a file.
  if(TARGET hvdize)
    set(tool $<TARGET_FILE:hvdize>)
    set(tool_depends hvdize)
  elseif(EXISTS "${HVDIZE_EXECUTABLE}")
    set(tool ${HVDIZE_EXECUTABLE})
    set(tool_depends ${HVDIZE_EXECUTABLE})
  else()
    message(FATAL_ERROR "hvdize_target(${target}): this hvdize package was built without the program hvdize (HVDIZE_BUILD_TOOL=OFF)")
  endif()

  set(options ${arg_OPTIONS})
  if(arg_BATCH)
    list(APPEND options --batch=${arg_BATCH})
  endif()
  if(arg_LR_SCALING)
    list(APPEND options --lr-scaling=${arg_LR_SCALING})
  endif()

  # LibTorch's own headers decide what standard its programs are written in; the training core is C++20.
  get_target_property(libraries ${target} LINK_LIBRARIES)
  if(libraries MATCHES "(^|;)(torch|torch_library|[^;]*libtorch[^;]*)(;|$)")
    # LibTorch may have been found after hvdize.
    if(NOT TARGET hvdize::torch AND TARGET torch AND EXISTS "${HVDIZE_TORCH_TARGETS}")
      include(${HVDIZE_TORCH_TARGETS})
    endif()
    if(NOT TARGET hvdize::torch)
      message(FATAL_ERROR "hvdize_target(${target}): it links LibTorch, but this hvdize was built without it (HVDIZE_WITH_TORCH)")
    endif()
    _hvdize_link(${target} hvdize::torch)
    get_target_property(features torch INTERFACE_COMPILE_FEATURES)
    set(standard 17)
    if(features MATCHES "cxx_std_(2[0-9])")
      set(standard ${CMAKE_MATCH_1})
    endif()
    _hvdize_parse_flags(${target} ${standard} flags)
  else()
    _hvdize_link(${target} hvdize::runtime)
    _hvdize_parse_flags(${target} 20 flags)
  endif()
  _hvdize_precompiled(${target} precompiled)
  list(APPEND flags ${precompiled})
  get_target_property(sources ${target} SOURCES)
  get_target_property(source_dir ${target} SOURCE_DIR)
  set(kept "")
  set(inputs "")
  foreach(source IN LISTS sources)
    if(NOT source MATCHES "\\.(cpp|cc|cxx|c\\+\\+)$" OR (arg_SOURCES AND NOT source IN_LIST arg_SOURCES))
      list(APPEND kept ${source})
      continue()
    endif()
    get_filename_component(input ${source} ABSOLUTE BASE_DIR ${source_dir})
    list(APPEND inputs ${input})
  endforeach()
  if(NOT inputs)
    message(FATAL_ERROR "hvdize_target(${target}): no C++ source to rewrite")
  endif()
  _hvdize_common_folder(root ${source_dir} ${inputs})

  set(output_root ${CMAKE_CURRENT_BINARY_DIR}/hvdize/${target})
  set(outputs "")
  set(folders "")
  foreach(input IN LISTS inputs)
    file(RELATIVE_PATH below ${root} ${input})
    list(APPEND outputs ${output_root}/${below})
    get_filename_component(folder ${input} DIRECTORY)
    # #include "x.h" of the author's file finds its neighbours, as it did beside the original; a rewritten header finds them from the root.
    set_source_files_properties(${output_root}/${below} PROPERTIES COMPILE_OPTIONS "-iquote;${folder};-iquote;${root}")
  endforeach()
  list(GET outputs 0 first)
  file(MAKE_DIRECTORY ${output_root})
  list(JOIN inputs " " shown)
  string(REPLACE "${root}/" "" shown "${shown}")
  add_custom_command(
    OUTPUT ${outputs}
    # A refused rewrite leaves nothing behind, and an older result must not be taken for the new one: not that of a header either, which no
    # longer changes and would hide the author's.
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${output_root}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${output_root}
    COMMAND ${tool} ${inputs} --out-root ${output_root} --quiet --depfile=${first}.d ${options} -- "${flags}"
    DEPENDS ${inputs} ${tool_depends}
    DEPFILE ${first}.d
    WORKING_DIRECTORY ${root}
    COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Distributing ${shown} for ${target}")
  list(APPEND kept ${outputs})
  set_target_properties(${target} PROPERTIES SOURCES "${kept}")
endfunction()
