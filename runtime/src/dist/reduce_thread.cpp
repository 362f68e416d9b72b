// SPDX-License-Identifier: Apache-2.0
#include "reducer.hpp"

#include <hvd/dist/failure.hpp>

#include "check.hpp"
#include "trace.hpp"

namespace hvd::dist {

ReduceThread::ReduceThread(std::unique_ptr<Communicator> comm, const char* what)
    : comm_(std::move(comm)), what_(what), thread_([this] { run(); }) {}

ReduceThread::~ReduceThread() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::uint64_t ReduceThread::submit(Task task) {
  std::uint64_t number = 0;
  {
    std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    number = ++submitted_;
  }
  changed_.notify_all();
  return number;
}

void ReduceThread::wait() { wait_for(submitted_, what_); }  // nobody submits meanwhile

void ReduceThread::wait_for(std::uint64_t number, const char* what) {
  const std::int64_t begun = comm_->trace() ? Trace::now() : 0;
  comm_->set_urgent(true);  // from here on nothing else wants the core
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ >= number || error_; });
  comm_->set_urgent(false);
  if (begun) comm_->trace()->wait(what, begun);
  if (!error_) return;
  try {
    std::rethrow_exception(error_);
  } catch (const std::exception& e) {
    remember_failure(e.what());  // a thread of its own knows no rank where ranks are threads
    throw;
  }
}

std::uint64_t ReduceThread::done() {
  std::lock_guard lock(mutex_);
  return done_;
}

void ReduceThread::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stop_ || (!tasks_.empty() && !error_); });
    if (stop_) return;
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    std::exception_ptr error;
    try {
      for (const auto& wait : task.before) wait();
      if (task.fault && comm_->check()) comm_->check()->report(task.fault(task.data));
      const OpName name{task.what ? task.what : what_, task.site.file, task.site.line, task.batch, task.bucket};
      const Place place{task.device, task.ready.get()};
      if (task.sum) task.sum(*comm_, name);
      else if (task.root < 0) comm_->allreduce(task.data, task.count, task.type, ReduceOp::sum, name, place);
      else comm_->reduce(task.data, task.count, task.type, ReduceOp::sum, task.root, name, place);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error) error_ = error;
    else ++done_;
    changed_.notify_all();
  }
}

}  // namespace hvd::dist
