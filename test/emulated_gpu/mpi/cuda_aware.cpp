// SPDX-License-Identifier: Apache-2.0
//
// Makes the MPI library of this machine one that takes the memory of the emulated GPU: to be loaded before it (LD_PRELOAD). The memory is
// opened around the calls that the backend mpi_cuda makes; all others go on as they are.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <dlfcn.h>
#include <mpi.h>

#include <cstdlib>

namespace {

class Open {
 public:
  Open() : close_(function("hvd_emulated_close")) {
    if (const auto open = function("hvd_emulated_open")) open();
  }
  ~Open() {
    if (close_) close_();
  }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;

 private:
  using Function = void (*)();
  static Function function(const char* name) {
    const char* const path = std::getenv("HVD_CUDA_LIBRARY");
    void* const library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : nullptr;
    return library ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
  }
  Function close_;
};

}  // namespace

extern "C" {

int MPIX_Query_cuda_support(void) { return 1; }

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const Open open;
  return PMPI_Allreduce(in, out, count, type, op, comm);
}
int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  const Open open;
  return PMPI_Reduce(in, out, count, type, op, root, comm);
}
int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const Open open;
  return PMPI_Bcast(data, count, type, root, comm);
}
int MPI_Reduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const Open open;
  return PMPI_Reduce_scatter_block(in, out, count, type, op, comm);
}

}  // extern "C"
