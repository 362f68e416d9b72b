// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

namespace hvd {

/// Host memory of so many bytes, all zero, aligned to 64 bytes, that the other ranks of this host can reach: collectives over buffers
/// that lie in it on every rank do not copy them. Ordinary memory where there is one rank, no session, or a backend that has no
/// use for it. It lives as long as the pointer, beyond the session too. Local. Errors: std::bad_alloc or std::runtime_error with the
/// reason when there is no memory.
std::shared_ptr<void> alloc(std::size_t bytes);

}  // namespace hvd
