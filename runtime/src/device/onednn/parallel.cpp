// SPDX-License-Identifier: Apache-2.0
#include "device/onednn/parallel.hpp"

#include <hvd/context.hpp>

#include <dlfcn.h>

// Threads are those of the OpenMP runtime that oneDNN brings: one pool for both. It is called by its functions, so that any compiler will
// do, and the sanitizer for threads, which does not see into it, is told where they meet.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HVD_SEES_THREADS 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define HVD_SEES_THREADS 1
#endif
#ifdef HVD_SEES_THREADS
extern "C" void __tsan_acquire(void*);
extern "C" void __tsan_release(void*);
#endif

namespace hvd::backends {

namespace {

void arrive([[maybe_unused]] void* at) {
#ifdef HVD_SEES_THREADS
  __tsan_acquire(at);
#endif
}
void leave([[maybe_unused]] void* at) {
#ifdef HVD_SEES_THREADS
  __tsan_release(at);
#endif
}

/// The functions of an OpenMP runtime; null where there is none.
struct OpenMp {
  void (*parallel)(void (*body)(void*), void* data, unsigned threads, unsigned flags) = nullptr;
  int (*thread)() = nullptr;
  int (*threads)() = nullptr;
  int (*most_threads)() = nullptr;
  int (*inside)() = nullptr;

  OpenMp() {
    find("GOMP_parallel", parallel);
    find("omp_get_thread_num", thread);
    find("omp_get_num_threads", threads);
    find("omp_get_max_threads", most_threads);
    find("omp_in_parallel", inside);
  }
  bool complete() const { return parallel && thread && threads && most_threads && inside; }

 private:
  template <class F>
  static void find(const char* name, F& function) {
    function = reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
  }
};

const OpenMp& openmp() {
  static const OpenMp instance;
  return instance;
}

struct Loop {
  int64_t n;
  void (*body)(void* data, int64_t begin, int64_t end);
  void* data;
};

void share_of_this_thread(void* data) {
  arrive(data);
  const Loop& loop = *static_cast<Loop*>(data);
  const int64_t threads = openmp().threads(), thread = openmp().thread();
  const int64_t begin = loop.n * thread / threads, end = loop.n * (thread + 1) / threads;
  if (begin < end) loop.body(loop.data, begin, end);
  leave(data);
}

}  // namespace

int64_t openmp_threads() { return openmp().complete() && !openmp().inside() ? openmp().most_threads() : 1; }

void run_parts(int64_t n, int64_t parts, void (*body)(void* data, int64_t begin, int64_t end), void* data) {
  const int64_t threads = context().one_thread ? 1 : std::min(parts, openmp_threads());
  if (threads < 2) return body(data, 0, n);
  Loop loop = {n, body, data};
  leave(&loop);
  openmp().parallel(share_of_this_thread, &loop, static_cast<unsigned>(threads), 0);
  arrive(&loop);
}

}  // namespace hvd::backends
