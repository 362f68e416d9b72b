// SPDX-License-Identifier: Apache-2.0
#pragma once

// What every backend must do, in parts. Each is collective over the ranks of `comm` and ends the job where a result is not exact.

#include <cstdint>
#include <vector>

#include <hvd/dist/communicator.hpp>

namespace hvd::conformance {

/// Where operands lie: malloc's memory, Communicator::allocate's, a GPU's.
enum class Memory { ordinary, registered, device };
using Memories = std::vector<Memory>;

/// All operations, data types, roots and lengths, in place and not. `largest`: elements.
void check_operations(dist::Communicator& comm, std::size_t largest, const Memories& memories);
/// The same bits on every rank, for sums that depend on their order, and again in a second run.
void check_determinism(dist::Communicator& comm, const Memories& memories);
/// Gathers of parts of different lengths, none from some ranks.
void check_uneven_gather(dist::Communicator& comm, Memory memory);
/// send and recv: rings, tags out of order, messages of no and of many bytes, a wrong length.
void check_messages(dist::Communicator& comm, Memory memory);
/// Operations of different kinds and lengths in a random order that is the same on all ranks, without a pause between them.
void check_sequences(dist::Communicator& comm, int operations, const Memories& memories);
/// Communicators of two threads of a rank, used at the same time in an order that differs between ranks.
void check_two_channels(dist::Communicator& comm);
/// Registered memory is zero at first, aligned, and may come and go.
void check_memory(dist::Communicator& comm);

}  // namespace hvd::conformance
