// SPDX-License-Identifier: Apache-2.0

// Numbers and decisions that do not depend on a step.

#include <hvd/dist/failure.hpp>
#include <hvd/dist/from_root.hpp>
#include <hvd/dist/numbers.hpp>

#include <new>
#include <stdexcept>

#include <hvd/core/error.hpp>

#include "exchange.hpp"

namespace hvd::detail {

void sum_numbers(Number* numbers, std::size_t count) {
  dist::Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return;
  dist::combine_numbers(*rank, numbers, count, Combine::sum, true, {"all_reduce_sum"});
}

bool root_decision(bool mine, CallSite site) {
  dist::Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return mine;
  std::uint8_t decision = mine;
  rank->comm->broadcast(&decision, 1, dist::DataType::uint8, 0, dist::op_name("agree", site));
  return decision != 0;
}

std::int64_t root_choice(std::int64_t mine, CallSite site) {
  dist::Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return mine;
  rank->comm->broadcast(&mine, 1, dist::DataType::int64, 0, dist::op_name("agree", site));
  return mine;
}

void root_bytes(std::string& bytes, const char* name, CallSite site) {
  dist::Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return;
  bytes = dist::broadcast_text(*rank->comm, std::move(bytes), 0, dist::op_name(name, site));
}

namespace {

// The standard exception types by number, the most derived first.
enum class ErrorType : char { none, invalid_argument, domain_error, length_error, out_of_range, logic_error, range_error,
                              overflow_error, underflow_error, hvd_error, runtime_error, bad_alloc, framework, other };

template <class E>
bool is_a(const std::exception& e) {
  return dynamic_cast<const E*>(&e) != nullptr;
}

ErrorType type_of(const std::exception& e) {
  if (is_a<std::invalid_argument>(e)) return ErrorType::invalid_argument;
  if (is_a<std::domain_error>(e)) return ErrorType::domain_error;
  if (is_a<std::length_error>(e)) return ErrorType::length_error;
  if (is_a<std::out_of_range>(e)) return ErrorType::out_of_range;
  if (is_a<std::logic_error>(e)) return ErrorType::logic_error;
  if (is_a<std::range_error>(e)) return ErrorType::range_error;
  if (is_a<std::overflow_error>(e)) return ErrorType::overflow_error;
  if (is_a<std::underflow_error>(e)) return ErrorType::underflow_error;
  if (is_a<Error>(e)) return ErrorType::hvd_error;
  if (is_a<std::bad_alloc>(e)) return ErrorType::bad_alloc;
  return ErrorType::runtime_error;
}

// One character for the type, for the framework's one more, then the text.
std::string describe(std::exception_ptr error, const ErrorKinds& framework) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    if (const char kind = framework.kind ? framework.kind(e) : '\0') return std::string{static_cast<char>(ErrorType::framework), kind} + e.what();
    return std::string(1, static_cast<char>(type_of(e))) + e.what();
  } catch (...) {
    return std::string(1, static_cast<char>(ErrorType::other)) + "the root failed with an exception that is not a std::exception";
  }
}

[[noreturn]] void throw_like_root(ErrorType type, const std::string& text) {
  switch (type) {
    case ErrorType::invalid_argument: throw std::invalid_argument(text);
    case ErrorType::domain_error: throw std::domain_error(text);
    case ErrorType::length_error: throw std::length_error(text);
    case ErrorType::out_of_range: throw std::out_of_range(text);
    case ErrorType::logic_error: throw std::logic_error(text);
    case ErrorType::range_error: throw std::range_error(text);
    case ErrorType::overflow_error: throw std::overflow_error(text);
    case ErrorType::underflow_error: throw std::underflow_error(text);
    case ErrorType::hvd_error: throw Error(text);
    case ErrorType::bad_alloc: throw std::bad_alloc();
    default: throw std::runtime_error(text);
  }
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

void note_caught(ErrorKinds framework) noexcept {
  try {
    throw;
  } catch (const std::exception& error) {
    const bool known = dynamic_cast<const Error*>(&error) || dynamic_cast<const std::bad_alloc*>(&error) || (framework.kind && framework.kind(error));
    if (!known || dynamic_cast<const dist::JobFailure*>(&error)) return;
    const std::string text = first_line(error.what());
    const dist::Rank* rank = dist::this_rank();
    if (rank && rank->shared_error == text) return;  // all ranks have it
    dist::remember_failure(("an error in a training step on this rank, which the program caught, and which other ranks may not have: " + text).c_str());
  } catch (...) {
  }
}

void share_root_result(std::string& bytes, std::exception_ptr error, CallSite site, ErrorKinds framework) {
  std::string message = error ? describe(error, framework) : std::string(1, static_cast<char>(ErrorType::none)) + bytes;
  root_bytes(message, "from_root", site);
  const auto type = static_cast<ErrorType>(message[0]);
  if (dist::Rank* rank = dist::this_rank(); rank && type != ErrorType::none) rank->shared_error = first_line(message.substr(type == ErrorType::framework ? 2 : 1));
  if (error) std::rethrow_exception(error);
  message.erase(0, 1);
  if (type == ErrorType::framework) framework.raise(message[0], message.substr(1));
  if (type != ErrorType::none) throw_like_root(type, message);
  bytes = std::move(message);
}

}  // namespace hvd::detail
