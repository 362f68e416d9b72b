// SPDX-License-Identifier: Apache-2.0
#include "pulls.hpp"

#include <cstring>
#include <utility>

#include <hvd/core/error.hpp>
#include <hvd/dist/failure.hpp>

namespace hvd::dist {

std::size_t Parcel::bytes() const {
  std::size_t all = 0;
  for (const Piece& piece : pieces) all += piece.bytes;
  return all;
}

// Once: the thread of the broadcasts has the memory from then on.
void Pulls::make_room(std::size_t bytes) {
  if (made_) return;
  made_ = true;
  coming_ = rank_.comm->allocate(bytes);
  if (rank_.rank() != 0) newest_ = rank_.comm->allocate(bytes);
  bytes_ = bytes;
}

std::uint64_t Pulls::send(const Parcel& parcel, std::int64_t batch) {
  make_room(parcel.bytes());
  char* at = coming_.get();
  for (const Piece& piece : parcel.pieces) {
    if (piece.bytes) std::memcpy(at, piece.data, piece.bytes);
    at += piece.bytes;
  }
  return by_.submit("parameters", batch, [this](Communicator& comm, const OpName& name) {
    comm.broadcast(coming_.get(), bytes_, DataType::uint8, 0, name);
  });
}

std::uint64_t Pulls::ask(std::size_t bytes, std::int64_t batch, std::int64_t step) {
  make_room(bytes);
  return by_.submit("parameters", batch, [this, step](Communicator& comm, const OpName& name) {
    comm.broadcast(coming_.get(), bytes_, DataType::uint8, 0, name);
    const std::lock_guard lock(mutex_);
    std::swap(coming_, newest_);
    step_ = step;
  });
}

std::int64_t Pulls::take(const Parcel& parcel) {
  const std::lock_guard lock(mutex_);
  if (step_ == 0) return 0;
  if (!fits(parcel.bytes()))
    throw dist::Failure<Error>("HVD_SYNC=parameter-server:async: the parameters have been converted while those of the server were on their way; convert them "
                "outside of the loop over batches");
  const char* at = newest_.get();
  for (const Piece& piece : parcel.pieces) {
    if (piece.bytes) std::memcpy(piece.data, at, piece.bytes);
    at += piece.bytes;
  }
  if (parcel.unpack) parcel.unpack();
  return std::exchange(step_, 0);
}

}  // namespace hvd::dist
