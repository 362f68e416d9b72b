// SPDX-License-Identifier: Apache-2.0
#include <hvd/dist/session.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include "process.hpp"
#include "rank.hpp"

namespace hvd {

Session::Session() { open(Policy()); }
Session::Session(const Policy& policy) { open(policy); }
Session::Session(int&, char**&) { open(Policy()); }
Session::Session(int&, char**&, const Policy& policy) { open(policy); }
Session::Session(int, const char* const*) { open(Policy()); }
Session::Session(int, const char* const*, const Policy& policy) { open(policy); }

namespace {

void bind_ranks() {
  dist::Rank* rank = dist::this_rank();
  if (dist::binding_opened && rank && rank->size() > 1) dist::binding_opened(*rank);
}

}  // namespace

EarlySession::EarlySession() : EarlySession(Policy()) {}

EarlySession::EarlySession(const Policy& policy) {
  if (dist::process_is_open()) return;  // another file's
  dist::open_process(dist::read_settings(policy));
  dist::leave_process_to_session();
  bind_ranks();
}

void Session::open(const Policy& policy) {
  exceptions_at_start_ = std::uncaught_exceptions();
  dist::Settings settings = dist::read_settings(policy);
  if (dist::has_thread_rank()) {
    settings.deadline = dist::this_rank()->settings.deadline;
    const std::string error = dist::this_rank()->adopt(settings);
    if (!error.empty()) throw std::runtime_error(error);
    return bind_ranks();
  }
  if (dist::take_process()) {
    owns_rank_ = true;
    if (dist::this_rank()->settings.summary() != settings.summary())
      throw std::logic_error("hvd::Session and the hvd::EarlySession before it have different policies");
    return;
  }
  if (dist::process_is_open()) throw std::logic_error("a program has one hvd::Session");
  owns_rank_ = true;
  dist::open_process(settings);
  bind_ranks();
}

// Data that do not fill one batch of the job, which is larger than the program's own, would be passed over without a word.
static void say_if_nothing_ran() {
  const dist::Rank* r = dist::this_rank();
  if (!r || r->rank() != 0 || r->batch_size == 0 || r->batches > 0) return;
  const auto size = static_cast<long long>(r->batch_size);
  std::fprintf(stderr, "hvd: note: no batch was taken; the job's batches have %lld rows, %lld for each of %d ranks (HVD_BATCH=global keeps the program's size)\n",
               size, size / r->workers(), r->workers());
}

Session::~Session() {
  if (!owns_rank_) return;
  if (std::uncaught_exceptions() == exceptions_at_start_) say_if_nothing_ran();
  if (std::uncaught_exceptions() > exceptions_at_start_) dist::abandon_process();
  else dist::close_process();
}

int rank() noexcept {
  const dist::Rank* r = dist::this_rank();
  return r ? r->rank() : 0;
}

int size() noexcept {
  const dist::Rank* r = dist::this_rank();
  return r ? r->size() : 1;
}

int local_rank() noexcept {
  const dist::Rank* r = dist::this_rank();
  return r ? r->comm->local_rank() : 0;
}

int workers() noexcept {
  const dist::Rank* r = dist::this_rank();
  return r ? r->workers() : 1;
}

namespace detail {

void note_batch_size(std::int64_t rows) {
  dist::Rank* r = dist::this_rank();
  if (r && r->workers() > 1 && r->batch_size == 0) r->batch_size = rows;
}

std::int64_t whole_batches(std::int64_t rows, std::int64_t batch) {
  if (batch <= 0) throw std::invalid_argument("whole_batches: a batch of " + std::to_string(batch) + " rows");
  const std::int64_t ranks = policy().batch() == Batch::global ? 1 : workers();
  if (ranks == 1 || batch % ranks != 0) return rows / batch;
  const std::int64_t alone = batch / ranks;  // the batch size of the program
  return std::max(rows / batch, std::min<std::int64_t>(rows / alone, 1));
}

}  // namespace detail

// Objects of static storage say their last words when the session is over: one of them still.
bool is_root() noexcept { return dist::this_rank() ? rank() == 0 : dist::last_rank() == 0; }

const Policy& policy() noexcept {
  static const Policy none;
  const dist::Rank* r = dist::this_rank();
  return r ? r->settings.policy : none;
}

void barrier(CallSite site) {
  dist::Rank* r = dist::this_rank();
  if (r && r->size() > 1) r->comm->barrier({"barrier", site.file, site.line});
}

LongWork::LongWork(const char* what, double limit_seconds) {
  dist::Rank* r = dist::this_rank();
  if (r && r->board) r->board->begin_long_work(what, limit_seconds);
}

LongWork::~LongWork() {
  dist::Rank* r = dist::this_rank();
  if (r && r->board) r->board->end_long_work();
}

namespace {

double lr_factor(LrRule rule) {
  dist::Rank* r = dist::this_rank();
  if (!r || r->size() == 1 || r->settings.policy.batch() == Batch::global) return 1;
  const LrRule own = r->settings.policy.lr_scaling();
  if (own != LrRule::automatic) rule = own;
  double factor = 1;
  if (rule == LrRule::linear || rule == LrRule::automatic) factor = r->workers();
  else if (rule == LrRule::sqrt) factor = std::sqrt(static_cast<double>(r->workers()));
  r->lr_scale = factor;
  return factor;
}

}  // namespace

double scaled_lr(double lr, LrRule rule) {
  const double factor = lr_factor(rule);
  return factor == 1 ? lr : lr * factor;
}

float scaled_lr(float lr, LrRule rule) {
  const double factor = lr_factor(rule);
  return factor == 1 ? lr : static_cast<float>(lr * factor);
}

namespace dist {

void note_steps_per_pass(std::int64_t steps) {
  if (Rank* r = this_rank()) r->steps_per_pass = steps;
}

}  // namespace dist
}  // namespace hvd
