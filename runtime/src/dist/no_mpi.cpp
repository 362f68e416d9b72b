// SPDX-License-Identifier: Apache-2.0
#ifndef HVD_HAVE_MPI  // the folder mpi/ is not part of such a build

#include <stdexcept>

#include "backends.hpp"
#include "devices/transport.hpp"

namespace hvd::dist {

namespace {
[[noreturn]] void no_mpi() {
  throw std::runtime_error("this build of the runtime has no MPI (it was off, or not found, when the runtime was configured)");
}
}  // namespace

bool have_mpi() noexcept { return false; }
std::unique_ptr<Communicator> make_mpi() { no_mpi(); }
void finalize_mpi() {}
std::unique_ptr<Communicator> ranks_of_this_host(Communicator&) { no_mpi(); }
std::string mpi_cuda_problem() { return "this build of the runtime has no MPI"; }
std::unique_ptr<DeviceTransport> connect_mpi_cuda(Communicator&) { no_mpi(); }

}  // namespace hvd::dist

#endif
