# SPDX-License-Identifier: Apache-2.0

# One line of the summary: what it is, whether it is used, and what follows.
function(hvdize_summary_line name have yes no)
  if(have)
    message(STATUS "  ${name} yes  ${yes}")
  else()
    message(STATUS "  ${name} no   ${no}")
  endif()
endfunction()

# What was found, and what follows from it for the person who builds.
function(hvdize_print_summary)
  message(STATUS "hvdize ${PROJECT_VERSION}: ${CMAKE_BUILD_TYPE} build with ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  hvdize_summary_line("MPI      " ${HVDIZE_HAVE_MPI} "${HVDIZE_MPIRUN}: distributed programs run on several processes"
                      "distributed programs run on one rank, or on threads in tests (libopenmpi-dev, openmpi-bin)")
  hvdize_summary_line("oneDNN   " ${HVDIZE_HAVE_ONEDNN} "device 'onednn' is the default: convolutions by oneDNN ${DNNL_VERSION}, products by OpenBLAS"
                      "only the plain reference device 'cpu', which is slow (libdnnl-dev, libopenblas-dev)")
  set(cudnn "no cuDNN, so no device 'cudnn'")
  if(HVDIZE_HAVE_CUDNN)
    set(cudnn "with cuDNN")
  endif()
  set(nccl "no header of NCCL, whose declarations go unchecked")
  if(HVDIZE_HAVE_NCCL)
    set(nccl "declarations checked with ${HVDIZE_NCCL_INCLUDE_DIR}/nccl.h")
  endif()
  hvdize_summary_line("CUDA     " ${HVDIZE_HAVE_CUDA} "toolkit ${CUDAToolkit_VERSION}, ${cudnn}: devices 'cublas' and 'cudnn' for GPUs ${HVDIZE_CUDA_ARCHITECTURES}; backend 'nccl' loads libnccl.so.2 (${nccl})"
                      "no devices 'cublas' and 'cudnn' (a CUDA toolkit with nvcc, cuBLAS and cuDNN)")
  hvdize_summary_line("JPEG     " ${HVDIZE_HAVE_JPEG} "image folders with .jpg files" "no .jpg files in image folders (libjpeg62-turbo-dev)")
  hvdize_summary_line("PNG      " ${HVDIZE_HAVE_PNG} "image folders with .png files" "no .png files in image folders (libpng-dev)")
  hvdize_summary_line("LibTorch " ${HVDIZE_HAVE_TORCH} "${Torch_VERSION}: the binding hvdize::torch is built" "no binding for LibTorch programs (libtorch-dev)")
  hvdize_summary_line("tool     " ${HVDIZE_BUILD_TOOL} "hvdize is built with LLVM ${LLVM_PACKAGE_VERSION}" "runtime only; nothing is rewritten (HVDIZE_BUILD_TOOL=OFF)")
  hvdize_summary_line("examples " ${HVDIZE_BUILD_EXAMPLES} "sequential programs and their distributed forms" "")
  hvdize_summary_line("tests    " ${HVDIZE_BUILD_TESTS} "scripts/test.sh, or ctest in the build folder" "")
  message(STATUS "  programs: ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}  libraries: ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
endfunction()
