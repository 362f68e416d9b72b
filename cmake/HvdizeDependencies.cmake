# SPDX-License-Identifier: Apache-2.0
#
# Finds what is optional and sets HVDIZE_HAVE_CUDA, _CUDNN, _NCCL, _JPEG, _MPI, _ONEDNN, _PNG, _TORCH; what is found comes as imported targets:
#   Threads::Threads, ZLIB::ZLIB, JPEG::JPEG, PNG::PNG, MPI::MPI_CXX, DNNL::dnnl, hvdize_blas (a CBLAS: OpenBLAS), CUDA::cudart_static, CUDA::cublas.
# The runtime links them as $<BUILD_INTERFACE:...>, so that the installed package asks its users for none of them.

foreach(feature CUDA JPEG MPI ONEDNN PNG TORCH)
  if(NOT HVDIZE_WITH_${feature} MATCHES "^(AUTO|ON|OFF|TRUE|FALSE|1|0|YES|NO)$")
    message(FATAL_ERROR "HVDIZE_WITH_${feature}=${HVDIZE_WITH_${feature}}: AUTO, ON or OFF expected")
  endif()
  # "AUTO" is not a true constant of if(); inside this file a feature that may be used reads as true.
  if(HVDIZE_WITH_${feature} STREQUAL "AUTO")
    set(wanted_${feature} ON)
  else()
    set(wanted_${feature} ${HVDIZE_WITH_${feature}})
  endif()
endforeach()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)

# Image files.
set(package_of_JPEG libjpeg62-turbo-dev)
set(package_of_PNG libpng-dev)
foreach(feature JPEG PNG)
  set(HVDIZE_HAVE_${feature} OFF)
  if(wanted_${feature})
    find_package(${feature} QUIET)
    if(${feature}_FOUND)
      set(HVDIZE_HAVE_${feature} ON)
    elseif(HVDIZE_WITH_${feature} STREQUAL "ON")
      message(FATAL_ERROR "HVDIZE_WITH_${feature}=ON, but it was not found: install ${package_of_${feature}}")
    endif()
  endif()
endforeach()

# MPI: Open MPI's launcher is named by its full name where MPICH is installed too.
set(HVDIZE_HAVE_MPI OFF)
if(wanted_MPI)
  set(MPI_CXX_SKIP_MPICXX TRUE CACHE BOOL "The C interface of MPI only")
  find_package(MPI COMPONENTS CXX QUIET)
  find_program(HVDIZE_MPIRUN NAMES mpirun.openmpi mpirun mpiexec DOC "Launcher of MPI programs")
  mark_as_advanced(HVDIZE_MPIRUN)
  if(MPI_CXX_FOUND AND HVDIZE_MPIRUN)
    set(HVDIZE_HAVE_MPI ON)
  elseif(HVDIZE_WITH_MPI STREQUAL "ON")
    message(FATAL_ERROR "HVDIZE_WITH_MPI=ON, but no MPI was found: install libopenmpi-dev and openmpi-bin")
  endif()
endif()

# oneDNN together with a CBLAS: convolutions from the one, matrix products from the other.
set(HVDIZE_HAVE_ONEDNN OFF)
if(wanted_ONEDNN)
  find_package(DNNL MODULE QUIET)
  find_path(HVDIZE_CBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas-pthread openblas-openmp openblas)
  find_library(HVDIZE_CBLAS_LIBRARY openblas)
  mark_as_advanced(HVDIZE_CBLAS_INCLUDE_DIR HVDIZE_CBLAS_LIBRARY)
  if(DNNL_FOUND AND HVDIZE_CBLAS_INCLUDE_DIR AND HVDIZE_CBLAS_LIBRARY)
    set(HVDIZE_HAVE_ONEDNN ON)
    add_library(hvdize_blas INTERFACE IMPORTED GLOBAL)
    set_target_properties(hvdize_blas PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${HVDIZE_CBLAS_INCLUDE_DIR}
                                                 INTERFACE_LINK_LIBRARIES ${HVDIZE_CBLAS_LIBRARY})
  elseif(HVDIZE_WITH_ONEDNN STREQUAL "ON")
    message(FATAL_ERROR "HVDIZE_WITH_ONEDNN=ON, but oneDNN or OpenBLAS was not found: install libdnnl-dev and libopenblas-dev")
  endif()
endif()

# CUDA: nvcc and cuBLAS, and cuDNN beside them where it is. No GPU is needed to build.
set(HVDIZE_HAVE_CUDA OFF)
set(HVDIZE_HAVE_CUDNN OFF)
set(HVDIZE_HAVE_NCCL OFF)
if(wanted_CUDA)
  find_package(CUDAToolkit QUIET)
  if(CUDAToolkit_FOUND AND TARGET CUDA::cublas AND CUDAToolkit_NVCC_EXECUTABLE)
    if(NOT HVDIZE_CUDA_ARCHITECTURES)
      # Every GPU from compute capability 7.5 on runs the intermediate code, which the driver compiles at the first start; Hopper has
      # machine code of its own.
      set(HVDIZE_CUDA_ARCHITECTURES "75-virtual;90-real" CACHE STRING "GPUs to compile for, as CMAKE_CUDA_ARCHITECTURES" FORCE)
    endif()
    set(CMAKE_CUDA_ARCHITECTURES "${HVDIZE_CUDA_ARCHITECTURES}")
    if(NOT CMAKE_CUDA_COMPILER)
      set(CMAKE_CUDA_COMPILER "${CUDAToolkit_NVCC_EXECUTABLE}")
    endif()
    if(NOT CMAKE_CUDA_HOST_COMPILER)
      set(CMAKE_CUDA_HOST_COMPILER "${CMAKE_CXX_COMPILER}")
    endif()
    if(CMAKE_CXX_COMPILER_LAUNCHER AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
      set(CMAKE_CUDA_COMPILER_LAUNCHER "${CMAKE_CXX_COMPILER_LAUNCHER}")
    endif()
    enable_language(CUDA)
    # CMake before 3.26 does not know nvcc's flag for C++20.
    foreach(kind STANDARD EXTENSION)
      if(NOT CMAKE_CUDA20_${kind}_COMPILE_OPTION)
        set(CMAKE_CUDA20_${kind}_COMPILE_OPTION "-std=c++20")
      endif()
    endforeach()
    set(HVDIZE_HAVE_CUDA ON)
    find_path(HVDIZE_CUDNN_INCLUDE_DIR cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
    find_library(HVDIZE_CUDNN_LIBRARY NAMES cudnn libcudnn.so.9 HINTS ${CUDAToolkit_LIBRARY_DIR} PATH_SUFFIXES lib lib64)
    mark_as_advanced(HVDIZE_CUDNN_INCLUDE_DIR HVDIZE_CUDNN_LIBRARY)
    if(HVDIZE_CUDNN_INCLUDE_DIR AND HVDIZE_CUDNN_LIBRARY)
      set(HVDIZE_HAVE_CUDNN ON)
    endif()
    # NCCL is loaded at run time. With its header the build compares the declarations that the runtime goes by.
    find_path(HVDIZE_NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
    mark_as_advanced(HVDIZE_NCCL_INCLUDE_DIR)
    if(HVDIZE_NCCL_INCLUDE_DIR)
      set(HVDIZE_HAVE_NCCL ON)
    endif()
  elseif(HVDIZE_WITH_CUDA STREQUAL "ON")
    message(FATAL_ERROR "HVDIZE_WITH_CUDA=ON, but no CUDA toolkit with nvcc and cuBLAS was found: set CUDAToolkit_ROOT")
  endif()
endif()

set(HVDIZE_HAVE_TORCH OFF)
if(wanted_TORCH)
  find_package(Torch CONFIG QUIET)
  if(Torch_FOUND)
    set(HVDIZE_HAVE_TORCH ON)
    # Its own package takes libraries of another LibTorch that is installed in the system when its root is not searched first.
    string(FIND "${c10_LIBRARY}" "${TORCH_INSTALL_PREFIX}/" at)
    if(NOT at EQUAL 0 AND EXISTS "${TORCH_INSTALL_PREFIX}/lib/libc10.so")
      message(FATAL_ERROR "LibTorch of ${TORCH_INSTALL_PREFIX} with ${c10_LIBRARY}: two versions in one program crash. "
                          "Set CMAKE_PREFIX_PATH to ${TORCH_INSTALL_PREFIX} and start with an empty build folder")
    endif()
  elseif(HVDIZE_WITH_TORCH STREQUAL "ON")
    message(FATAL_ERROR "HVDIZE_WITH_TORCH=ON, but LibTorch was not found: install libtorch-dev or set Torch_DIR")
  endif()
endif()

if(HVDIZE_BUILD_TOOL)
  # Debian's package answers to 19.1, not to a plain 19.
  find_package(LLVM 19.1 CONFIG HINTS /usr/lib/llvm-19)
  if(NOT LLVM_FOUND)
    message(FATAL_ERROR "LLVM 19.1 was not found: install llvm-19-dev and libclang-19-dev, or set LLVM_DIR; "
                        "or build the runtime alone with HVDIZE_BUILD_TOOL=OFF")
  endif()
endif()
