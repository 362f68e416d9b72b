// SPDX-License-Identifier: Apache-2.0
#pragma once

// The session: this process' (or, in hvd::testing::spawn, this thread's) part in the job.

#include <cstdint>
#include <type_traits>
#include <utility>

#include <hvd/dist/call_site.hpp>
#include <hvd/dist/policy.hpp>

namespace hvd {

namespace dist {
class Rank;
}

/// First statement of main. Connects the ranks, starts the watchdog, checks that all ranks run under the same policy.
///
/// HVD_BACKEND=auto|self|local|mpi|threads chooses the backend; `auto` is `local` under hvd-run, and under mpirun or srun
/// when all ranks are on one host; else `mpi` under those, and `self`. A bad value of a HVD_... variable is one message on standard error and exit status 2.
///
/// The destructor waits for all ranks. A rank that ends in any other way (uncaught exception, std::exit with a status other
/// than 0, a signal) ends the whole job with a status other than 0.
class Session {
 public:
  Session();
  explicit Session(const Policy& policy);
  Session(int& argc, char**& argv);
  Session(int& argc, char**& argv, const Policy& policy);
  Session(int argc, const char* const* argv);
  Session(int argc, const char* const* argv, const Policy& policy);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  void open(const Policy& policy);
  bool owns_rank_ = false;
  int exceptions_at_start_ = 0;
};

/// For objects of namespace scope, which are made before main begins, in the order of their file: declared before the first of them that
/// needs to know the ranks. Connects them as a Session does; `main` still begins with a Session of the same policy, which takes over.
/// Several of them (one for each file) are as good as one.
class EarlySession {
 public:
  EarlySession();
  explicit EarlySession(const Policy& policy);
  EarlySession(const EarlySession&) = delete;
  EarlySession& operator=(const EarlySession&) = delete;
};

/// As in MPI; 0, 1 and 0 before a session exists.
int rank() noexcept;
int size() noexcept;
int local_rank() noexcept;
/// Whether this is rank 0, or was when the session ended (destructors of static objects, functions given to std::atexit).
bool is_root() noexcept;
/// Ranks that take a part of each batch: size(), or one fewer where rank 0 is a parameter server.
int workers() noexcept;

/// The policy in force: defaults with the overrides of the environment.
const Policy& policy() noexcept;

/// Waits until all ranks have come here. Collective.
void barrier(CallSite site = CallSite::here());

/// Work that one rank does alone while the others wait in a collective (evaluation, saving, downloads): for its lifetime the
/// deadline of that rank is `limit_seconds`, instead of HVD_DEADLINE. Local.
class LongWork {
 public:
  explicit LongWork(const char* what, double limit_seconds = 24 * 3600.0);
  ~LongWork();
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;
};

namespace detail {
// The job's batches have so many rows: where data ends, the last one may have fewer.
void note_batch_size(std::int64_t rows);
std::int64_t whole_batches(std::int64_t rows, std::int64_t batch);
}  // namespace detail

/// The batch size of the whole job: `b` in global-batch mode, `b * workers()` in per-rank mode. Local.
template <class Int>
Int global_batch_size(Int b) {
  if (policy().batch() == Batch::global) return b;
  const Int all = static_cast<Int>(b * static_cast<Int>(workers()));
  detail::note_batch_size(static_cast<std::int64_t>(all));
  return all;
}

/// How many batches a loop takes that counts them as `rows / batch`, with `batch` from global_batch_size: so many, but one, of all rows, where that is
/// none and the program alone has a batch. In global-batch mode, and on one rank, `rows / batch`. Error (std::invalid_argument): a batch of no rows. Local.
template <class Rows, class Int>
auto whole_batches(Rows rows, Int batch) {
  return static_cast<decltype(rows / batch)>(detail::whole_batches(static_cast<std::int64_t>(rows), static_cast<std::int64_t>(batch)));
}

/// The learning rate for the global batch: `lr` times the number of ranks (linear) or its square root (sqrt); `lr` itself in
/// global-batch mode, with one rank, and under `none`. `rule` is what `automatic` means for this optimizer; another rule of the
/// policy wins over it. The factor last applied is also the one that warm-up starts from. Local.
double scaled_lr(double lr, LrRule rule = LrRule::linear);
float scaled_lr(float lr, LrRule rule = LrRule::linear);
inline double scaled_lr(int lr, LrRule rule = LrRule::linear) { return scaled_lr(static_cast<double>(lr), rule); }

/// A literal number of optimizer steps: `ceil(n / workers())` in per-rank mode when the policy divides steps, else `n`. Local.
template <class Int>
Int scaled_steps(Int n) {
  const Int ranks = static_cast<Int>(workers());
  return policy().divide_steps() && policy().batch() == Batch::per_rank ? static_cast<Int>((n + ranks - 1) / ranks) : n;
}

namespace detail {
template <class T, class = void>
struct IsPointer : std::false_type {};
template <class T>
struct IsPointer<T, std::void_t<decltype(*std::declval<T&>())>> : std::true_type {};
}  // namespace detail

/// The device of this rank: on CPU the device itself. Local.
template <class DeviceLike>
DeviceLike local_device(DeviceLike device) {
  static_assert(!detail::IsPointer<DeviceLike>::value, "a pointer to a device is not bound to a rank: give the device");
  return device;
}

namespace dist {

/// Tells the session how many batches the pass over a loader that begins has. When a backward runs in it, a warm-up given in epochs
/// counts in it.
void note_steps_per_pass(std::int64_t steps);

}  // namespace dist
}  // namespace hvd
