# SPDX-License-Identifier: Apache-2.0
#
#   hvdize_target(<target> [BATCH global|per-rank] [LR_SCALING auto|linear|sqrt|none] [OPTIONS <option>...] [SOURCES <file>...])
#
# Turns an executable or library target with sequential sources into its distributed form: at build time every C++ source is
# rewritten by hvdize with the flags it is compiled with, the result is compiled in its place, and hvdize::runtime is linked; for a
# target that links LibTorch, hvdize::torch.
# SOURCES names the sources to rewrite when that is not all of them. A source is rewritten again when it, a header that it
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
  set(${out}
      -std=c++${standard}
      "$<$<BOOL:${dirs}>:-I$<JOIN:$<FILTER:${dirs},EXCLUDE,^$>,$<SEMICOLON>-I>>"
      "$<$<BOOL:${system_dirs}>:-isystem$<JOIN:${system_dirs},$<SEMICOLON>-isystem>>"
      "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},$<SEMICOLON>-D>>"
      PARENT_SCOPE)
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
    target_link_libraries(${target} PRIVATE hvdize::torch)
    _hvdize_parse_flags(${target} 17 flags)
  else()
    target_link_libraries(${target} PRIVATE hvdize::runtime)
    _hvdize_parse_flags(${target} 20 flags)
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(source_dir ${target} SOURCE_DIR)
  set(kept "")
  foreach(source IN LISTS sources)
    if(NOT source MATCHES "\\.(cpp|cc|cxx|c\\+\\+)$" OR (arg_SOURCES AND NOT source IN_LIST arg_SOURCES))
      list(APPEND kept ${source})
      continue()
    endif()
    get_filename_component(input ${source} ABSOLUTE BASE_DIR ${source_dir})
    file(RELATIVE_PATH below ${source_dir} ${input})
    string(REPLACE "../" "up/" below "${below}")
    set(output ${CMAKE_CURRENT_BINARY_DIR}/hvdize/${target}/${below})
    get_filename_component(output_dir ${output} DIRECTORY)
    file(MAKE_DIRECTORY ${output_dir})
    get_filename_component(input_dir ${input} DIRECTORY)
    add_custom_command(
      OUTPUT ${output}
      # A refused rewrite leaves nothing behind, and an older result must not be taken for the new one.
      COMMAND ${CMAKE_COMMAND} -E rm -f ${output}
      COMMAND ${tool} ${input} -o ${output} --quiet --depfile=${output}.d ${options} -- "${flags}"
      DEPENDS ${input} ${tool_depends}
      DEPFILE ${output}.d
      COMMAND_EXPAND_LISTS VERBATIM
      COMMENT "Distributing ${source} for ${target}")
    # #include "x.h" of the author's file finds its neighbours, as it did beside the original.
    set_source_files_properties(${output} PROPERTIES COMPILE_OPTIONS "-iquote;${input_dir}")
    list(APPEND kept ${output})
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${kept}")
endfunction()
