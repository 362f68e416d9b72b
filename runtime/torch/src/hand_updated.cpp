// SPDX-License-Identifier: Apache-2.0
#include "hand_updated.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <torch/optim/sgd.h>

#include <hvd/dist/failure.hpp>

#include "optimizer_binding.hpp"

namespace hvd::torch_binding {

namespace {

bool same_place(const CallSite& a, const CallSite& b) {
  return a.line == b.line && std::strcmp(a.file, b.file) == 0;
}

bool holds(const std::vector<at::Tensor>& all, const std::vector<at::Tensor>& some) {
  return std::all_of(some.begin(), some.end(), [&](const at::Tensor& t) {
    return std::any_of(all.begin(), all.end(), [&](const at::Tensor& x) { return x.is_same(t); });
  });
}

// Nobody has the old ones but the stand-in, `before`, and the binding.
bool replaced(const std::vector<at::Tensor>& before, const std::vector<at::Tensor>& now) {
  constexpr std::size_t kOurs = 3;
  return std::equal(before.begin(), before.end(), now.begin(), now.end(), [](const at::Tensor& x, const at::Tensor& y) {
    return x.is_same(y) || (x.sizes() == y.sizes() && x.use_count() <= kOurs);
  });
}

}  // namespace

bool HandUpdated::has(const torch::optim::Optimizer* optimizer) const {
  return std::any_of(groups_.begin(), groups_.end(), [&](const Group& g) { return g.optimizer.get() == optimizer; });
}

torch::optim::Optimizer& HandUpdated::stand_in(at::TensorList parameters, CallSite site, bool fixed) {
  std::vector<at::Tensor> now;
  for (const at::Tensor& p : parameters)
    if (p.defined() && p.requires_grad() && std::none_of(now.begin(), now.end(), [&](const at::Tensor& t) { return t.is_same(p); })) now.push_back(p);
  // Some of a group are reduced with all of it: a gradient that is looked at before the others are.
  torch::optim::Optimizer* widest = nullptr;
  for (const Group& g : groups_)
    if (holds(parameters_of(*g.optimizer), now) && (!widest || holds(parameters_of(*g.optimizer), parameters_of(*widest)))) widest = g.optimizer.get();
  if (widest) return *widest;
  const auto old = std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) {
    return same_place(g.site, site) && replaced(parameters_of(*g.optimizer), now);
  });
  if (old == groups_.end()) {
    // Made before others go: it must not get the address of one whose binding is still there.
    auto made = std::make_unique<torch::optim::SGD>(now, torch::optim::SGDOptions(0));
    // Those that are parts of it have been looked at before; means between steps still know them.
    if (!fixed)
      groups_.erase(std::remove_if(groups_.begin(), groups_.end(), [&](const Group& g) { return holds(now, parameters_of(*g.optimizer)); }), groups_.end());
    groups_.push_back({site, std::move(made)});
    return *groups_.back().optimizer;
  }
  if (fixed)
    throw dist::Failure<std::runtime_error>(std::string(site.file) + ":" + std::to_string(site.line) +
                             ": HVD_SYNC: the parameters of this step have been replaced by new tensors since the last one, so means "
                             "between steps would be lost; update them in place, or run with HVD_SYNC=step");
  old->optimizer->param_groups().front().params() = std::move(now);
  return *old->optimizer;
}

}  // namespace hvd::torch_binding
