// SPDX-License-Identifier: Apache-2.0
#pragma once

// The root's state to all ranks.

#include <vector>

#include <hvd/dist/gradients.hpp>

namespace hvd {

namespace detail {

/// What one call of broadcast sends, in the order given.
struct BroadcastItem {
  nn::Module* module = nullptr;
  optim::Optimizer* optimizer = nullptr;
  Tensor* tensor = nullptr;
};

inline void add_item(std::vector<BroadcastItem>& items, nn::Module& module) { items.push_back({&module, nullptr, nullptr}); }
inline void add_item(std::vector<BroadcastItem>& items, optim::Optimizer& opt) { items.push_back({nullptr, &opt, nullptr}); }
inline void add_item(std::vector<BroadcastItem>& items, Tensor& tensor) { items.push_back({nullptr, nullptr, &tensor}); }

void broadcast_items(const std::vector<BroadcastItem>& items);

}  // namespace detail

/// Parameters, buffers and optimizer state of the root to all ranks, and the state of the root's random generator: from here
/// on all ranks draw the same numbers. Takes models, optimizers and tensors, by reference or by whatever pointer or holder
/// they are kept in. Errors: ranks whose states differ in names, shapes or types (names the first).
template <detail::Holding... Things>
void broadcast(Things&&... things) {
  std::vector<detail::BroadcastItem> items;
  (detail::add_item(items, detail::object(things)), ...);
  detail::broadcast_items(items);
}

}  // namespace hvd
