// SPDX-License-Identifier: Apache-2.0
#include <hvd/dist/testing.hpp>

#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "rank.hpp"
#include "threads/group.hpp"

namespace hvd::testing {

namespace {

using namespace dist;

class Job {
 public:
  Job(int ranks, const std::function<void()>& body, const Policy& policy, double deadline)
      : body_(body), job_(std::make_shared<ThreadJob>(ranks, deadline)), group_(std::make_shared<ThreadGroup>(job_)),
        errors_(static_cast<std::size_t>(ranks)) {
    settings_.policy = policy;
    settings_.deadline = deadline;
  }

  void run() {
    std::vector<std::thread> threads;
    for (int r = 0; r < job_->size(); ++r) threads.emplace_back([this, r] { rank(r); });
    for (auto& thread : threads) thread.join();
    std::exception_ptr ended;
    for (const auto& error : errors_) {
      if (!error) continue;
      try {
        std::rethrow_exception(error);
      } catch (const JobEnded&) {
        if (!ended) ended = error;
      }
    }
    if (ended) std::rethrow_exception(ended);
  }

 private:
  void rank(int r) {
    try {
      Rank rank(make_threads(group_, r), std::make_unique<ProgressBoard>(&job_->board(), r), settings_);
      set_thread_rank(&rank);
      try {
        body_();
        if (const std::string wrong = rank.failure(); !wrong.empty()) throw std::runtime_error("ended after an error: " + wrong);
        rank.training.reset();
        rank.end_trace();
        rank.board->set_state(RankState::finishing);
        rank.comm->barrier({"end of the session"});
      } catch (const std::exception& e) {
        job_->end("rank " + std::to_string(r) + ": " + e.what());  // first: others may wait for what this rank will not do
        set_thread_rank(nullptr);
        throw;
      }
      set_thread_rank(nullptr);
    } catch (...) {
      job_->end("rank " + std::to_string(r) + " failed");
      errors_[static_cast<std::size_t>(r)] = std::current_exception();
    }
  }

  const std::function<void()>& body_;
  Settings settings_;
  std::shared_ptr<ThreadJob> job_;
  std::shared_ptr<ThreadGroup> group_;
  std::vector<std::exception_ptr> errors_;
};

}  // namespace

void spawn(int ranks, const std::function<void()>& body, const Policy& policy, double deadline_seconds) {
  if (ranks < 1) throw std::invalid_argument("spawn: " + std::to_string(ranks) + " ranks");
  Job(ranks, body, policy, deadline_seconds).run();
}

}  // namespace hvd::testing
