# SPDX-License-Identifier: Apache-2.0
#
# `cmake --install` writes a relocatable package: find_package(hvdize) gives hvdize::runtime, hvdize::torch and hvdize_target().
include(CMakePackageConfigHelpers)

set(hvdize_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hvdize)

if(TARGET hvdize::runtime)
  get_target_property(hvdize_runtime_target hvdize::runtime ALIASED_TARGET)
  set_target_properties(${hvdize_runtime_target} PROPERTIES EXPORT_NAME runtime)
  install(TARGETS ${hvdize_runtime_target} EXPORT hvdizeTargets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
          RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/hvd DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
  if(TARGET hvd_cuda)  # loaded by the runtime, which looks beside itself
    install(TARGETS hvd_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cuda)
  endif()
  install(EXPORT hvdizeTargets NAMESPACE hvdize:: DESTINATION ${hvdize_package_dir} COMPONENT dev)
endif()

# The LibTorch binding is a set of its own: only who has LibTorch can take it in.
if(TARGET hvdize::torch)
  install(TARGETS hvd_torch EXPORT hvdizeTorchTargets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT torch
          RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT torch
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/torch/include/hvd DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT torch)
  install(EXPORT hvdizeTorchTargets NAMESPACE hvdize:: DESTINATION ${hvdize_package_dir} COMPONENT torch)
endif()

foreach(program hvdize hvdize-c++ hvd-verify hvd-run hvd-trace hvd-tune)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
  endif()
endforeach()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/hvdizeConfig.cmake.in ${PROJECT_BINARY_DIR}/hvdizeConfig.cmake
                              INSTALL_DESTINATION ${hvdize_package_dir} PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hvdizeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hvdizeConfig.cmake ${PROJECT_BINARY_DIR}/hvdizeConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/HvdizeTarget.cmake
        DESTINATION ${hvdize_package_dir} COMPONENT dev)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/hvdize COMPONENT tool)
