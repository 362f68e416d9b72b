// SPDX-License-Identifier: Apache-2.0
#include "connection.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "../process.hpp"

namespace hvd::dist {

namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }
void nap() { std::this_thread::sleep_for(std::chrono::microseconds(50)); }

// Runs `body` beside this thread and waits for it, but no longer than `seconds`: then it is left to itself.
void bounded(double seconds, std::function<void()> body) {
  const auto done = std::make_shared<std::atomic<bool>>(false);
  std::thread([done, body = std::move(body)] {
    body();
    done->store(true);
  }).detach();
  const auto begin = Clock::now();
  while (!done->load() && seconds_since(begin) < seconds) nap();
}

constexpr double kToAbort = 1, kToFree = 5;  // seconds; the guardians give a rank that ends by itself 1.5

}  // namespace

NcclConnection::NcclConnection(int rank, int size, const nccl::UniqueId& id, double deadline, std::function<std::string()> who)
    : nccl_(nccl_library().call), deadline_(deadline), who_(std::move(who)) {
  nccl::Config config;
  config.blocking = 0;
  constexpr const char* kCall = "ncclCommInitRankConfig";
  const nccl::Result begun = nccl_.CommInitRankConfig(&handle_, size, id, rank, &config);
  if (begun != nccl::kSuccess && begun != nccl::kInProgress) fail(kCall, text_of(begun));
  const auto begin = Clock::now();
  // A little earlier than the guardians, who cannot know what is being waited for.
  while (state(kCall) == nccl::kInProgress) {
    if (seconds_since(begin) > 0.8 * deadline_)
      fail(kCall, "the ranks are not connected after " + std::to_string(static_cast<int>(seconds_since(begin) + 0.5)) +
                      " s (NCCL_DEBUG=INFO tells what NCCL tries)");
    nap();
  }
}

NcclConnection::~NcclConnection() {
  if (!handle_) return;
  const nccl::Functions& nccl = nccl_;
  bounded(kToFree, [&nccl, handle = handle_] {
    nccl::Result state = nccl.CommFinalize(handle);
    while (state == nccl::kInProgress) {
      nap();
      if (nccl.CommGetAsyncError(handle, &state) != nccl::kSuccess) break;
    }
    if (state == nccl::kSuccess) nccl.CommDestroy(handle);
    else nccl.CommAbort(handle);
  });
}

std::string NcclConnection::text_of(nccl::Result result) const {
  const char* const last = nccl_.GetLastError(handle_);
  return std::string(nccl_.GetErrorString(result)) + (last && *last ? std::string(" (") + last + ")" : "");
}

nccl::Result NcclConnection::state(const char* call) {
  nccl::Result now = nccl::kSuccess;
  const nccl::Result asked = nccl_.CommGetAsyncError(handle_, &now);
  if (asked != nccl::kSuccess) fail("ncclCommGetAsyncError", text_of(asked));
  if (now != nccl::kSuccess && now != nccl::kInProgress) fail(call, text_of(now));
  return now;
}

void NcclConnection::finish_call(nccl::Result result, const char* call) {
  if (result != nccl::kSuccess && result != nccl::kInProgress) fail(call, text_of(result));
  // A launch takes NCCL some microseconds; connecting to a rank for the first time takes longer.
  constexpr int kPollsBeforeNap = 500;
  for (int polls = 0; result == nccl::kInProgress; ++polls) {
    if (polls < kPollsBeforeNap) std::this_thread::yield();
    else nap();
    result = state(call);
  }
}

void NcclConnection::poll(const char* call) { state(call); }

void NcclConnection::fail(const char* call, const std::string& why) {
  const std::string text = who_() + ": " + call + ": " + why;
  if (nccl::Handle handle = std::exchange(handle_, nullptr)) {
    const nccl::Functions& nccl = nccl_;
    announce_end(text);  // the others learn of it before this rank stops its own work
    bounded(kToAbort, [&nccl, handle] { nccl.CommAbort(handle); });
  }
  end_job(text);
}

}  // namespace hvd::dist
