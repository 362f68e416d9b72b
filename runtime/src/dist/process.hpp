// SPDX-License-Identifier: Apache-2.0
#pragma once

// The session of a process, from its start to all the ways in which it can end.

#include <string>

#include "settings.hpp"

namespace hvd::dist {

/// Makes this process a rank. On bad settings: one message on standard error and exit status 2.
void open_process(const Settings& settings);
/// Waits for all ranks and ends the session.
void close_process() noexcept;
/// An exception carries this rank out of its session.
void abandon_process() noexcept;
bool process_is_open() noexcept;
/// Opened before main begins: the next call of take_process() is true, once.
void leave_process_to_session() noexcept;
bool take_process() noexcept;
/// The rank that a closed session had; 0 before a session exists.
int last_rank() noexcept;
/// Tells all guardians that the job ends because of this rank, and says so unless another has: "rank 2 <what>".
void announce_end(const std::string& what);
/// The same, and ends this process at once, with the status of an uncaught exception. Throws std::runtime_error where ranks are no processes.
[[noreturn]] void end_job(const std::string& what);

}  // namespace hvd::dist
