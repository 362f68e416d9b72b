// SPDX-License-Identifier: Apache-2.0

// send and recv: a ring of bytes for every pair of ranks. A message is its header and its bytes; a long one goes in pieces, while
// the receiver reads.

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include <hvd/dist/failure.hpp>

#include "communicator.hpp"

namespace hvd::dist {

namespace {

struct Header {
  std::uint64_t bytes;
  std::int64_t tag;
};

// Copies between a buffer and the ring at a position that wraps around.
template <class CopyPiece>
void around(std::uint32_t position, std::size_t bytes, CopyPiece copy_piece) {
  const std::size_t at = position % MailRing::kBytes, first = std::min(bytes, MailRing::kBytes - at);
  copy_piece(at, 0, first);
  if (first < bytes) copy_piece(0, first, bytes - first);
}

}  // namespace

void LocalCommunicator::write_mail(MailRing& ring, const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes) {
    const std::uint32_t written = ring.written.value.load(std::memory_order_relaxed);
    std::uint32_t room = static_cast<std::uint32_t>(MailRing::kBytes) - (written - ring.read.value.load(std::memory_order_acquire));
    if (room == 0) {
      patience().wait(ring.read, written - static_cast<std::uint32_t>(MailRing::kBytes) + 1);
      continue;
    }
    const std::size_t n = std::min<std::size_t>(room, bytes);
    around(written, n, [&](std::size_t at, std::size_t offset, std::size_t piece) { std::memcpy(ring.data + at, from + offset, piece); });
    ring.written.set(written + static_cast<std::uint32_t>(n));
    from += n;
    bytes -= n;
  }
}

void LocalCommunicator::read_mail(MailRing& ring, void* data, std::size_t bytes) {
  char* to = static_cast<char*>(data);
  while (bytes) {
    const std::uint32_t read = ring.read.value.load(std::memory_order_relaxed);
    const std::uint32_t there = ring.written.value.load(std::memory_order_acquire) - read;
    if (there == 0) {
      patience().wait(ring.written, read + 1);
      continue;
    }
    const std::size_t n = std::min<std::size_t>(there, bytes);
    around(read, n, [&](std::size_t at, std::size_t offset, std::size_t piece) { std::memcpy(to + offset, ring.data + at, piece); });
    ring.read.set(read + static_cast<std::uint32_t>(n));
    to += n;
    bytes -= n;
  }
}

void LocalCommunicator::do_send(const void* data, std::size_t count, DataType type, int peer, int tag) {
  MailRing& ring = group_->mail(rank(), peer);
  const Header header{count * size_of(type), tag};
  write_mail(ring, &header, sizeof header);
  write_mail(ring, data, header.bytes);
}

void LocalCommunicator::do_recv(void* data, std::size_t count, DataType type, int peer, int tag) {
  const std::size_t expected = count * size_of(type);
  const auto check = [&](std::size_t bytes) {
    if (bytes != expected)
      throw dist::Failure<std::runtime_error>("recv '" + std::string(current_op()) + "': rank " + std::to_string(peer) + " sent " +
                               std::to_string(bytes) + " bytes, rank " + std::to_string(rank()) + " expects " +
                               std::to_string(expected));
  };
  auto& box = early_[{peer, tag}];
  if (!box.empty()) {
    const std::vector<char> message = std::move(box.front());
    box.pop_front();
    check(message.size());
    std::copy(message.begin(), message.end(), static_cast<char*>(data));
    return;
  }
  MailRing& ring = group_->mail(peer, rank());
  for (;;) {
    Header header;
    read_mail(ring, &header, sizeof header);
    if (header.tag == tag) {
      check(header.bytes);
      return read_mail(ring, data, expected);
    }
    std::vector<char> message(header.bytes);
    read_mail(ring, message.data(), message.size());
    early_[{peer, static_cast<int>(header.tag)}].push_back(std::move(message));
  }
}

}  // namespace hvd::dist
