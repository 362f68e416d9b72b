// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is wrong with the job itself, and not with what the program has asked for: it is thrown, so that handlers and destructors run, but no handler
// undoes it. All of it is local.

#include <exception>
#include <string>
#include <typeinfo>

namespace hvd {

namespace dist {

/// From here on this rank's part of the job is wrong, whoever catches what is thrown: its next collective ends the job with these words, and so does
/// the end of the program with status 0. The first such error counts. Nothing where there is one rank.
void remember_failure(const char* what) noexcept;

/// What all errors of the job have in common.
class JobFailure {
 public:
  virtual ~JobFailure() = default;
  /// The exception as which a program knows it.
  virtual const std::type_info& known_as() const noexcept = 0;
};

/// `Known` (std::runtime_error, say) as an error of the job, remembered where it is made.
template <class Known>
class Failure : public Known, public JobFailure {
 public:
  explicit Failure(const std::string& what) : Known(what) { remember_failure(this->what()); }
  const std::type_info& known_as() const noexcept override { return typeid(Known); }
};

}  // namespace dist

namespace testing {

/// For tests that go on behind an error they wanted to see.
void forget_failure() noexcept;

}  // namespace testing
}  // namespace hvd
