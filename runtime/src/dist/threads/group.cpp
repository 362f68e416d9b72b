// SPDX-License-Identifier: Apache-2.0
#include "group.hpp"

#include <chrono>
#include <cstring>
#include <new>

#include <hvd/dist/failure.hpp>

namespace hvd::dist {

namespace {

// How often a waiting rank looks at the board, and at whether the job has ended.
constexpr auto kLook = std::chrono::milliseconds(20);

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

}  // namespace

ThreadJob::ThreadJob(int size, double deadline)
    : size_(size), memory_(BoardData::bytes(size) / sizeof(std::uint64_t) + 1, 0), last_look_(now_ns()) {
  // The board is made for memory that starts as zeros (a fresh mapping); this is such memory.
  board_ = reinterpret_cast<BoardData*>(memory_.data());
  board_->world_size = board_->count = size;
  board_->deadline = deadline;
  for (int r = 0; r < size; ++r) {
    board_->ranks[r].rank = r;
    board_->ranks[r].pid = 1;
    board_->ranks[r].state = static_cast<int>(RankState::running);
  }
}

void ThreadJob::end(const std::string& why) {
  std::lock_guard lock(mutex_);
  if (ended_) return;
  why_ = why;
  ended_ = true;
}

void ThreadJob::check() {
  if (!ended_) return;
  std::lock_guard lock(mutex_);
  throw JobEnded(why_);
}

void ThreadJob::look() {
  char text[kVerdictLength];
  bool over = false;
  {
    std::lock_guard lock(mutex_);
    const std::int64_t now = now_ns();
    const double elapsed = static_cast<double>(now - last_look_) * 1e-9;
    if (elapsed < 0.02) return;
    last_look_ = now;
    over = judge(*board_, observer_, elapsed < 1 ? elapsed : 1, text, sizeof text);
  }
  if (over) end(text);
}

ThreadGroup::ThreadGroup(std::shared_ptr<ThreadJob> job, int size)
    : successors(static_cast<std::size_t>(size)), job_(std::move(job)), posts_(static_cast<std::size_t>(size)) {}

template <class Ready>
void ThreadGroup::wait(std::unique_lock<std::mutex>& lock, Ready ready) {
  while (!ready()) {
    if (come_.wait_for(lock, kLook) == std::cv_status::timeout) {
      lock.unlock();
      job_->look();
      job_->check();
      lock.lock();
    }
  }
}

void ThreadGroup::meet() {
  job_->check();
  std::unique_lock lock(mutex_);
  const std::uint64_t mine = meeting_;
  if (++present_ == size()) {
    present_ = 0;
    ++meeting_;
    come_.notify_all();
    return;
  }
  wait(lock, [&] { return meeting_ != mine; });
}

void ThreadGroup::post(int rank, const Post& post, const char* name) {
  posts_[static_cast<std::size_t>(rank)] = post;
  meet();
  for (int r = 1; r < size(); ++r) {
    if (std::strcmp(of(r).op, of(0).op) == 0 && of(r).description == of(0).description) continue;
    throw dist::Failure<std::runtime_error>(std::string("ranks have reached different operations: rank 0 is in ") + of(0).op + ", rank " +
                             std::to_string(r) + " in " + of(r).op + " with another name, count, type or root ('" + name + "')");
  }
}

void ThreadGroup::put(int from, int to, int tag, std::vector<char> message) {
  std::lock_guard lock(mutex_);
  mail_[{from, to, tag}].push_back(std::move(message));
  come_.notify_all();
}

std::vector<char> ThreadGroup::take(int from, int to, int tag) {
  std::unique_lock lock(mutex_);
  auto& box = mail_[{from, to, tag}];
  wait(lock, [&] { return !box.empty(); });
  std::vector<char> message = std::move(box.front());
  box.pop_front();
  return message;
}

}  // namespace hvd::dist
