// SPDX-License-Identifier: Apache-2.0
//
// Stands in for CUDA's driver (libcuda.so.1) while cuDNN compiles engines for a GPU that is not there: what it compiled is "loaded" without a
// look, all else fails. The names are those that cuDNN looks up.
namespace {

constexpr int kSuccess = 0, kStub = 34;  // CUDA_ERROR_STUB_LIBRARY
char something;

int put(void** place) {
  *place = &something;
  return kSuccess;
}

}  // namespace

extern "C" {

int cuLibraryLoadData(void** library) { return put(library); }
int cuLibraryUnload(void*) { return kSuccess; }
int cuLibraryGetKernel(void** kernel) { return put(kernel); }
int cuKernelGetFunction(void** function) { return put(function); }
int cuKernelSetAttribute() { return kSuccess; }
int cuFuncSetAttribute() { return kSuccess; }
int cuKernelGetAttribute(int* value) { return *value = 0, kSuccess; }
int cuFuncGetAttribute(int* value) { return *value = 0, kSuccess; }

#define HVD_MISSING(name) \
  int name() { return kStub; }
HVD_MISSING(cuGetErrorName)
HVD_MISSING(cuGetErrorString)
HVD_MISSING(cuInit)
HVD_MISSING(cuCtxGetCurrent)
HVD_MISSING(cuCtxGetLimit)
HVD_MISSING(cuCtxPopCurrent)
HVD_MISSING(cuCtxPushCurrent)
HVD_MISSING(cuCtxGetDevice)
HVD_MISSING(cuCtxSynchronize)
HVD_MISSING(cuStreamGetCtx)
HVD_MISSING(cuDriverGetVersion)
HVD_MISSING(cuDeviceGet)
HVD_MISSING(cuDeviceGetCount)
HVD_MISSING(cuDeviceGetAttribute)
HVD_MISSING(cuLinkCreate)
HVD_MISSING(cuLinkAddData)
HVD_MISSING(cuLinkComplete)
HVD_MISSING(cuLinkDestroy)
HVD_MISSING(cuLaunchKernel)
HVD_MISSING(cuLaunchKernelEx)
HVD_MISSING(cuLaunchCooperativeKernel)
HVD_MISSING(cuLibraryLoadFromFile)
HVD_MISSING(cuLibraryGetGlobal)
HVD_MISSING(cuModuleLoadData)
HVD_MISSING(cuModuleLoadDataEx)
HVD_MISSING(cuModuleUnload)
HVD_MISSING(cuModuleGetFunction)
HVD_MISSING(cuModuleGetGlobal)
HVD_MISSING(cuMemcpyHtoD)
HVD_MISSING(cuMemcpyHtoDAsync)
HVD_MISSING(cuTensorMapEncodeTiled)
HVD_MISSING(cuTensorMapEncodeIm2col)
HVD_MISSING(cuOccupancyMaxPotentialClusterSize)
HVD_MISSING(cuOccupancyMaxActiveBlocksPerMultiprocessor)
HVD_MISSING(cuOccupancyMaxActiveClusters)
#undef HVD_MISSING

}  // extern "C"
