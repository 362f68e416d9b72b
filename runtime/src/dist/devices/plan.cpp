// SPDX-License-Identifier: Apache-2.0
#include "plan.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../backends.hpp"
#include "../nccl/nccl.hpp"
#include "device/gpu_library.hpp"

namespace hvd::dist {

namespace {

template <std::size_t N>
void put(char (&to)[N], const std::string& text) {
  std::snprintf(to, N, "%s", text.c_str());
}

bool may_use(BackendChoice asked, BackendChoice way) { return asked == way || asked == BackendChoice::automatic; }

// The first rank whose fact is missing, with its reason.
template <class Missing>
std::string first_missing(const std::vector<DeviceFacts>& facts, const char* (*reason)(const DeviceFacts&), Missing missing) {
  for (std::size_t r = 0; r < facts.size(); ++r)
    if (missing(facts[r])) return "rank " + std::to_string(r) + ": " + reason(facts[r]);
  return {};
}

std::string why_no_gpu(const std::vector<DeviceFacts>& facts) {
  return first_missing(facts, [](const DeviceFacts& f) -> const char* { return f.gpu_problem; }, [](const DeviceFacts& f) { return !f.gpu[0]; });
}

std::string version_text(std::int32_t code) {
  return std::to_string(code / 10000) + "." + std::to_string(code % 10000 / 100) + "." + std::to_string(code % 100);
}

std::string why_no_nccl(const std::vector<DeviceFacts>& facts) {
  std::string why = why_no_gpu(facts);
  if (why.empty())
    why = first_missing(facts, [](const DeviceFacts& f) -> const char* { return f.nccl_problem; }, [](const DeviceFacts& f) { return !f.nccl; });
  for (std::size_t r = 1; r < facts.size() && why.empty(); ++r)
    if (facts[r].nccl != facts[0].nccl)
      why = "rank 0 has NCCL " + version_text(facts[0].nccl) + ", rank " + std::to_string(r) + " has " + version_text(facts[r].nccl);
  return why;
}

std::string why_no_mpi_cuda(const std::vector<DeviceFacts>& facts) {
  const std::string why = why_no_gpu(facts);
  if (!why.empty()) return why;
  return first_missing(facts, [](const DeviceFacts& f) -> const char* { return f.mpi_problem; }, [](const DeviceFacts& f) { return !f.mpi_cuda; });
}

std::vector<int> sharing_ranks(const std::vector<DeviceFacts>& facts) {
  std::vector<int> ranks;
  for (std::size_t r = 0; r < facts.size(); ++r) {
    const auto same = [&](const DeviceFacts& f) { return &f != &facts[r] && f.gpu[0] && std::strcmp(f.gpu, facts[r].gpu) == 0; };
    if (std::any_of(facts.begin(), facts.end(), same)) ranks.push_back(static_cast<int>(r));
  }
  return ranks;
}

// NCCL takes two ranks for one where host and GPU are the same.
void separate_ranks(const std::vector<int>& sharing, int rank) {
  if (std::find(sharing.begin(), sharing.end(), rank) == sharing.end()) return;
  const char* const set = std::getenv("NCCL_HOSTID");
  if (set && *set) return;
  char host[200] = "";
  gethostname(host, sizeof host - 1);
  setenv("NCCL_HOSTID", (std::string(host) + "-rank" + std::to_string(rank)).c_str(), 1);
  if (rank != sharing.front()) return;
  std::string list;
  for (const int r : sharing) list += (list.empty() ? "" : ", ") + std::to_string(r);
  std::fprintf(stderr, "hvd: ranks %s share a GPU with another: each gets a NCCL_HOSTID of its own, and NCCL goes through the network between them\n",
               list.c_str());
}

}  // namespace

DeviceFacts device_facts(BackendChoice asked, bool under_mpi) {
  DeviceFacts facts;
  const std::string no_gpu = backends::gpu_problem();
  if (!no_gpu.empty()) {
    put(facts.gpu_problem, no_gpu);
    return facts;
  }
  put(facts.gpu, backends::gpu_library()->identity());
  if (may_use(asked, BackendChoice::nccl)) {
    const NcclLibrary& nccl = nccl_library();
    put(facts.nccl_problem, nccl.problem);
    facts.nccl = nccl.version;
  }
  if (may_use(asked, BackendChoice::mpi_cuda)) {
    const std::string problem = under_mpi ? mpi_cuda_problem() : "the ranks of hvd-run have no MPI";
    put(facts.mpi_problem, problem);
    facts.mpi_cuda = problem.empty();
  }
  return facts;
}

DevicePlan plan_devices(const std::vector<DeviceFacts>& facts, BackendChoice asked) {
  DevicePlan plan;
  plan.sharing = sharing_ranks(facts);
  if (asked == BackendChoice::nccl) {
    plan.way = DeviceWay::nccl;
    plan.error = why_no_nccl(facts);
  } else if (asked == BackendChoice::mpi_cuda) {
    plan.way = DeviceWay::mpi_cuda;
    plan.error = why_no_mpi_cuda(facts);
  } else if (asked == BackendChoice::automatic) {
    if (plan.sharing.empty() && why_no_nccl(facts).empty()) plan.way = DeviceWay::nccl;
    else if (why_no_mpi_cuda(facts).empty()) plan.way = DeviceWay::mpi_cuda;
  }
  return plan;
}

void Devices::adopt(const std::vector<DeviceFacts>& facts, int rank) {
  plan_ = plan_devices(facts, asked_);
  if (plan_->way == DeviceWay::nccl && plan_->error.empty()) separate_ranks(plan_->sharing, rank);
}

std::unique_ptr<DeviceTransport> Devices::connect(Communicator& comm) const {
  if (plan_->way == DeviceWay::nccl) return connect_nccl(comm, deadline_);
  if (plan_->way == DeviceWay::mpi_cuda) return connect_mpi_cuda(comm);
  return make_staged(comm);
}

}  // namespace hvd::dist
