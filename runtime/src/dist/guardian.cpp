// SPDX-License-Identifier: Apache-2.0
#include "guardian.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace hvd::dist {

namespace {

constexpr long kTick = 50'000'000;  // ns

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void nap(double seconds) {
  timespec t{static_cast<time_t>(seconds), static_cast<long>((seconds - static_cast<double>(static_cast<time_t>(seconds))) * 1e9)};
  nanosleep(&t, nullptr);
}

// State letter and parent of a process as /proc shows them; 0 when there is no such process.
char process_state(pid_t pid, int* parent) {
  char path[40], text[512];
  std::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(pid));
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return 0;
  text[n] = '\0';
  const char* end = std::strrchr(text, ')');  // the name may hold anything
  char state = 0;
  if (!end || std::sscanf(end + 1, " %c %d", &state, parent) != 2) return 0;
  return state;
}

// The loop of the guardian. It allocates nothing and takes no lock: it is the child of a fork.
class Watcher {
 public:
  Watcher(GuardianControl& control, pid_t rank_pid) : control_(control), pid_(rank_pid), last_(now()) {
    process_state(pid_, &launcher_);
  }

  [[noreturn]] void run() {
    for (;;) {
      nap(kTick * 1e-9);
      const double time = now(), elapsed = time - last_ < 1 ? time - last_ : 1;
      last_ = time;
      if (control_.ready.load() == 2) _exit(0);
      if (!board_ && control_.ready.load() == 1) map_board();
      if (getppid() != pid_) rank_is_gone();
      look_at_process();
      if (board_) look_at_board(elapsed);
      else look_at_start(elapsed);
    }
  }

 private:
  void map_board() {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/fd/%d", static_cast<int>(pid_), control_.board_fd.load());
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return;
    void* memory = mmap(nullptr, static_cast<size_t>(control_.board_bytes.load()), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (memory == MAP_FAILED) return;
    board_ = static_cast<BoardData*>(memory);
    self_ = &board_->ranks[control_.index.load()];
    control_.stage = 2;
  }

  [[noreturn]] void rank_is_gone() {
    if (!board_) _exit(0);
    const auto state = static_cast<RankState>(self_->state.load());
    if (state != RankState::done && state != RankState::exiting) {
      char what[256], text[400];
      describe_rank(*self_, what, sizeof what);
      std::snprintf(text, sizeof text, "rank %d (process %d) died; it %s", self_->rank, static_cast<int>(pid_), what);
      announce(text);
    }
    _exit(0);
  }

  void look_at_process() {
    int parent = 0;
    const char state = process_state(pid_, &parent);
    if (launcher_ > 1 && parent && parent != launcher_) end_rank();  // mpirun is gone: nobody else would end this rank
    if (self_) self_->stopped.store(state == 'T' || state == 't' ? self_->stopped.load() + 1 : 0);
  }

  void look_at_board(double elapsed) {
    char text[kVerdictLength];
    const bool finished = self_->state.load() == static_cast<int>(RankState::done) && self_->stopped.load() == 0;
    if (board_->verdict.load() == 0 && !finished && judge(*board_, observer_, elapsed, text, sizeof text)) announce(text);
    if (board_->verdict.load() != 2) return;
    // A rank that ends by itself has its status passed on by the launcher; give it the time.
    nap(board_->culprit_exits.load() ? 1.5 : 0.3);
    end_rank();
  }

  void look_at_start(double elapsed) {
    starting_ += elapsed;
    if (starting_ < control_.deadline) return;
    char text[160];
    const int n = std::snprintf(text, sizeof text, "hvd: rank %d has waited for the other ranks to start since %.0f s; the job ends\n",
                                control_.rank, starting_);
    print(text, n);
    end_rank();
  }

  [[noreturn]] void end_rank() {
    if (getppid() == pid_) kill(pid_, SIGKILL);
    _exit(0);
  }

  void announce(const char* why) {
    if (!claim_verdict(*board_, why)) return;
    char text[kVerdictLength + 40];
    print(text, std::snprintf(text, sizeof text, "hvd: %s; the job ends\n", why));
  }

  static void print(const char* text, int length) {
    if (length > 0 && ::write(STDERR_FILENO, text, static_cast<size_t>(length)) < 0) return;  // nobody left to tell
  }

  GuardianControl& control_;
  pid_t pid_;
  int launcher_ = 0;
  double last_, starting_ = 0;
  BoardData* board_ = nullptr;
  RankSlot* self_ = nullptr;
  Observer observer_;
};

[[noreturn]] void guard(GuardianControl& control, pid_t rank_pid) {
  setpgid(0, 0);  // a launcher that kills the rank's process group must not kill its witness
  prctl(PR_SET_NAME, "hvd-guardian");
  ::signal(SIGUSR1, [](int) {});  // cuts the nap short: a death is told before the launcher stops listening
  prctl(PR_SET_PDEATHSIG, SIGUSR1);
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGABRT, SIGSEGV, SIGPIPE}) ::signal(signal, signal == SIGPIPE ? SIG_IGN : SIG_DFL);
  // Keep standard error only: a launcher reads the others until all who hold them are gone.
  close(STDIN_FILENO);
  close(STDOUT_FILENO);
  syscall(SYS_close_range, 3u, ~0u, 0u);
  control.stage = 1;
  Watcher(control, rank_pid).run();
}

}  // namespace

Guardian::Guardian(int rank, double deadline) {
  void* memory = mmap(nullptr, sizeof(GuardianControl), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no memory for the watchdog");
  control_ = static_cast<GuardianControl*>(memory);
  control_->rank = rank;
  control_->deadline = deadline;
  const pid_t self = getpid();
  child_ = fork();
  if (child_ == 0) guard(*control_, self);
  if (child_ < 0) throw std::runtime_error(std::string("cannot start the watchdog: ") + std::strerror(errno));
}

Guardian::~Guardian() { munmap(control_, sizeof(GuardianControl)); }

void Guardian::await(int stage) {
  for (int tries = 0; control_->stage < stage && tries < 20'000; ++tries) {
    if (waitpid(child_, nullptr, WNOHANG) != 0) break;
    nap(1e-4);
  }
  if (control_->stage < stage) throw std::runtime_error("the watchdog does not start");
}

void Guardian::attach(int board_fd, int board_bytes, int index) {
  await(1);
  control_->board_fd = board_fd;
  control_->board_bytes = board_bytes;
  control_->index = index;
  control_->ready = 1;
  kill(child_, SIGUSR1);  // ends its nap
  await(2);
}

void Guardian::dismiss() {
  control_->ready = 2;
  waitpid(child_, nullptr, 0);
}

HostBoard::HostBoard(Communicator& host, int world_rank, int world_size, double deadline) : index_(host.rank()) {
  bytes_ = static_cast<int>(BoardData::bytes(host.size()));
  std::int32_t where[2] = {static_cast<std::int32_t>(getpid()), -1};
  if (host.rank() == 0) {
    fd_ = memfd_create("hvd-board", MFD_CLOEXEC);
    if (fd_ >= 0 && ftruncate(fd_, bytes_) != 0) {
      close(fd_);
      fd_ = -1;
    }
    where[1] = fd_;
  }
  host.broadcast(where, 2, DataType::int32, 0, {"board"});
  if (host.rank() != 0 && where[1] >= 0) {
    const std::string path = "/proc/" + std::to_string(where[0]) + "/fd/" + std::to_string(where[1]);
    fd_ = open(path.c_str(), O_RDWR | O_CLOEXEC);
  }
  std::int32_t all = fd_ >= 0;
  host.allreduce(&all, 1, DataType::int32, ReduceOp::min, {"board"});
  if (all) {
    void* memory = mmap(nullptr, static_cast<size_t>(bytes_), PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (memory != MAP_FAILED) data_ = static_cast<BoardData*>(memory);
  }
  if (!data_) throw std::runtime_error("the ranks of this host cannot share the watchdog's board (memfd, /proc)");
  data_->world_size = world_size;
  data_->count = host.size();
  data_->deadline = deadline;
  data_->ranks[index_].rank = world_rank;
  data_->ranks[index_].pid = static_cast<int>(getpid());
  host.barrier({"board"});  // from here on every slot is filled
}

HostBoard::~HostBoard() {
  if (data_) munmap(data_, static_cast<size_t>(bytes_));
  if (fd_ >= 0) close(fd_);
}

}  // namespace hvd::dist
