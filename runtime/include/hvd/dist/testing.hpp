// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <hvd/dist/policy.hpp>

namespace hvd::testing {

/// Runs `body` on `ranks` ranks that are threads of this process (backend `threads`), each with a session and a context of its
/// own, and waits for all of them. An exception on one rank ends the others at their next collective; the exception of the
/// lowest rank that failed by itself is thrown. `deadline_seconds` bounds the wait in one collective.
void spawn(int ranks, const std::function<void()>& body, const Policy& policy = {}, double deadline_seconds = 60);

}  // namespace hvd::testing
