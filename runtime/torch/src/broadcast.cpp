// SPDX-License-Identifier: Apache-2.0
#include <hvd/torch/broadcast.hpp>

#include <cstring>
#include <sstream>
#include <stdexcept>

#include <ATen/CPUGeneratorImpl.h>
#include <torch/serialize/archive.h>

#include <hvd/context.hpp>

#include "state.hpp"

namespace hvd {

namespace {

using namespace torch_binding;

struct Named {
  std::string name;
  at::Tensor tensor;
};

std::string describe(const Named& t) {
  std::ostringstream out;
  out << t.name << ' ' << c10::toString(t.tensor.scalar_type()) << ' ' << t.tensor.sizes();
  return out.str();
}

// Raw values of the root into the tensor, which has the same shape everywhere.
void send(Rank& rank, const Named& t) {
  const at::NoGradGuard no_grad;
  if (!t.tensor.defined()) return;
  const at::Tensor here = t.tensor.detach();
  const at::Tensor flat = here.to(at::kCPU).contiguous();
  rank.comm->broadcast(flat.data_ptr(), flat.nbytes(), dist::DataType::uint8, 0, {t.name.c_str()});
  if (rank.rank() != 0 && flat.data_ptr() != here.data_ptr()) here.copy_(flat);
}

// All ranks must hold the same list; the error reaches all of them and names the first entry that differs.
void check_same(Rank& rank, const std::vector<Named>& tensors, const char* what) {
  std::string mine;
  for (const Named& t : tensors) mine += describe(t) + "\n";
  const std::string root = broadcast_text(*rank.comm, mine, 0, {"broadcast"});
  std::string difference;
  if (mine != root) {
    std::istringstream here(mine), there(root);
    std::string a, b;
    do {
      a = b = "nothing";
      std::getline(here, a);
      std::getline(there, b);
    } while (a == b);
    difference = std::string("the ") + what + " of rank " + std::to_string(rank.rank()) + " has '" + a + "' where rank 0 has '" + b + "'";
  }
  std::uint64_t first = difference.empty() ? static_cast<std::uint64_t>(rank.size()) : static_cast<std::uint64_t>(rank.rank());
  rank.comm->allreduce(&first, 1, dist::DataType::uint64, dist::ReduceOp::min, {"broadcast"});
  if (first == static_cast<std::uint64_t>(rank.size())) return;
  throw std::runtime_error("broadcast: " + broadcast_text(*rank.comm, difference, static_cast<int>(first), {"broadcast"}));
}

void broadcast_module(Rank& rank, torch::nn::Module& module) {
  std::vector<Named> tensors;
  for (const auto& p : module.named_parameters())
    if (p.value().defined()) tensors.push_back({p.key(), p.value()});
  for (const auto& b : module.named_buffers())
    if (b.value().defined()) tensors.push_back({b.key(), b.value()});
  check_same(rank, tensors, "model");
  for (const Named& t : tensors) send(rank, t);
  for (const auto& child : module.modules(false))
    if (child->name().find("BatchNorm") != std::string::npos) state(rank).models.push_back(child);
}

// State appears with the first step or a load: the root may have some where the others have none, so all of it is taken over.
void broadcast_optimizer(Rank& rank, torch::optim::Optimizer& optimizer) {
  std::vector<Named> parameters;
  for (const at::Tensor& p : parameters_of(optimizer)) parameters.push_back({"parameter " + std::to_string(parameters.size()), p});
  check_same(rank, parameters, "optimizer");
  for (const Named& t : parameters) send(rank, t);  // those of no model too: bare tensors, masks, inputs to be optimised
  std::string bytes;
  if (rank.rank() == 0 && !optimizer.state().empty()) {
    torch::serialize::OutputArchive archive;
    optimizer.save(archive);
    std::ostringstream out;
    archive.save_to(out);
    bytes = out.str();
  }
  bytes = broadcast_text(*rank.comm, std::move(bytes), 0, {"optimizer state"});
  if (rank.rank() == 0 || bytes.empty()) return;
  std::istringstream in(bytes);
  torch::serialize::InputArchive archive;
  archive.load_from(in);
  optimizer.load(archive);
}

void broadcast_generator(Rank& rank) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> lock(generator.mutex());
  at::Tensor state = generator.get_state().clone();
  rank.comm->broadcast(state.data_ptr(), state.nbytes(), dist::DataType::uint8, 0, {"random state"});
  if (rank.rank() != 0) generator.set_state(state);
}

}  // namespace

void detail::broadcast_items(const std::vector<BroadcastItem>& items) {
  Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return;
  for (const BroadcastItem& item : items) {
    if (item.module) broadcast_module(*rank, *item.module);
    if (item.optimizer) {
      broadcast_optimizer(*rank, *item.optimizer);
      binding_of(*rank, *item.optimizer);
    }
    if (item.tensor) {
      check_same(*rank, {{"tensor", *item.tensor}}, "tensor");
      send(*rank, {"tensor", *item.tensor});
    }
  }
  broadcast_generator(*rank);
}

void sync_buffers(torch::nn::Module& model, CallSite site) {
  Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return;
  const at::NoGradGuard no_grad;
  State& state = torch_binding::state(*rank);
  std::int64_t& at_sync = state.rows_at_sync[&model];
  const double mine = static_cast<double>(state.rows - at_sync);
  at_sync = state.rows;
  const dist::OpName name = dist::op_name("sync_buffers", site);
  const double all = dist::sum_over_ranks(*rank, mine, name);
  if (all == 0) return;  // nobody has trained since: still the same everywhere
  const double weight = mine / all;
  for (const auto& entry : model.named_buffers()) {
    if (!entry.value().defined()) continue;
    if (!entry.value().is_floating_point()) {
      send(*rank, {entry.key(), entry.value()});
      continue;
    }
    // Weight 0 selects zero.
    at::Tensor wide = entry.value().detach().to(at::kCPU, at::kDouble).contiguous().clone();
    wide = weight == 0 ? at::zeros_like(wide) : wide * weight;
    rank->comm->allreduce(wide.data_ptr(), static_cast<std::size_t>(wide.numel()), dist::DataType::float64, dist::ReduceOp::sum, name);
    entry.value().detach().copy_(wide);
  }
}

}  // namespace hvd
