// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one place that knows which communicators there are.

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <hvd/dist/communicator.hpp>

namespace hvd::dist {

/// Who has started this process: nobody in particular, mpirun or a program like it, hvd-run.
enum class Launcher { none, mpi, hvd_run };

/// What the launcher says about this process, before any library is asked; 0 and 1 without a launcher.
struct Launch {
  Launcher launcher = Launcher::none;
  int rank = 0;
  int size = 1;
  int owner = 0, file = -1;  // hvd-run: the process that holds the ranks' meeting point, and its file descriptor there
};
Launch launch_from_environment();
/// Programs that this process starts are not ranks of its job: takes what hvd-run has set out of the environment.
void forget_launch();

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

/// Why the MPI library takes no addresses of device memory; empty: it does. After make_mpi.
std::string mpi_cuda_problem();
/// MPI on device memory, over all ranks of the job; collective.
std::unique_ptr<DeviceTransport> connect_mpi_cuda(Communicator& comm);

/// Where `size` processes of this host meet: a memory file, empty at first, that process `owner` holds as `file`.
struct LocalLaunch {
  int rank = 0, size = 1;
  int owner = 0, file = -1;
};
/// Some ranks have not come in time.
class NotAllStarted : public std::runtime_error {
 public:
  NotAllStarted(const std::string& what, bool speaker) : std::runtime_error(what), speaker_(speaker) {}
  /// Whether this is the rank that should say so.
  bool speaker() const { return speaker_; }

 private:
  bool speaker_;
};
/// Connects to the other processes, over shared memory. Waits for them for `deadline` seconds, then throws NotAllStarted; other
/// std::runtime_errors: no memory, or the others' cannot be reached.
std::unique_ptr<Communicator> make_local(const LocalLaunch& launch, double deadline);
/// The same for the ranks of `world`, which must all be on this host; collective. Null on all ranks when they cannot reach each
/// other's memory.
std::unique_ptr<Communicator> make_local_over(Communicator& world, double deadline);
/// The same for every group of ranks by itself: `ranks` are those of this rank's. Collective over all.
std::unique_ptr<Communicator> make_local_among(Communicator& world, const std::vector<int>& ranks, double deadline);

}  // namespace hvd::dist
