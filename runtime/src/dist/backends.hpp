// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one place that knows which communicators there are.

#include <memory>
#include <string>

#include <hvd/dist/communicator.hpp>

namespace hvd::dist {

enum class Backend { self, threads, mpi };

/// What the launcher says about this process, before any library is asked; 0 and 1 without a launcher.
struct Launch {
  int rank = 0;
  int size = 1;
};
Launch launch_from_environment();

/// One rank, no messages.
std::unique_ptr<Communicator> make_self();

/// Whether this build has MPI.
bool have_mpi() noexcept;
/// Connects to the other processes of the job (MPI_Init_thread). Throws std::runtime_error where this build has no MPI, or
/// the library gives no support for threads.
std::unique_ptr<Communicator> make_mpi();
/// Ends what make_mpi began; all communicators must be gone.
void finalize_mpi();
/// A communicator over the ranks of `comm` that share memory with this one; collective. Only for the MPI backend.
std::unique_ptr<Communicator> ranks_of_this_host(Communicator& comm);

}  // namespace hvd::dist
