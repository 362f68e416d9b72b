// SPDX-License-Identifier: Apache-2.0
#include "core/tensor_impl.hpp"
#include "training.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <hvd/core/error.hpp>
#include <hvd/dist/failure.hpp>

#include "../check.hpp"

namespace hvd::dist {

namespace {

class ReadyHook final : public autograd::GradientHook {
 public:
  ReadyHook(OptimizerBinding& binding, std::size_t index) : binding_(binding), index_(index) {}
  void gradient_ready(const Tensor&) override { binding_.gradient_ready(index_); }

 private:
  OptimizerBinding& binding_;
  std::size_t index_;
};

std::vector<GradientSpec> specs_of(const std::vector<Tensor>& params, const std::vector<std::string>& names) {
  std::vector<GradientSpec> specs;
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (!is_floating_point(params[i].dtype()))
      throw dist::Failure<Error>("parameter " + std::to_string(i) + " of the optimizer has dtype " + dtype_name(params[i].dtype()));
    specs.push_back({i < names.size() && !names[i].empty() ? names[i] : "parameter " + std::to_string(i),
                     static_cast<std::size_t>(params[i].numel()), data_type(wire_dtype(params[i].dtype())),
                     params[i].dim() > 1 ? static_cast<std::size_t>(params[i].size(0)) : 0});
  }
  return specs;
}

bool all_zero(const Tensor& t) {
  const Tensor flat = core::host_copy(t).contiguous();
  const char* bytes = static_cast<const char*>(flat.raw_data());
  const std::size_t n = static_cast<std::size_t>(flat.numel()) * dtype_size(flat.dtype());
  // Bitwise: a negative zero merely counts as a value to keep.
  return n == 0 || (bytes[0] == 0 && std::memcmp(bytes, bytes + 1, n - 1) == 0);
}

// Parameters in memory of the host, and the way back.
Parcel pack(const std::vector<Tensor>& params) {
  const NoGradGuard no_grad;
  std::vector<Tensor> flat;
  Parcel parcel;
  for (const Tensor& p : params) {
    flat.push_back(core::host_copy(p.detach()).contiguous());
    parcel.pieces.push_back({flat.back().raw_data(), static_cast<std::size_t>(p.numel()) * dtype_size(p.dtype())});
  }
  parcel.unpack = [params, flat] {
    const NoGradGuard back;
    for (std::size_t i = 0; i < params.size(); ++i)
      if (flat[i].raw_data() != params[i].raw_data()) params[i].detach().copy_(flat[i]);
  };
  return parcel;
}

// The GPU that all parameters lie on, or null.
const backends::Backend* gpu_of(const std::vector<Tensor>& params) {
  if (params.empty() || core::on_host(params[0])) return nullptr;
  for (const Tensor& p : params)
    if (p.device() != params[0].device()) return nullptr;
  return &core::backend_of(params[0]);
}

}  // namespace

DataType data_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat32: return DataType::float32;
    case Dtype::kFloat64: return DataType::float64;
    case Dtype::kInt64: return DataType::int64;
    case Dtype::kBool: return DataType::uint8;
    case Dtype::kBFloat16:
    case Dtype::kFloat16: break;
  }
  throw std::logic_error(std::string("no wire type for ") + dtype_name(dtype));
}

Dtype wire_dtype(Dtype dtype) { return is_low_precision(dtype) ? Dtype::kFloat32 : dtype; }

OptimizerBinding::OptimizerBinding(Rank& rank, optim::Optimizer& optimizer, const std::vector<std::string>& names, ReducedAt& reduced_at)
    : optimizer_(&optimizer), share_(rank.serves() ? 1 : 1.0 / rank.summing_ranks()), last_reduced_(reduced_at), params_(optimizer.parameters()), gpu_(gpu_of(params_)),
      aside_(params_.size()),
      reducer_(std::make_unique<Reducer>(rank, specs_of(params_, names), rank.settings.bucket_bytes, Reducer::Allocate{}, "gradients",
                                         gpu_ ? make_device_buckets(*gpu_) : nullptr,
                                         rank.settings.compression, &rank.summing())) {
  if (!rank.serves()) return;
  reducer_->set_root(0);
  const ParameterServer* server = training(rank).server.get();
  if (server && server->asynchronous()) pulls_ = std::make_unique<Pulls>(rank, *reducer_);
  if (server && server->sends_ahead()) reducer_->keep_rounds(server->rounds());
}

// A gradient as the reducer takes it: dense, in the dtype that travels, on the host unless buckets lie on the GPU.
Tensor OptimizerBinding::on_wire(const Tensor& grad) const {
  const Tensor wide = grad.detach().to(wire_dtype(grad.dtype()));
  return (reducer_->on_device() ? wide : core::host_copy(wide)).contiguous();
}

OptimizerBinding::~OptimizerBinding() {
  for (std::size_t i = 0; i < hooks_.size(); ++i) autograd::remove_gradient_hook(params_[i], hooks_[i]);
}

bool OptimizerBinding::fits(const optim::Optimizer& optimizer) const {
  const std::vector<Tensor> now = optimizer.parameters();
  if (now.size() != params_.size() || gpu_of(now) != gpu_) return false;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const GradientSpec& spec = reducer_->specs()[i];
    if (!now[i].is_same(params_[i]) || static_cast<std::size_t>(now[i].numel()) != spec.count ||
        data_type(wire_dtype(now[i].dtype())) != spec.type)
      return false;
    bytes += spec.count * dtype_size(now[i].dtype());
  }
  return !pulls_ || pulls_->fits(bytes);
}

bool OptimizerBinding::shares_parameters(const optim::Optimizer& optimizer) const {
  const std::vector<Tensor> others = optimizer.parameters();
  return std::any_of(others.begin(), others.end(), [&](const Tensor& t) {
    return std::any_of(params_.begin(), params_.end(), [&](const Tensor& mine) { return mine.is_same(t); });
  });
}

void OptimizerBinding::overlap() {
  if (!hooks_.empty()) return;
  for (std::size_t i = 0; i < params_.size(); ++i)
    hooks_.push_back(autograd::add_gradient_hook(params_[i], std::make_shared<ReadyHook>(*this, i)));
}

std::uint64_t OptimizerBinding::reduced_at(std::size_t i) const {
  const auto other = last_reduced_.find(params_[i].impl().get());
  return other == last_reduced_.end() ? reduced_generation_ : std::max(reduced_generation_, other->second);
}

bool OptimizerBinding::partial(std::size_t i) const { return params_[i].grad().defined() && autograd::backward_generation(params_[i]) > reduced_at(i); }

void OptimizerBinding::set_aside() {
  for (std::size_t i = 0; i < params_.size(); ++i) {
    Tensor& grad = params_[i].mutable_grad();
    if (!grad.defined() || reduced_at(i) == 0 || partial(i) || all_zero(grad)) continue;
    aside_[i] = grad;
    grad = Tensor();
  }
}

void OptimizerBinding::add_aside(std::size_t i) {
  if (!aside_[i].defined()) return;
  const NoGradGuard no_grad;
  params_[i].mutable_grad().add_(aside_[i], share_);
  aside_[i] = Tensor();
}

void OptimizerBinding::put_back(std::uint64_t generation_before) {
  for (std::size_t i = 0; i < params_.size(); ++i) {
    if (!aside_[i].defined()) continue;
    if (autograd::backward_generation(params_[i]) > generation_before && params_[i].grad().defined()) {
      add_aside(i);
    } else {
      params_[i].mutable_grad() = aside_[i];
      aside_[i] = Tensor();
    }
  }
}

void OptimizerBinding::gradient_ready(std::size_t i) {
  if (retired_) return;
  if (context().step_recording) return note_ready(i);
  add_aside(i);
  const GradientSpec& spec = reducer_->specs()[i];
  // After a change of dtype or device the plan is made anew by the coming reduction.
  if (reducer_->on_device() && core::on_host(params_[i].grad())) return;
  const Tensor grad = on_wire(params_[i].grad());
  if (static_cast<std::size_t>(grad.numel()) != spec.count || data_type(grad.dtype()) != spec.type) return;
  reducer_->contribute(i, grad.raw_data());
}

// What a noted step does in each repetition as soon as all gradients of a bucket are there: in one place of it for each bucket, as the work of the
// GPU is cut in pieces there.
void OptimizerBinding::note_ready(std::size_t i) {
  if (noting_ != context().step_recording) reduction_noted();  // an earlier one was given up
  noting_ = context().step_recording;
  noted_.insert(i);
  const auto is_ready = [&](std::size_t tensor) { return noted_.count(tensor) != 0; };
  for (; noted_buckets_ < reducer_->buckets(); ++noted_buckets_) {
    const std::vector<std::size_t>& tensors = reducer_->tensors_of(noted_buckets_);
    if (!std::all_of(tensors.begin(), tensors.end(), is_ready)) return;
    core::later_in_step([optimizer = optimizer_, tensors] {
      Rank& rank = require_rank("a step that was noted");
      for (auto& binding : training(rank).bindings)  // made anew, perhaps, since
        if (binding->optimizer() == optimizer && binding->fits(*optimizer))
          for (const std::size_t tensor : tensors) binding->gradient_ready(tensor);
    });
  }
}

void OptimizerBinding::contribute_rest() {
  for (std::size_t i = params_.size(); i-- > 0;) {
    if (reducer_->contributed(i) || !params_[i].grad().defined()) continue;
    const Tensor grad = on_wire(params_[i].grad());
    const bool fresh = partial(i);
    reducer_->contribute(i, grad.raw_data(), fresh ? 1 : share_, fresh);
  }
}

void OptimizerBinding::write_back() {
  const NoGradGuard no_grad;
  for (std::size_t i = 0; i < params_.size(); ++i) {
    if (!reducer_->anywhere(i)) continue;  // no rank has a new gradient: undefined, or reduced before, on all of them
    last_reduced_[params_[i].impl().get()] = autograd::backward_generation();
    Tensor& grad = params_[i].mutable_grad();
    if (!grad.defined() || !grad.is_contiguous()) grad = empty_like(params_[i]).detach();
    const Device where = reducer_->on_device() ? grad.device() : Device(kCPU);
    grad.copy_(from_blob(const_cast<void*>(reducer_->sum(i)), grad.sizes(), TensorOptions(wire_dtype(grad.dtype())).device(where)));
  }
}

void OptimizerBinding::check_parameters(Rank& rank, CallSite site) const {
  std::vector<Tensor> kept;
  std::vector<CheckedTensor> checked;
  for (std::size_t i = 0; i < params_.size(); ++i) {
    kept.push_back(core::host_copy(params_[i].detach()).contiguous());
    const std::size_t bytes = static_cast<std::size_t>(kept[i].numel()) * dtype_size(kept[i].dtype());
    checked.push_back({reducer_->specs()[i].name, kept[i].raw_data(), bytes});
  }
  check_replicas(rank, checked, op_name("parameters", site));
}

void OptimizerBinding::push(Rank& rank, ParameterServer& server, CallSite site) {
  server.begin_push();
  reduce(rank, site);
  server.pushed({[params = params_] { return pack(params); }, pulls_.get(), site, 0, 0});
}

void OptimizerBinding::drop() {
  for (Tensor& p : params_) p.mutable_grad() = Tensor();
}

void OptimizerBinding::reduce(Rank& rank, CallSite site) {
  if (rank.settings.check && !rank.node && !pulls_) check_parameters(rank, site);  // those of nodes go apart, and those that wait for a server
  reducer_->set_site(site);
  reducer_->begin();
  contribute_rest();
  if (pulls_ && rank.rank() != 0) {
    reducer_->send();
    return drop();
  }
  reducer_->finish();
  if (!rank.serves() || rank.rank() == 0) write_back();
  else drop();
  if (!hooks_.empty() && !ordered_) {
    ordered_ = true;
    reducer_->reorder(rank, reducer_->order());
  }
}

Training& training(Rank& rank) {
  if (!rank.training) rank.training = std::make_shared<Training>(rank);
  return *static_cast<Training*>(rank.training.get());
}

namespace {

// A binding keeps its parameters: of an optimizer that lies where one lay that is gone, none is the same.
bool is_of(const OptimizerBinding& binding, const optim::Optimizer& optimizer) {
  return binding.optimizer() == &optimizer && (binding.shares_parameters(optimizer) || binding.fits(optimizer));
}

}  // namespace

void agree_on_binding(Rank& rank, optim::Optimizer& optimizer) {
  auto& bindings = training(rank).bindings;
  std::uint64_t known = std::any_of(bindings.begin(), bindings.end(), [&](const auto& b) { return is_of(*b, optimizer); });
  rank.comm->allreduce(&known, 1, DataType::uint64, ReduceOp::min, {"optimizer"});
  if (known) return;
  if (training(rank).server) training(rank).server->drain();
  const auto gone = [&](const auto& b) { return b->optimizer() == &optimizer || b->shares_parameters(optimizer); };
  for (const auto& b : bindings)
    if (!training(rank).server && b->overlapped() && gone(b)) b->settle();
  std::erase_if(bindings, gone);
}

OptimizerBinding& binding_of(Rank& rank, optim::Optimizer& optimizer, const std::vector<std::string>& names) {
  auto& bindings = training(rank).bindings;
  auto found = std::find_if(bindings.begin(), bindings.end(), [&](const auto& b) { return is_of(*b, optimizer); });
  if (found != bindings.end() && (*found)->fits(optimizer)) return **found;
  if (training(rank).server) training(rank).server->drain();
  std::uint64_t reduced = 0;
  std::int64_t steps = 0, warmup_steps = -1;
  const bool overlapped = found != bindings.end() && (*found)->overlapped();
  const auto replaced = [&](const auto& b) { return b->optimizer() == &optimizer || b->shares_parameters(optimizer); };
  // A thread that ends with reductions before it leaves the ranks that have begun them waiting for ever.
  for (const auto& b : bindings)
    if (!training(rank).server && b->overlapped() && replaced(b)) b->settle();
  if (found != bindings.end()) {  // parameters were added or replaced: the same optimizer goes on
    reduced = (*found)->reduced_generation();
    steps = (*found)->steps;
    warmup_steps = (*found)->warmup_steps;
  }
  // One of this address, or over these parameters, belongs to an optimizer that is gone.
  std::erase_if(bindings, replaced);
  bindings.push_back(std::make_unique<OptimizerBinding>(rank, optimizer, names, training(rank).reduced_at));
  bindings.back()->set_reduced_generation(reduced);
  bindings.back()->steps = steps;
  bindings.back()->warmup_steps = warmup_steps;
  if (overlapped) bindings.back()->overlap();
  return *bindings.back();
}

}  // namespace hvd::dist
