// SPDX-License-Identifier: Apache-2.0
#pragma once

// The root's state to all ranks.

#include <array>
#include <cstddef>
#include <type_traits>
#include <variant>
#include <vector>

#include <hvd/torch/gradients.hpp>

namespace hvd {

namespace detail {

/// What one call of broadcast sends, in the order given.
struct BroadcastItem {
  torch::nn::Module* module = nullptr;
  torch::optim::Optimizer* optimizer = nullptr;
  at::Tensor* tensor = nullptr;
  std::vector<at::Tensor>* tensors = nullptr;
};

inline void add_item(std::vector<BroadcastItem>& items, torch::nn::Module& module) { items.push_back({&module, nullptr, nullptr, nullptr}); }
inline void add_item(std::vector<BroadcastItem>& items, torch::optim::Optimizer& opt) { items.push_back({nullptr, &opt, nullptr, nullptr}); }
inline void add_item(std::vector<BroadcastItem>& items, at::Tensor& tensor) { items.push_back({nullptr, nullptr, &tensor, nullptr}); }
template <class T>
void add_thing(std::vector<BroadcastItem>& items, T& thing) {
  add_item(items, object(thing));
}
template <class T>
void add_thing(std::vector<BroadcastItem>& items, std::vector<T>& things) {
  if constexpr (std::is_same_v<T, at::Tensor>) items.push_back({nullptr, nullptr, nullptr, &things});
  else for (T& thing : things) add_thing(items, thing);
}
template <class T, std::size_t N>
void add_thing(std::vector<BroadcastItem>& items, std::array<T, N>& things) {
  for (T& thing : things) add_thing(items, thing);
}
// What a variant holds now; nothing where that is std::monostate.
template <class... Ts>
void add_thing(std::vector<BroadcastItem>& items, std::variant<Ts...>& choice) {
  std::visit([&](auto& held) {
    if constexpr (!std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) add_thing(items, held);
  }, choice);
}

template <class T>
inline constexpr bool is_thing = holds_module<T> || holds_optimizer<T> || leads_to<std::remove_reference_t<T>, at::Tensor>();
template <class T>
inline constexpr bool is_thing<std::vector<T>> = is_thing<T>;
template <class T, std::size_t N>
inline constexpr bool is_thing<std::array<T, N>> = is_thing<T>;
template <class... Ts>
inline constexpr bool is_thing<std::variant<Ts...>> = ((std::is_same_v<Ts, std::monostate> || is_thing<Ts>) && ...);

void broadcast_items(const std::vector<BroadcastItem>& items);

}  // namespace detail

/// Parameters, buffers and optimizer state of the root to all ranks, and the state of the root's random generator: from here
/// on all ranks draw the same numbers. Takes models, optimizers and tensors, by reference, by whatever pointer or holder they are
/// kept in, or vectors, arrays and variants of those. What the root alone has loaded may have other types than before, and bare tensors other shapes or
/// another number: the others follow. Errors: models and optimizers that differ in names or shapes (names the first).
template <class... Things, std::enable_if_t<(detail::is_thing<std::remove_reference_t<Things>> && ...), int> = 0>
void broadcast(Things&&... things) {
  std::vector<detail::BroadcastItem> items;
  (detail::add_thing(items, things), ...);
  detail::broadcast_items(items);
}

}  // namespace hvd
