// SPDX-License-Identifier: Apache-2.0
#include <hvd/dist/failure.hpp>

#include "fixed_text.hpp"
#include "process.hpp"
#include "rank.hpp"

namespace hvd {

namespace dist {

void remember_failure(const char* what) noexcept {
  Rank* r = this_rank();
  if (r && r->size() > 1) r->failed(what);
}

void Rank::failed(const char* what) noexcept {
  const std::lock_guard lock(failing_);
  if (failure_[0] == '\0') copy_text(failure_, what);
}

std::string Rank::failure() const {
  const std::lock_guard lock(failing_);
  return failure_;
}

void Rank::forget_failure() noexcept {
  const std::lock_guard lock(failing_);
  failure_[0] = '\0';
}

void end_after_failure() {
  const Rank* r = this_rank();
  const std::string text = r ? r->failure() : std::string();
  if (!text.empty()) end_job("went on after an error: " + text);
}

}  // namespace dist

namespace testing {

void forget_failure() noexcept {
  if (dist::Rank* r = dist::this_rank()) r->forget_failure();
}

}  // namespace testing
}  // namespace hvd
