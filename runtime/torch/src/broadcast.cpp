// SPDX-License-Identifier: Apache-2.0
#include <hvd/dist/failure.hpp>
#include <hvd/torch/broadcast.hpp>

#include <cstring>
#include <sstream>
#include <stdexcept>

#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/serialize/archive.h>

#include <hvd/context.hpp>
#include <hvd/torch/device.hpp>

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
  out << t.name << ' ' << t.tensor.sizes();
  return out.str();
}

// Raw values of the root into the tensor, which has the same shape everywhere.
void send(Rank& rank, const Named& t) {
  const at::NoGradGuard no_grad;
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
      if (!std::getline(here, a)) a = "nothing";
      if (!std::getline(there, b)) b = "nothing";
    } while (a == b);
    difference = std::string("the ") + what + " of rank " + std::to_string(rank.rank()) + " has '" + a + "' where rank 0 has '" + b + "'";
  }
  std::uint64_t first = difference.empty() ? static_cast<std::uint64_t>(rank.size()) : static_cast<std::uint64_t>(rank.rank());
  rank.comm->allreduce(&first, 1, dist::DataType::uint64, dist::ReduceOp::min, {"broadcast"});
  if (first == static_cast<std::uint64_t>(rank.size())) return;
  throw dist::Failure<std::runtime_error>("broadcast: " + broadcast_text(*rank.comm, difference, static_cast<int>(first), {"broadcast"}));
}

bool is_batch_norm(const torch::nn::Module& module) {
  return dynamic_cast<const torch::nn::BatchNorm1dImpl*>(&module) || dynamic_cast<const torch::nn::BatchNorm2dImpl*>(&module) ||
         dynamic_cast<const torch::nn::BatchNorm3dImpl*>(&module);
}

bool has(c10::DeviceType type) {
  return type == at::kCPU || (c10::impl::hasDeviceGuardImpl(type) && c10::impl::VirtualGuardImpl(type).deviceCount() > 0);
}

// A checkpoint that the root has loaded may have another type than the model was made with, or lie on another device, as torch::load(model, file, device)
// says: the others' tensors take it too. Ranks that have no such device compute where they are.
void follow_types(Rank& rank, const std::vector<Named>& tensors) {
  const at::NoGradGuard no_grad;
  std::vector<std::int64_t> forms;
  for (const Named& t : tensors) {
    forms.push_back(static_cast<std::int64_t>(t.tensor.scalar_type()));
    forms.push_back(static_cast<std::int64_t>(t.tensor.device().type()));
    forms.push_back(has(c10::DeviceType::CUDA));
  }
  rank.comm->broadcast(forms.data(), forms.size(), dist::DataType::int64, 0, {"broadcast"});
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    at::Tensor mine = tensors[i].tensor;
    const auto type = static_cast<at::ScalarType>(forms[3 * i]);
    const auto kind = static_cast<c10::DeviceType>(forms[3 * i + 1]);
    const bool chosen = kind != at::kCPU || forms[3 * i + 2] != 0;  // and not for want of a GPU
    const bool moves = mine.device().type() != kind && chosen && has(kind);
    if (mine.scalar_type() == type && !moves) continue;
    mine.set_data(at::empty_like(mine, mine.options().dtype(type).device(moves ? local_device(kind) : mine.device())));
  }
}

// A tensor of no model: whatever the root has, the others get.
void broadcast_tensor(Rank& rank, at::Tensor& tensor) {
  std::vector<std::int64_t> form;
  if (rank.rank() == 0 && tensor.defined()) {
    form = {static_cast<std::int64_t>(tensor.scalar_type()), static_cast<std::int64_t>(tensor.device().type()), tensor.requires_grad()};
    form.insert(form.end(), tensor.sizes().begin(), tensor.sizes().end());
  }
  std::uint64_t length = form.size();
  rank.comm->broadcast(&length, 1, dist::DataType::uint64, 0, {"broadcast"});
  form.resize(length);
  rank.comm->broadcast(form.data(), length, dist::DataType::int64, 0, {"broadcast"});
  if (form.empty()) {
    tensor = at::Tensor();
    return;
  }
  const auto type = static_cast<at::ScalarType>(form[0]);
  const std::vector<std::int64_t> sizes(form.begin() + 3, form.end());
  if (!tensor.defined() || tensor.scalar_type() != type || tensor.sizes() != at::IntArrayRef(sizes)) {
    const c10::Device device = tensor.defined() ? tensor.device() : local_device(static_cast<c10::DeviceType>(form[1]));
    tensor = at::empty(sizes, at::TensorOptions().dtype(type).device(device));
    if (form[2]) tensor.set_requires_grad(true);
  }
  send(rank, {"tensor", tensor});
  if (tensor.requires_grad() && tensor.is_leaf()) note_parameter(rank, tensor, "");
}

void broadcast_tensors(Rank& rank, std::vector<at::Tensor>& tensors) {
  std::uint64_t count = tensors.size();
  rank.comm->broadcast(&count, 1, dist::DataType::uint64, 0, {"broadcast"});
  tensors.resize(count);
  for (at::Tensor& tensor : tensors) broadcast_tensor(rank, tensor);
}

void broadcast_module(Rank& rank, torch::nn::Module& module) {
  std::vector<Named> tensors;
  for (const auto& p : module.named_parameters())
    if (p.value().defined()) tensors.push_back({p.key(), p.value()});
  for (const auto& b : module.named_buffers())
    if (b.value().defined()) tensors.push_back({b.key(), b.value()});
  check_same(rank, tensors, "model");
  follow_types(rank, tensors);
  note_parameters(rank, module);
  for (const Named& t : tensors) send(rank, t);
  for (const auto& child : module.modules(false))
    if (is_batch_norm(*child)) state(rank).batch_norms.push_back(child);
}

// Archives do not hold the rates before LibTorch 2.
void broadcast_rates(Rank& rank, torch::optim::Optimizer& optimizer) {
  std::vector<double> rates;
  try {
    for (const auto& group : optimizer.param_groups()) rates.push_back(group.options().get_lr());
  } catch (const c10::Error&) {
    return;  // an optimizer of the author's own that has none; so it is on all ranks
  }
  rank.comm->broadcast(rates.data(), rates.size(), dist::DataType::float64, 0, {"learning rates"});
  for (std::size_t i = 0; i < rates.size(); ++i) optimizer.param_groups()[i].options().set_lr(rates[i]);
}

// State appears with the first step or a load: the root may have some where the others have none, so all of it is taken over.
void broadcast_optimizer(Rank& rank, torch::optim::Optimizer& optimizer) {
  std::vector<Named> parameters;
  for (const at::Tensor& p : parameters_of(optimizer)) parameters.push_back({"parameter " + std::to_string(parameters.size()), p});
  check_same(rank, parameters, "optimizer");
  follow_types(rank, parameters);
  for (const Named& t : parameters) send(rank, t);  // those of no model too: bare tensors, masks, inputs to be optimised
  broadcast_rates(rank, optimizer);
  std::string bytes;
  if (rank.rank() == 0 && !optimizer.state().empty()) {
    torch::serialize::OutputArchive archive;
    optimizer.save(archive);
    std::ostringstream out;
    archive.save_to(out);
    bytes = out.str();
  }
  bytes = broadcast_text(*rank.comm, std::move(bytes), 0, {"optimizer state"});
  if (rank.rank() == 0) return;
  if (bytes.empty()) return optimizer.state().clear();
  std::istringstream in(bytes);
  torch::serialize::InputArchive archive;
  // The root's archive names the root's device.
  archive.load_from(in, parameters.empty() ? c10::Device(at::kCPU) : parameters.front().tensor.device());
  optimizer.load(archive);
}

void broadcast_generator(Rank& rank) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const auto locked = [&](auto body) {  // never while waiting for others: ranks may be threads that share the generator
    const std::lock_guard<std::mutex> lock(generator.mutex());
    return body();
  };
  const at::Tensor state = locked([&] { return generator.get_state().clone(); });
  rank.comm->broadcast(state.data_ptr(), state.nbytes(), dist::DataType::uint8, 0, {"random state"});
  if (rank.rank() != 0) locked([&] { generator.set_state(state); });
}

}  // namespace

// LibTorch seeds its stream from entropy: what is drawn before the first broadcast must be the same on all ranks, too.
void dist::binding_opened(Rank& rank) {
  state(rank);  // from the first step on its streams are the ranks' own
  broadcast_generator(rank);
}

void detail::broadcast_items(const std::vector<BroadcastItem>& items) {
  Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return;
  dist::settle();  // what is on its way must not come after this
  for (const BroadcastItem& item : items) {
    if (item.module) broadcast_module(*rank, *item.module);
    if (item.optimizer) {
      broadcast_optimizer(*rank, *item.optimizer);
      agree_on_binding(*rank, *item.optimizer);
      binding_of(*rank, *item.optimizer);
    }
    if (item.tensor) broadcast_tensor(*rank, *item.tensor);
    if (item.tensors) broadcast_tensors(*rank, *item.tensors);
  }
  broadcast_generator(*rank);
}

void sync_buffers(torch::nn::Module& model, CallSite site) {
  Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return;
  dist::settle();
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
