// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ranks that are threads of one process.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "../board.hpp"

namespace hvd::dist {

/// Thrown in ranks that wait, or come to wait, when the job has ended for another rank's reason.
class JobEnded : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What all communicators of a job of threads share: the board, and the reason for its end.
class ThreadJob {
 public:
  ThreadJob(int size, double deadline);
  ThreadJob(const ThreadJob&) = delete;
  ThreadJob& operator=(const ThreadJob&) = delete;

  int size() const { return size_; }
  BoardData& board() { return *board_; }
  void end(const std::string& why);
  /// Throws JobEnded if the job has ended.
  void check();
  /// Called by waiting ranks now and then: ends the job when the board says that it cannot go on.
  void look();

 private:
  int size_;
  std::vector<std::uint64_t> memory_;
  BoardData* board_;
  std::mutex mutex_;
  std::atomic<bool> ended_{false};
  std::string why_;
  Observer observer_;
  std::int64_t last_look_;
};

/// One communicator's meeting point.
class ThreadGroup {
 public:
  explicit ThreadGroup(std::shared_ptr<ThreadJob> job) : ThreadGroup(job, job->size()) {}
  /// Of some of its ranks.
  ThreadGroup(std::shared_ptr<ThreadJob> job, int size);

  /// What a rank brings to a collective; the description must be the same on all ranks.
  struct Post {
    const char* op = nullptr;
    std::uint64_t description = 0;
    const void* in = nullptr;
    void* out = nullptr;
  };

  /// Waits until all ranks have come.
  void meet();
  /// Posts and meets: afterwards all posts are visible. Throws on all ranks when they differ.
  void post(int rank, const Post& post, const char* name);
  const Post& of(int rank) const { return posts_[static_cast<std::size_t>(rank)]; }
  int size() const { return static_cast<int>(posts_.size()); }
  ThreadJob& job() { return *job_; }
  const std::shared_ptr<ThreadJob>& shared_job() const { return job_; }

  void put(int from, int to, int tag, std::vector<char> message);
  std::vector<char> take(int from, int to, int tag);

  std::vector<std::shared_ptr<ThreadGroup>> successors;  // the groups that are being made, by the first rank of each

 private:
  template <class Ready>
  void wait(std::unique_lock<std::mutex>& lock, Ready ready);

  std::shared_ptr<ThreadJob> job_;
  std::mutex mutex_;
  std::condition_variable come_;
  int present_ = 0;
  std::uint64_t meeting_ = 0;
  std::vector<Post> posts_;
  std::map<std::tuple<int, int, int>, std::deque<std::vector<char>>> mail_;
};

std::unique_ptr<Communicator> make_threads(std::shared_ptr<ThreadGroup> group, int rank);

}  // namespace hvd::dist
