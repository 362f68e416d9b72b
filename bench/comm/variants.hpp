// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who takes part in a run of hvd-bench, and the buffers that each of them works on.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "operations.hpp"

namespace hvd::bench {

enum class Memory { ordinary, registered, device };

struct Variant {
  std::string name;
  dist::Communicator* comm;  // null: the MPI library itself
  Memory memory;
};

/// The variants of one job, with their communicators.
class Contest {
 public:
  /// `memory`: ordinary, registered, all (both), or device (a GPU's); `backend`: the name of one variant, or all. Collective.
  Contest(int rank, int ranks, const std::string& memory, const std::string& backend);
  ~Contest();
  Contest(const Contest&) = delete;
  Contest& operator=(const Contest&) = delete;

  const std::vector<Variant>& variants() const { return variants_; }
  /// "nccl is left out: rank 0: ...", a line for each that cannot take part.
  const std::string& left_out() const { return left_out_; }

 private:
  void add(const std::string& name, std::unique_ptr<dist::Communicator> comm, Memory memory);
  void add_host(int rank, int ranks);
  void add_device();

  std::string memory_, backend_, left_out_;
  std::vector<std::unique_ptr<dist::Communicator>> comms_;
  std::vector<Variant> variants_;
};

/// The buffers of one variant. Values are set and looked at on the host.
class Area {
 public:
  Area(const Variant& variant, std::size_t in, std::size_t out);
  /// What the operation is given.
  const Buffers& operands() const { return device_in_ ? device_ : host_; }
  const Buffers& host() const { return host_; }
  /// From the host to the operands, and back; nothing to do where they are the same.
  void send() const;
  void fetch() const;

 private:
  std::size_t in_, out_;  // floats
  std::shared_ptr<char> host_in_, host_out_, device_in_, device_out_;
  Buffers host_, device_;
};

}  // namespace hvd::bench
