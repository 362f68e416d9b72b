// SPDX-License-Identifier: Apache-2.0
#include "variants.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "device/gpu_library.hpp"
#include "dist/backends.hpp"
#include "dist/devices/plan.hpp"
#include "dist/tuning.hpp"

namespace hvd::bench {

namespace {

using dist::BackendChoice;
using dist::Communicator;

constexpr double kDeadline = 60;  // seconds

// The ranks' shared memory, started from MPI: rank 0 holds the meeting point.
std::unique_ptr<Communicator> start_local(int rank, int size) {
  int where[2] = {static_cast<int>(getpid()), rank == 0 ? memfd_create("hvd-bench", MFD_CLOEXEC) : -1};
  MPI_Bcast(where, 2, MPI_INT, 0, MPI_COMM_WORLD);
  return dist::make_local({rank, size, where[0], where[1]}, kDeadline);
}

std::shared_ptr<char> ordinary(std::size_t floats) {
  if (floats == 0) return nullptr;
  return {static_cast<char*>(std::aligned_alloc(64, (floats * sizeof(float) + 63) / 64 * 64)), std::free};
}

std::shared_ptr<char> on_device(std::size_t floats) {
  if (floats == 0) return nullptr;
  Allocator& memory = backends::require_gpu().allocator(MemoryKind::kDevice);
  const std::size_t bytes = floats * sizeof(float);
  return {static_cast<char*>(memory.allocate(bytes)), [&memory, bytes](char* p) { memory.release(p, bytes); }};
}

float* floats_of(const std::shared_ptr<char>& memory) { return reinterpret_cast<float*>(memory.get()); }

}  // namespace

Contest::Contest(int rank, int ranks, const std::string& memory, const std::string& backend) : memory_(memory), backend_(backend) {
  if (memory == "device") add_device();
  else add_host(rank, ranks);
  // The library is what the others are compared with.
  if (backend_ != "all") std::erase_if(variants_, [&](const Variant& v) { return v.comm && v.name != backend_; });
}

Contest::~Contest() = default;

void Contest::add(const std::string& name, std::unique_ptr<Communicator> comm, Memory memory) {
  variants_.push_back({name, comm.get(), memory});
  comms_.push_back(std::move(comm));
}

void Contest::add_host(int rank, int ranks) {
  variants_.push_back({"library", nullptr, Memory::ordinary});
  add("mpi", dist::make_mpi(), Memory::ordinary);
  add("local", start_local(rank, ranks), Memory::ordinary);
  Communicator* const local = comms_.back().get();
  auto copying = start_local(rank, ranks);
  dist::Tuning through_windows;
  through_windows.direct_from = dist::kNever;
  copying->tune(through_windows);
  add("windows", std::move(copying), Memory::ordinary);
  variants_.push_back({"registered", local, Memory::registered});
  if (memory_ != "all") std::erase_if(variants_, [&](const Variant& v) { return v.comm && (v.memory == Memory::registered) != (memory_ == "registered"); });
}

// Through the host by MPI, which the others are compared with; then those that every rank has.
void Contest::add_device() {
  constexpr struct {
    const char* name;
    BackendChoice choice;
  } kWays[] = {{"staged", BackendChoice::mpi}, {"nccl", BackendChoice::nccl}, {"mpi_cuda", BackendChoice::mpi_cuda}};
  for (const auto& way : kWays) {
    if (backend_ != "all" && backend_ != way.name) continue;
    auto comm = dist::make_mpi();
    const auto devices = std::make_shared<dist::Devices>(way.choice, kDeadline, true);
    comm->use_devices(devices);
    comm->plan_devices();
    std::string problem = devices->plan().error;
    if (!backends::gpu_problem().empty()) problem = backends::gpu_problem();
    if (problem.empty()) add(way.name, std::move(comm), Memory::device);
    else left_out_ += std::string(way.name) + " is left out: " + problem + "\n";
  }
}

Area::Area(const Variant& variant, std::size_t in, std::size_t out) : in_(in), out_(out) {
  const bool registered = variant.memory == Memory::registered;
  host_in_ = registered && in ? variant.comm->allocate(in * sizeof(float)) : ordinary(in);
  host_out_ = registered && out ? variant.comm->allocate(out * sizeof(float)) : ordinary(out);
  host_ = {floats_of(host_in_), floats_of(host_out_), {}};
  if (variant.memory != Memory::device) return;
  device_in_ = on_device(in);
  device_out_ = on_device(out);
  device_ = {floats_of(device_in_), floats_of(device_out_), {backends::require_gpu().device(), nullptr}};
}

void Area::send() const {
  if (!device_in_) return;
  dist::copy_to_device(device_.in, host_.in, in_ * sizeof(float));
  if (device_.out) dist::copy_to_device(device_.out, host_.out, out_ * sizeof(float));
}

void Area::fetch() const {
  if (!device_in_) return;
  dist::copy_to_host(host_.in, device_.in, in_ * sizeof(float));
  if (device_.out) dist::copy_to_host(host_.out, device_.out, out_ * sizeof(float));
}

}  // namespace hvd::bench
