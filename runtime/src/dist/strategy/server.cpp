// SPDX-License-Identifier: Apache-2.0
#include "server.hpp"

#include <cstring>
#include <utility>

#include <hvd/context.hpp>
#include <hvd/core/error.hpp>
#include <hvd/dist/failure.hpp>

namespace hvd::dist {

void ParameterServer::refuse_second() const {
  throw dist::Failure<Error>("HVD_SYNC=parameter-server: two optimizer steps in one round of the loop; the second would not see what the first has "
              "changed before the round ends, so run this program with HVD_SYNC=step");
}

void ParameterServer::begin_push() const {
  if (pull_) refuse_second();
  if (!context().current_slice)
    throw dist::Failure<Error>("HVD_SYNC=parameter-server: an optimizer steps outside of a loop over batches, where it is not known when the workers "
                "need the parameters; run this program with HVD_SYNC=step");
  if (rank_.loss_scaled)
    throw dist::Failure<Error>("HVD_SYNC=parameter-server: a GradScaler decides by the gradients, which the workers do not have; run this program with "
                "HVD_SYNC=step");
  if (rank_.scope && rank_.settings.staleness > 0)
    throw dist::Failure<Error>("HVD_SYNC=parameter-server:async: this program steps through its batches by hand, so it is not known where an epoch ends, "
                "and workers must have all steps of the server by then; run it with HVD_SYNC=parameter-server, or with HVD_SYNC=step");
}

void ParameterServer::pushed(Pull pull) {
  pull_ = std::move(pull);
  pull_->batch = rank_.batches;  // the next one may have begun when the body is over
  pull_->step = rank_.step;
  asked_ = sends_ahead();
  if (!asked_) return;
  if (rank_.trace) rank_.trace->push(rank_.step, outstanding_.size());
  ask();  // from here on the server need not wait for this rank
}

void ParameterServer::ask() { outstanding_.push_back({*pull_, pull_->by->ask(pull_->pack().bytes(), pull_->batch, pull_->step)}); }

// The server's parameters as they are now; collective, or, of a server that workers do not wait for, to be taken later.
void ParameterServer::bring() {
  if (!pull_) return;
  if (sends_ahead()) {
    if (!std::exchange(asked_, false)) ask();
    return;
  }
  const Parcel parcel = pull_->pack();
  if (pull_->by) {
    outstanding_.push_back({*pull_, pull_->by->send(parcel, pull_->batch)});
    return;
  }
  send(parcel.pieces, op_name("parameters", pull_->site));
  if (rank_.rank() != 0 && parcel.unpack) parcel.unpack();
}

// Until at most so many of the server's steps are missing here. On the server: until the workers have all but so many.
void ParameterServer::come_within(std::size_t steps) {
  while (!outstanding_.empty()) {
    const Outstanding& oldest = outstanding_.front();
    if (outstanding_.size() > steps) oldest.pull.by->wait(oldest.number);
    else if (!oldest.pull.by->there(oldest.number)) return;
    const std::int64_t step = rank_.rank() == 0 ? 0 : oldest.pull.by->take(oldest.pull.pack());
    if (step && rank_.trace) rank_.trace->pull(step);
    outstanding_.pop_front();
  }
}

void ParameterServer::after_step(bool pass_over) {
  bring();
  pull_.reset();
  if (asynchronous()) come_within(sends_ahead() && !pass_over ? rounds() - 1 : 0);
}

// The program may not have made its step yet: the end of the body brings the parameters again.
void ParameterServer::settle() {
  bring();
  come_within(0);
}

void ParameterServer::drain() {
  if (!asynchronous()) return;
  if (pull_) refuse_second();
  come_within(0);
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
