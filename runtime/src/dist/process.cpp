// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <cxxabi.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <utility>

#include "backends.hpp"
#include "cores.hpp"
#include "devices/plan.hpp"
#include "guardian.hpp"
#include "rank.hpp"

namespace hvd::dist {

namespace {

struct ProcessSession {
  std::unique_ptr<Guardian> guardian;
  std::unique_ptr<HostBoard> host;
  std::unique_ptr<Rank> rank;
  pid_t pid = 0;
  Launcher connected = Launcher::none;  // what has been opened, and must be closed
  bool awaits_session = false;          // opened before main begins
  int last_rank = 0;                    // when it has been closed
};

// The session of this process, and of this thread where ranks are threads.
ProcessSession* process = nullptr;
thread_local Rank* thread_rank = nullptr;

constexpr int kAborted = 128 + 6;  // what a shell reports of a program that ended by SIGABRT

void flush_output() {
  std::cout.flush();
  std::fflush(nullptr);
}

[[noreturn]] void end_now(int status) {
  flush_output();
  if (process && process->pid == getpid() && process->rank && process->rank->trace) process->rank->trace->flush();
  _exit(status);
}

void say(const std::string& text) {
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // nobody left to tell
}

bool is_mismatch() {
  if (!abi::__cxa_current_exception_type()) return false;
  try {
    throw;
  } catch (const OperationMismatch&) {
    return true;
  } catch (...) {
    return false;
  }
}

// "std::runtime_error: text" of the exception that is being handled.
std::string current_exception_text() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (!type) return "std::terminate was called";
  try {
    throw;
  } catch (const JobFailure& e) {
    type = &e.known_as();
  } catch (...) {
  }
  int status = 0;
  char* name = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  std::string text = std::string("ended by exception ") + (status == 0 ? name : type->name());
  std::free(name);
  try {
    throw;
  } catch (const OperationMismatch& e) {
    text = e.what();
  } catch (const std::exception& e) {
    const std::string why = binding_explains ? binding_explains(e.what()) : std::string();
    text += (why.empty() ? std::string(": ") : ": " + why + ": ") + e.what();
  } catch (...) {
    text += " (not a std::exception)";
  }
  return text;
}

// Ranks that fail alike say it once.
[[noreturn]] void on_terminate() {
  const std::string what = current_exception_text();
  if (process && process->rank && process->pid == getpid()) {
    Rank& rank = *process->rank;
    const std::string text = "rank " + std::to_string(rank.rank()) + ": " + what;
    BoardData& board = rank.board->data();
    rank.board->set_state(RankState::exiting);
    board.culprit_exits = 1;
    const bool first = claim_verdict(board, text.c_str());
    // Of two ranks in different operations one is enough to say so.
    if (first || !(is_mismatch() || std::strstr(board.verdict_text, what.c_str()))) say("hvd: " + text + "; the job ends\n");
  } else {
    say("hvd: " + what + "\n");
  }
  end_now(kAborted);
}

// Whether all ranks of the job, on one host, leave with a failure within a second: then it is the program's own, common end.
bool all_fail_together(BoardData& board) {
  for (int tries = 0; tries < 100 && board.world_size == board.count; ++tries) {
    int failing = 0;
    for (int i = 0; i < board.count; ++i) failing += board.ranks[i].state.load() == static_cast<int>(RankState::exiting);
    if (failing == board.count) return true;
    const timespec nap{0, 10'000'000};
    nanosleep(&nap, nullptr);
  }
  return false;
}

// A gradient thread in the middle of a reduction would not come to its end.
bool nothing_under_way(BoardData& board) {
  for (int i = 0; i < board.count; ++i)
    for (const ChannelSlot& channel : board.ranks[i].channels)
      if (view(channel).inside()) return false;
  return true;
}

void fail_with(int status) {
  Rank& rank = *process->rank;
  BoardData& board = rank.board->data();
  rank.board->slot().exit_status = status;
  rank.board->set_state(RankState::exiting);
  if (all_fail_together(board) && nothing_under_way(board)) {
    rank.training.reset();
    if (process->connected == Launcher::mpi) finalize_mpi();
    return;
  }
  board.culprit_exits = 1;
  const std::string text = "rank " + std::to_string(rank.rank()) + " ended with exit status " + std::to_string(status) +
                           " before the other ranks were done";
  if (claim_verdict(board, text.c_str())) say("hvd: " + text + "; the job ends\n");
  end_now(status);
}

// Runs at std::exit and at the return from main when the session has not been closed by its destructor.
void on_exit_of_process(int status, void*) {
  if (!process || process->pid != getpid() || !process->rank) return;  // closed, or a forked child
  if (status != 0) return fail_with(status);
  end_after_failure();
  close_process();
}

// Who connects this process to the others, and what is wrong with the choice.
std::string choose_backend(const Settings& settings, const Launch& launch, Launcher& way) {
  const BackendChoice asked = settings.backend;
  way = launch.size > 1 && asked != BackendChoice::self && asked != BackendChoice::threads ? launch.launcher : Launcher::none;
  if (asked == BackendChoice::threads)
    return "hvd: HVD_BACKEND=threads runs inside hvd::testing::spawn only; start the program under hvd-run or mpirun, or with "
           "HVD_BACKEND=self\n";
  if (asked == BackendChoice::mpi || asked == BackendChoice::mpi_cuda) {
    const std::string name = asked == BackendChoice::mpi ? "hvd: HVD_BACKEND=mpi: " : "hvd: HVD_BACKEND=mpi_cuda: ";
    if (!have_mpi()) return name + "this build of the runtime has no MPI\n";
    if (way == Launcher::hvd_run) return name + "the ranks of hvd-run share memory; start the program under mpirun\n";
  }
  if (asked == BackendChoice::local && way == Launcher::mpi)
    return "hvd: HVD_BACKEND=local: start the program with hvd-run -n " + std::to_string(launch.size) + "\n";
  if (way == Launcher::mpi && !have_mpi())
    return "hvd: started as one of " + std::to_string(launch.size) + " processes, but this build of the runtime has no MPI; "
           "HVD_BACKEND=self runs each of them alone, hvd-run starts ranks of one machine without MPI\n";
  return {};
}

// The board, the guardian's view of it, and the rank itself.
void make_rank(ProcessSession& session, std::unique_ptr<Communicator> comm, Communicator& ranks_here, const Settings& settings) {
  share_cores(ranks_here);
  session.host = std::make_unique<HostBoard>(ranks_here, comm->rank(), comm->size(), settings.deadline);
  auto board = std::make_unique<ProgressBoard>(session.host->data(), session.host->index());
  board->set_state(RankState::running);
  session.guardian->attach(session.host->fd(), session.host->bytes(), session.host->index());
  session.rank = std::make_unique<Rank>(std::move(comm), std::move(board), settings);
}

void open_mpi(ProcessSession& session, const Settings& settings, const Launch& launch) {
  session.guardian = std::make_unique<Guardian>(launch.rank, settings.deadline);
  session.connected = Launcher::mpi;
  auto comm = make_mpi();
  if (comm->size() == 1) {  // the launcher announced more ranks than MPI knows of
    session.guardian->dismiss();
    session.guardian.reset();
    comm.reset();
    finalize_mpi();
    session.connected = Launcher::none;
    session.rank = std::make_unique<Rank>(make_self(), nullptr, settings);
    return;
  }
  const auto ranks_here = ranks_of_this_host(*comm);
  // All on one host: MPI has brought them together, shared memory carries the messages.
  const bool any = settings.backend == BackendChoice::automatic || settings.backend == BackendChoice::nccl;
  std::int32_t shared = any && ranks_here->size() == comm->size();
  comm->allreduce(&shared, 1, DataType::int32, ReduceOp::min, {"backend"});
  if (shared)
    if (auto local = make_local_over(*comm, settings.deadline)) comm = std::move(local);
  make_rank(session, std::move(comm), *ranks_here, settings);
}

void open_local(ProcessSession& session, const Settings& settings, const Launch& launch) {
  constexpr double kMargin = 5;  // make_local itself notices, and can name, who has not come
  session.guardian = std::make_unique<Guardian>(launch.rank, settings.deadline + kMargin);
  session.connected = Launcher::hvd_run;
  std::unique_ptr<Communicator> comm;
  try {
    comm = make_local({launch.rank, launch.size, launch.owner, launch.file}, settings.deadline);
  } catch (const NotAllStarted& error) {
    if (error.speaker()) say(std::string("hvd: ") + error.what() + "; the job ends\n");
    end_now(1);
  } catch (const std::exception& error) {
    say("hvd: rank " + std::to_string(launch.rank) + " cannot join the job: " + error.what() + "\n");
    end_now(1);
  }
  forget_launch();
  Communicator& ranks_here = *comm;
  make_rank(session, std::move(comm), ranks_here, settings);
}

// Buffers on GPUs: a backend that was asked for by name must be there; otherwise the choice waits until there is such a buffer.
std::string open_devices(ProcessSession& session, const Settings& settings) {
  Rank& rank = *session.rank;
  const BackendChoice asked = settings.backend;
  const auto devices = std::make_shared<Devices>(asked, settings.deadline, session.connected == Launcher::mpi);
  if (rank.size() > 1) rank.comm->use_devices(devices);
  if (asked != BackendChoice::nccl && asked != BackendChoice::mpi_cuda) return {};
  if (rank.size() > 1) rank.comm->plan_devices();
  else if (asked == BackendChoice::nccl) devices->adopt({devices->facts()}, 0);
  else return {};
  const std::string& error = devices->plan().error;
  return error.empty() ? "" : std::string("hvd: HVD_BACKEND=") + (asked == BackendChoice::nccl ? "nccl: " : "mpi_cuda: ") + error + "\n";
}

[[noreturn]] void refuse(ProcessSession& session, const std::string& error) {
  if (session.rank->rank() == 0) say(error);
  if (session.rank->size() > 1) {
    session.rank->comm->barrier({"end of the session"});
    session.rank->board->set_state(RankState::done);
    session.rank.reset();
    if (session.connected == Launcher::mpi) finalize_mpi();
  }
  std::exit(2);
}

}  // namespace

Rank* this_rank() noexcept { return thread_rank ? thread_rank : process ? process->rank.get() : nullptr; }
void set_thread_rank(Rank* rank) noexcept { thread_rank = rank; }
bool has_thread_rank() noexcept { return thread_rank != nullptr; }
bool process_is_open() noexcept { return process != nullptr; }
void leave_process_to_session() noexcept { process->awaits_session = true; }
int last_rank() noexcept { return process ? process->last_rank : 0; }
bool take_process() noexcept { return process && std::exchange(process->awaits_session, false); }

void open_process(const Settings& settings) {
  auto session = std::make_unique<ProcessSession>();
  session->pid = getpid();
  Settings checked = settings;
  const Launch launch = launch_from_environment();
  Launcher way = Launcher::none;
  const std::string wrong = choose_backend(settings, launch, way);
  checked.error += wrong;
  if (launch.size > 1 && !wrong.empty()) {  // several processes that cannot talk to each other: the first one speaks
    const timespec time_to_speak{0, 300'000'000};
    if (launch.rank == 0) say(checked.error);
    else nanosleep(&time_to_speak, nullptr);
    std::exit(2);
  }
  if (way == Launcher::mpi) open_mpi(*session, checked, launch);
  else if (way == Launcher::hvd_run) open_local(*session, checked, launch);
  else session->rank = std::make_unique<Rank>(make_self(), nullptr, checked);
  const std::string error = session->rank->adopt(checked);
  if (!error.empty()) refuse(*session, error);
  process = session.release();  // which GPU is this rank's goes by its rank
  const std::string lacking = open_devices(*process, checked);
  if (!lacking.empty()) refuse(*process, lacking);
  if (process->rank->size() == 1) return;  // one rank ends as the sequential program does
  std::set_terminate(on_terminate);
  on_exit(on_exit_of_process, nullptr);
}

namespace {

// A trace that cannot be written is no reason for the run to fail; a rank that is elsewhere is.
void end_trace(Rank& rank) noexcept {
  try {
    rank.end_trace();
  } catch (const OperationMismatch&) {
    on_terminate();
  } catch (const std::exception& error) {
    say("hvd: " + std::string(error.what()) + "\n");
  }
}

}  // namespace

void announce_end(const std::string& what) {
  if (!process || !process->rank || !process->rank->board) return;
  BoardData& board = process->rank->board->data();
  const std::string text = "rank " + std::to_string(process->rank->rank()) + " " + what;
  process->rank->board->set_state(RankState::exiting);
  board.culprit_exits = 1;
  if (claim_verdict(board, text.c_str())) say("hvd: " + text + "; the job ends\n");
}

void end_job(const std::string& what) {
  if (!process || thread_rank) throw std::runtime_error(what);
  announce_end(what);
  end_now(kAborted);
}

void close_process() noexcept {
  if (!process || !process->rank) return;
  Rank& rank = *process->rank;
  if (!rank.failure().empty()) return;  // what becomes of it depends on the status with which the program ends
  if (rank.size() > 1) {
    flush_output();
    rank.training.reset();
    end_trace(rank);
    rank.board->set_state(RankState::finishing);
    try {
      rank.comm->barrier({"end of the session"});
    } catch (const std::exception&) {
      on_terminate();  // the others are elsewhere: says so, and ends the job
    }
    rank.board->set_state(RankState::done);
  } else {
    end_trace(rank);
  }
  process->last_rank = rank.rank();
  process->rank.reset();
  if (process->connected == Launcher::mpi) finalize_mpi();
  // Board and guardian stay until the process is gone: a stop after this point would otherwise go unseen.
}

void abandon_process() noexcept {
  if (process && process->rank && process->rank->board) process->rank->board->set_state(RankState::unwinding);
}

}  // namespace hvd::dist
