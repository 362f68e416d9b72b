// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parameters on their way from a server to workers that go on meanwhile.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "../exchange.hpp"
#include "../reducer.hpp"

namespace hvd::dist {

/// Memory of the host that is the server's after a pull.
struct Piece {
  void* data = nullptr;
  std::size_t bytes = 0;
};
/// One optimizer's parameters: where they lie themselves, or copies that `unpack` brings back to where they belong.
struct Parcel {
  std::vector<Piece> pieces;
  std::function<void()> unpack;
  std::size_t bytes() const;
};

/// Broadcasts of one optimizer's parameters, by the thread that sums its gradients, in between these sums. To be destroyed after `by`.
class Pulls {
 public:
  Pulls(Rank& rank, Reducer& by) : rank_(rank), by_(by) {}
  Pulls(const Pulls&) = delete;
  Pulls& operator=(const Pulls&) = delete;

  /// On the server: sends them as they are now, of a round in batch number `batch`. Returns the operation's number.
  std::uint64_t send(const Parcel& parcel, std::int64_t batch);
  /// On a worker: what the server sends next, of `step`, is to be taken in beside the program. Returns the operation's number.
  std::uint64_t ask(std::size_t bytes, std::int64_t batch, std::int64_t step);
  /// Whether parameters of so many bytes in all are still those that it was made for; else another must take its place.
  bool fits(std::size_t bytes) const { return !made_ || bytes == bytes_; }
  bool there(std::uint64_t number) { return by_.done(number); }
  void wait(std::uint64_t number) { by_.wait_for(number, "parameters"); }
  /// On a worker: the newest that has come. Returns its step; 0: there is none that was not taken before. Error: it does not fit.
  std::int64_t take(const Parcel& parcel);

 private:
  void make_room(std::size_t bytes);

  Rank& rank_;
  Reducer& by_;
  std::mutex mutex_;  // of `newest_` and `step_`
  std::shared_ptr<char> coming_, newest_;
  std::size_t bytes_ = 0;
  bool made_ = false;
  std::int64_t step_ = 0;  // of `newest_`, until it is taken
};

}  // namespace hvd::dist
