// SPDX-License-Identifier: Apache-2.0
#include "server.hpp"

#include <cstring>
#include <utility>

#include <hvd/context.hpp>
#include <hvd/core/error.hpp>

namespace hvd::dist {

void ParameterServer::begin_push() const {
  if (pull_)
    throw Error("HVD_SYNC=parameter-server: two optimizer steps in one round of the loop; the second would not see what the first has "
                "changed before the round ends, so run this program with HVD_SYNC=step");
  if (!context().current_slice)
    throw Error("HVD_SYNC=parameter-server: an optimizer steps outside of a loop over batches, where it is not known when the workers "
                "need the parameters; run this program with HVD_SYNC=step");
  if (rank_.loss_scaled)
    throw Error("HVD_SYNC=parameter-server: a GradScaler decides by the gradients, which the workers do not have; run this program with "
                "HVD_SYNC=step");
}

void ParameterServer::settle() {
  if (const auto pull = std::exchange(pull_, nullptr)) pull();
}

void ParameterServer::send(const std::vector<Piece>& pieces, const OpName& name) {
  std::size_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.bytes;
  if (bytes > buffer_bytes_) {
    buffer_ = rank_.comm->allocate(bytes);
    buffer_bytes_ = bytes;
  }
  char* at = buffer_.get();
  const bool server = rank_.rank() == 0;
  for (const Piece& piece : pieces) {
    if (server && piece.bytes) std::memcpy(at, piece.data, piece.bytes);
    at += piece.bytes;
  }
  rank_.comm->broadcast(buffer_.get(), bytes, DataType::uint8, 0, name);
  at = buffer_.get();
  for (const Piece& piece : pieces) {
    if (!server && piece.bytes) std::memcpy(piece.data, at, piece.bytes);
    at += piece.bytes;
  }
}

}  // namespace hvd::dist
