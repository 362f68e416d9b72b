// SPDX-License-Identifier: Apache-2.0
#include "optimizer_binding.hpp"

#include <algorithm>
#include <cstring>
#include <iostream>

#include "dist/check.hpp"
#include "device_buckets.hpp"
#include "dist/exchange.hpp"
#include "state.hpp"
#include "wire.hpp"

namespace hvd::torch_binding {

namespace {

// zero_grad leaves zeros behind by default before LibTorch 2; looking at them is cheaper than treating them as gradients.
bool all_zero(const at::Tensor& t) {
  if (t.is_sparse()) return t._nnz() == 0;
  if (!t.device().is_cpu()) return false;
  const at::Tensor flat = t.contiguous();
  const char* bytes = static_cast<const char*>(flat.data_ptr());
  const std::size_t n = flat.nbytes();
  // Bitwise: a negative zero merely counts as a value to keep.
  return n == 0 || (bytes[0] == 0 && std::memcmp(bytes, bytes + 1, n - 1) == 0);
}

// Parameters in memory of the host, and the way back.
dist::Parcel pack(const std::vector<at::Tensor>& params) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> flat;
  dist::Parcel parcel;
  for (const at::Tensor& p : params) {
    flat.push_back(p.to(at::kCPU).contiguous());
    parcel.pieces.push_back({flat.back().data_ptr(), flat.back().nbytes()});
  }
  parcel.unpack = [params, flat] {
    const at::NoGradGuard back;
    for (std::size_t i = 0; i < params.size(); ++i)
      if (flat[i].data_ptr() != params[i].data_ptr()) at::Tensor(params[i]).copy_(flat[i]);
  };
  return parcel;
}

c10::Device staging_device(torch::optim::Optimizer& optimizer) {
  for (const at::Tensor& p : parameters_of(optimizer))
    if (!p.device().is_cpu()) return p.device();
  return c10::Device(at::kCPU);
}

}  // namespace

std::vector<at::Tensor> parameters_of(torch::optim::Optimizer& optimizer) {
  std::vector<at::Tensor> all;
  for (auto& group : optimizer.param_groups())
    for (const at::Tensor& p : group.params()) all.push_back(p);
  return all;
}

OptimizerBinding::OptimizerBinding(dist::Rank& rank, torch::optim::Optimizer& optimizer, const std::vector<std::string>& names, ReducedAt& reduced_at)
    : optimizer_(&optimizer), share_(rank.serves() ? 1 : 1.0 / rank.summing_ranks()), last_reduced_(reduced_at) {
  for (const at::Tensor& p : parameters_of(optimizer)) {
    params_.push_back({p, p.unsafeGetTensorImpl(), p.device(), {}});
  }
  // On the host the gradients lie in the backend's own memory; those of a device are staged in page-locked memory.
  dist::Reducer::Allocate allocate;
  if (const c10::Device device = staging_device(optimizer); !device.is_cpu())
    allocate = [device](std::size_t bytes) { return host_memory(bytes, device); };
  // A server and its workers send what lies on the host.
  auto gpu = rank.serves() ? nullptr : device_buckets(parameters_of(optimizer));
  reducer_ = std::make_unique<dist::Reducer>(rank, specs(names), rank.settings.bucket_bytes, std::move(allocate), "gradients", std::move(gpu),
                                              rank.settings.compression, &rank.summing());
  if (rank.serves()) reducer_->set_root(0);
  const dist::ParameterServer* server = rank.serves() ? torch_binding::state(rank).server.get() : nullptr;
  if (server && server->asynchronous()) pulls_ = std::make_unique<dist::Pulls>(rank, *reducer_);
  if (server && server->sends_ahead()) reducer_->keep_rounds(server->rounds());
  map_buckets();
}

OptimizerBinding::~OptimizerBinding() {
  for (Parameter& p : params_)
    if (p.hook != ~0u) p.tensor.remove_hook(p.hook);
}

std::vector<dist::GradientSpec> OptimizerBinding::specs(const std::vector<std::string>& names) const {
  std::vector<dist::GradientSpec> all;
  for (std::size_t i = 0; i < params_.size(); ++i)
    all.push_back({i < names.size() && !names[i].empty() ? names[i] : "parameter " + std::to_string(i),
                   static_cast<std::size_t>(params_[i].tensor.numel()), wire_type(params_[i].tensor),
                   params_[i].tensor.dim() > 1 ? static_cast<std::size_t>(params_[i].tensor.size(0)) : 0});
  return all;
}

void OptimizerBinding::map_buckets() {
  for (std::size_t i = 0; i < params_.size(); ++i)
    map_bucket(params_[i], reducer_->place(i), reducer_->specs()[i].type);
}

void OptimizerBinding::map_bucket(Parameter& p, std::shared_ptr<char> place, dist::DataType type) const {
  const c10::Device where = reducer_->on_device() ? p.device : c10::Device(at::kCPU);
  p.bucket = over(std::move(place), p.tensor.sizes(), type, where);
  p.shared = p.device == where && p.tensor.is_contiguous() && p.tensor.scalar_type() == scalar_type(type);
}

bool OptimizerBinding::matches(std::size_t i) const {
  const Parameter& p = params_[i];
  return p.tensor.sizes() == p.bucket.sizes() && wire_type(p.tensor) == reducer_->specs()[i].type && p.tensor.device() == p.device;
}

bool OptimizerBinding::fits(torch::optim::Optimizer& optimizer) const {
  const std::vector<at::Tensor> now = parameters_of(optimizer);
  if (now.size() != params_.size()) return false;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i].unsafeGetTensorImpl() != params_[i].place || !matches(i)) return false;
    if (overlap_ && params_[i].hook == ~0u && now[i].requires_grad()) return false;  // thawed since
    bytes += now[i].nbytes();
  }
  return !pulls_ || pulls_->fits(bytes);
}

bool OptimizerBinding::shares_parameters(torch::optim::Optimizer& optimizer) const {
  const std::vector<at::Tensor> others = parameters_of(optimizer);
  return std::any_of(others.begin(), others.end(), [&](const at::Tensor& t) {
    return std::any_of(params_.begin(), params_.end(), [&](const Parameter& p) { return p.place == t.unsafeGetTensorImpl(); });
  });
}

void OptimizerBinding::overlap() {
  if (overlap_) return;
  overlap_ = true;
  for (std::size_t i = 0; i < params_.size(); ++i) hook(i);
}

void OptimizerBinding::hook(std::size_t i) {
  Parameter& p = params_[i];
  if (p.tensor.requires_grad() && p.tensor.is_leaf()) p.hook = p.tensor.register_hook([this, i](at::Tensor) -> void { ready(i); });
}

void OptimizerBinding::before_backward(bool discard) {
  discard_ = discard;
  running_ = true;
  for (std::size_t i = 0; i < params_.size(); ++i) {
    Parameter& p = params_[i];
    p.matches = matches(i);  // not after a conversion: the coming reduction plans anew
    at::Tensor& grad = p.tensor.mutable_grad();
    if (p.reduced && grad.defined() && !all_zero(grad)) grad = grad.detach() * share_;
    p.reduced = false;
  }
}

void OptimizerBinding::parameters(std::vector<at::Tensor>& out) const {
  for (const Parameter& p : params_) out.push_back(p.tensor);
}

bool OptimizerBinding::is_current() const {
  for (std::size_t i = 0; i < params_.size(); ++i)
    if (!matches(i)) return false;
  return true;
}

// The hook of a leaf runs before its gradient is accumulated, so what is sent is the gradients of the hooks before this one.
void OptimizerBinding::ready(std::size_t i) {
  if (!running_ || discard_ || !params_[i].matches) return;
  const at::NoGradGuard no_grad;
  const std::lock_guard<std::mutex> lock(mutex_);
  contribute_pending(&params_[i].device);
  pending_.push_back(i);
}

void OptimizerBinding::contribute_pending(const c10::Device* on) {
  const auto standing = std::stable_partition(pending_.begin(), pending_.end(), [&](std::size_t i) { return on && params_[i].device != *on; });
  for (auto i = standing; i != pending_.end(); ++i)
    if (params_[*i].tensor.grad().defined()) contribute(*i);
  pending_.erase(standing, pending_.end());
}

bool OptimizerBinding::in_bucket(std::size_t i) const {
  const at::Tensor& grad = params_[i].tensor.grad();
  return params_[i].shared && grad.layout() == at::kStrided && grad.scalar_type() == params_[i].bucket.scalar_type() && grad.device() == params_[i].bucket.device() &&
         grad.is_contiguous() && grad.data_ptr() == params_[i].bucket.data_ptr() && grad.sizes() == params_[i].bucket.sizes();
}

void OptimizerBinding::contribute(std::size_t i) {
  const Parameter& p = params_[i];
  sparse_ = sparse_ || p.tensor.grad().is_sparse();
  if (in_bucket(i)) return reducer_->arrived(i);
  for (const auto& wait : written_) wait();
  written_.clear();
  reducer_->arrived(i, true, copy_to_bucket(p.bucket, p.tensor.grad()));
}

// Another optimizer over the same parameter has summed this gradient already: one rank's copy is the sum.
void OptimizerBinding::contribute_again(dist::Rank& rank, std::size_t i) {
  at::Tensor& grad = params_[i].tensor.mutable_grad();
  if (rank.rank() == 0) return contribute(i);
  if (in_bucket(i)) grad = grad.clone();
  reducer_->contribute(i, nullptr);
}

void OptimizerBinding::write_back(std::size_t i) {
  Parameter& p = params_[i];
  at::Tensor& grad = p.tensor.mutable_grad();
  if (!p.matches) return;
  p.reduced = grad.defined() || reducer_->anywhere(i);
  if (!reducer_->anywhere(i)) return;  // no rank has a gradient
  last_reduced_[p.place] = progress.reduced_at;
  const bool in_graph = grad.defined() && grad.requires_grad();  // made with create_graph: it stays the tensor that it is
  if (p.shared && !in_graph) {
    if (!grad.defined() || !in_bucket(i)) grad = p.bucket.detach();
    return;
  }
  if (!grad.defined() || grad.is_sparse()) grad = at::empty_like(p.tensor.detach());
  copy_from_bucket(grad.detach(), p.bucket);
}

void OptimizerBinding::tell(const dist::Rank& rank) {
  std::string unused;
  for (std::size_t i = 0; i < params_.size(); ++i)
    if (params_[i].tensor.requires_grad() && params_[i].tensor.is_leaf() && params_[i].matches && !reducer_->anywhere(i) &&
        !params_[i].tensor.grad().defined())
      unused += (unused.empty() ? "'" : ", '") + reducer_->specs()[i].name + "'";
  if (!progress.told_unused && !unused.empty() && rank.rank() == 0)
    std::cerr << "hvd: warning: no rank has a gradient for " << unused << ": the loss does not depend on it, so it is not trained\n";
  progress.told_unused = true;
  if (!sparse_ || progress.told_sparse) return;
  progress.told_sparse = true;
  std::cerr << (rank.rank() == 0 ? "hvd: note: sparse gradients become dense when they are summed over ranks\n" : "");
}

void OptimizerBinding::check_parameters(dist::Rank& rank, CallSite site) const {
  std::vector<at::Tensor> kept;
  std::vector<dist::CheckedTensor> checked;
  for (std::size_t i = 0; i < params_.size(); ++i) {
    kept.push_back(params_[i].tensor.detach().to(at::kCPU).contiguous());
    checked.push_back({reducer_->specs()[i].name, kept[i].data_ptr(), kept[i].nbytes()});
  }
  dist::check_replicas(rank, checked, dist::op_name("parameters", site));
}

void OptimizerBinding::push(dist::Rank& rank, dist::ParameterServer& server, std::uint64_t backwards, CallSite site) {
  server.begin_push();
  reduce(rank, backwards, site);
  std::vector<at::Tensor> params;
  for (const Parameter& p : params_) params.push_back(p.tensor.detach());
  server.pushed({[params] { return pack(params); }, pulls_.get(), site, 0, 0});
}

void OptimizerBinding::drop() {
  for (Parameter& p : params_) {
    p.tensor.mutable_grad() = at::Tensor();
    p.reduced = false;
  }
}

void OptimizerBinding::reduce(dist::Rank& rank, std::uint64_t backwards, CallSite site) {
  const at::NoGradGuard no_grad;
  if (rank.settings.check && !rank.node && !pulls_) check_parameters(rank, site);  // those of nodes go apart, and those that wait for a server
  reducer_->set_site(site);
  reducer_->begin();
  if (pulls_) map_buckets();  // each round has memory of its own
  contribute_pending(nullptr);
  sent_by_hooks_ = reducer_->order().size();
  for (std::size_t i = params_.size(); i-- > 0;) {
    Parameter& p = params_[i];
    p.matches = matches(i);
    if (reducer_->contributed(i) || !p.matches || !p.tensor.grad().defined()) continue;
    const auto before = last_reduced_.find(p.place);
    if (before != last_reduced_.end() && before->second == backwards) contribute_again(rank, i);
    else contribute(i);
  }
  if (rank.measured)  // what GPUs still compute is this rank's own work, and no wait for others
    for (const Parameter& p : params_)
      if (!p.device.is_cpu()) begun_on(p.device)();
  const bool mine = !rank.serves() || rank.rank() == 0;
  if (pulls_ && !mine) reducer_->send();
  else reducer_->finish();
  progress.reduced_at = backwards;
  ++progress.steps;
  if (!mine) drop();
  for (std::size_t i = 0; i < params_.size() && mine; ++i) write_back(i);
  std::vector<c10::Device> devices;
  for (const Parameter& p : params_)
    if (!p.device.is_cpu() && !reducer_->on_device() && std::find(devices.begin(), devices.end(), p.device) == devices.end()) devices.push_back(p.device);
  for (const c10::Device device : devices) written_.push_back(begun_on(device));
  if (mine) tell(rank);
  if (overlap_ && !ordered_) {
    ordered_ = true;
    reducer_->reorder(rank, reducer_->order());
    map_buckets();
  }
}

}  // namespace hvd::torch_binding
