# SPDX-License-Identifier: Apache-2.0
#
# What belongs to the installed package besides programs and libraries (pkg-config files, manual pages, completion), and Debian packages:
# `cpack -G DEB` in the build folder makes hvdize (the tools), libhvd (the runtime that distributed programs load), libhvd-torch and libhvd-cuda
# where they were built, and libhvd-dev.
set(hvdize_packaging ${PROJECT_SOURCE_DIR}/cmake/packages)

# hvdize_pkg_config(<suffix> <description> <requires> <libs> [<cflags>])
function(hvdize_pkg_config hvdize_pc_suffix hvdize_pc_description hvdize_pc_requires hvdize_pc_libs)
  string(JOIN " " hvdize_pc_cflags "" ${ARGN})
  file(RELATIVE_PATH hvdize_pc_up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  configure_file(${hvdize_packaging}/hvdize.pc.in ${PROJECT_BINARY_DIR}/hvdize${hvdize_pc_suffix}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/hvdize${hvdize_pc_suffix}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endfunction()

if(TARGET hvdize::runtime)
  hvdize_pkg_config("" "Training core and communication for programs that hvdize distributes" "" "-lhvd_runtime")
endif()
if(TARGET hvdize::torch)
  # LibTorch has no .pc file of its own: its folders are those that this build has found.
  set(hvdize_torch_libs -lhvd_torch -ltorch -ltorch_cpu -lc10)
  set(hvdize_torch_cflags)
  if(TARGET torch_cuda)  # nothing refers to it by name: its operations register themselves when it is loaded
    list(APPEND hvdize_torch_libs -Wl,--no-as-needed -ltorch_cuda -lc10_cuda -Wl,--as-needed)
  endif()
  if(NOT TORCH_INSTALL_PREFIX STREQUAL "/usr")
    list(INSERT hvdize_torch_libs 1 -L${TORCH_INSTALL_PREFIX}/lib)
  endif()
  foreach(folder ${TORCH_INCLUDE_DIRS})
    get_filename_component(folder ${folder} REALPATH)
    if(NOT folder STREQUAL "/usr/include")
      list(APPEND hvdize_torch_cflags -I${folder})
    endif()
  endforeach()
  string(JOIN " " hvdize_torch_libs ${hvdize_torch_libs})
  hvdize_pkg_config("-torch" "LibTorch programs that hvdize distributes" "hvdize" "${hvdize_torch_libs}" ${hvdize_torch_cflags})
endif()

# hvdize_manual(<target> <summary> [<option that prints its help>])
function(hvdize_manual target summary)
  if(NOT TARGET ${target})
    return()
  endif()
  set(option --help)
  if(ARGC GREATER 2)
    set(option ${ARGV2})
  endif()
  set(page ${PROJECT_BINARY_DIR}/man/${target}.1)
  add_custom_command(
    OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${target}> -DOPTION=${option} -DNAME=${target} "-DSUMMARY=${summary}" -DVERSION=${PROJECT_VERSION}
            -DOUT=${page} -P ${hvdize_packaging}/man.cmake
    DEPENDS ${target} ${hvdize_packaging}/man.cmake
    VERBATIM
    COMMENT "Writing the manual page of ${target}")
  set_property(GLOBAL APPEND PROPERTY hvdize_manuals ${page})
  # Absent where only some targets were built.
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tool OPTIONAL)
endfunction()

hvdize_manual(hvdize "writes the distributed form of a sequential training program")
hvdize_manual(hvdize-c++ "a C++ compiler that makes distributed training programs" --hvdize-help)
hvdize_manual(hvd-run "starts a program as several ranks on this machine")
hvdize_manual(hvd-verify "compares a distributed program with the sequential one")
hvdize_manual(hvd-trace "reads the traces of distributed programs")
hvdize_manual(hvd-tune "measures which way of summing over ranks is the quickest on this machine")
get_property(manuals GLOBAL PROPERTY hvdize_manuals)
add_custom_target(manuals ALL DEPENDS ${manuals})

foreach(program hvdize hvdize-c++ hvd-run hvd-verify hvd-trace hvd-tune)
  if(TARGET ${program})
    install(FILES ${hvdize_packaging}/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${program} COMPONENT tool)
    install(FILES ${hvdize_packaging}/completion.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME ${program}.fish COMPONENT tool)
  endif()
endforeach()
# Debian's zsh looks into another folder than zsh itself.
foreach(folder site-functions vendor-completions)
  if(TARGET hvdize)
    install(FILES ${hvdize_packaging}/completion.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${folder} RENAME _hvdize COMPONENT tool)
  endif()
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hvdize)
set(CPACK_PACKAGE_VENDOR "hvdize")
set(CPACK_PACKAGE_CONTACT "The hvdize authors <hvdize@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Distributed data-parallel training from sequential C++ programs")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL tool runtime dev)
foreach(part torch cuda)  # packages of their own: who has neither needs neither
  if(TARGET hvd_${part})
    string(TOUPPER ${part} name)
    list(APPEND CPACK_COMPONENTS_ALL ${part})
    set(CPACK_DEBIAN_${name}_PACKAGE_NAME libhvd-${part})
    set(CPACK_DEBIAN_${name}_PACKAGE_SECTION libs)
    set(CPACK_DEBIAN_${name}_PACKAGE_DEPENDS "libhvd (= ${PROJECT_VERSION})")  # torch: headers and CMake's files, too
  endif()
endforeach()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
# Libraries that a package needs, found in its programs; its own are in the other packages.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOL_PACKAGE_NAME hvdize)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libhvd)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libhvd-dev)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
# What hvdize writes is compiled with the headers; a parse needs Clang's own ones.
set(CPACK_DEBIAN_TOOL_PACKAGE_DEPENDS "libhvd-dev (= ${PROJECT_VERSION}), libclang-common-19-dev, g++")
# OpenBLAS is loaded when a program starts, where it is installed.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "libopenblas0-pthread")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libhvd (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_TOOL_DESCRIPTION "The compiler hvdize, the wrapper hvdize-c++, hvd-run, hvd-verify, hvd-trace and hvd-tune")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "What distributed programs load: training core, communication")
set(CPACK_COMPONENT_TORCH_DESCRIPTION "The binding for distributed LibTorch programs")
set(CPACK_COMPONENT_CUDA_DESCRIPTION "The training core on CUDA devices")
set(CPACK_COMPONENT_DEV_DESCRIPTION "Headers, and files for CMake and pkg-config")
include(CPack)
