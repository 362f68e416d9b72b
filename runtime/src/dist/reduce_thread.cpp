// SPDX-License-Identifier: Apache-2.0
#include "reducer.hpp"

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

void ReduceThread::submit(Task task) {
  {
    std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
}

void ReduceThread::wait() {
  const std::int64_t begun = comm_->trace() ? Trace::now() : 0;
  comm_->set_urgent(true);  // from here on nothing else wants the core
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return (tasks_.empty() && !busy_) || error_; });
  comm_->set_urgent(false);
  if (begun) comm_->trace()->wait(what_, begun);
  if (error_) std::rethrow_exception(error_);
}

void ReduceThread::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stop_ || (!tasks_.empty() && !error_); });
    if (stop_) return;
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    busy_ = true;
    lock.unlock();
    std::exception_ptr error;
    try {
      for (const auto& wait : task.before) wait();
      if (task.fault && comm_->check()) comm_->check()->report(task.fault(task.data));
      const OpName name{what_, task.site.file, task.site.line, task.batch, task.bucket};
      const Place place{task.device, task.ready.get()};
      if (task.sum) task.sum(*comm_, name);
      else if (task.root < 0) comm_->allreduce(task.data, task.count, task.type, ReduceOp::sum, name, place);
      else comm_->reduce(task.data, task.count, task.type, ReduceOp::sum, task.root, name, place);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    busy_ = false;
    if (error) error_ = error;
    changed_.notify_all();
  }
}

}  // namespace hvd::dist
