// SPDX-License-Identifier: Apache-2.0
//
// Updates of parameters by the optimizers: all of an update in one pass over memory.
#include "device/gpu/support.hpp"

#include <cmath>

namespace hvd::backends::gpu {

namespace {

template <class T>
void sgd_update(int64_t n, const SgdUpdate& u, const T* grad, T* buffer, T* param) {
  const T lr = static_cast<T>(u.lr), decay = static_cast<T>(u.weight_decay);
  const T momentum = static_cast<T>(u.momentum), fresh = static_cast<T>(u.first ? 1 : 1 - u.dampening);
  if (!buffer) return for_each("SGD", n, [=] HVD_KERNEL(int64_t i) { param[i] -= lr * (grad[i] + decay * param[i]); });
  const bool first = u.first;  // a fresh buffer holds anything
  const T ahead = u.nesterov ? T(1) : T(0), along = u.nesterov ? momentum : T(1);
  for_each("SGD", n, [=] HVD_KERNEL(int64_t i) {
    const T g = grad[i] + decay * param[i];
    const T next = (first ? T(0) : momentum * buffer[i]) + fresh * g;
    buffer[i] = next;
    param[i] -= lr * (ahead * g + along * next);
  });
}

template <class T>
void adam_update(int64_t n, const AdamUpdate& u, const T* grad, T* m, T* v, T* param) {
  const T b1 = static_cast<T>(u.beta1), b2 = static_cast<T>(u.beta2), eps = static_cast<T>(u.eps);
  const T c1 = static_cast<T>(1 - u.beta1), c2 = static_cast<T>(1 - u.beta2);
  const T step = static_cast<T>(u.lr / (1 - std::pow(u.beta1, static_cast<double>(u.step))));
  const T root = static_cast<T>(std::sqrt(1 - std::pow(u.beta2, static_cast<double>(u.step))));
  const T decay = static_cast<T>(u.decoupled ? 0 : u.weight_decay);
  const T shrink = static_cast<T>(u.decoupled ? 1 - u.lr * u.weight_decay : 1);
  for_each("Adam", n, [=] HVD_KERNEL(int64_t i) {
    const T g = grad[i] + decay * param[i];
    const T mean = b1 * m[i] + c1 * g, square = b2 * v[i] + c2 * g * g;
    m[i] = mean;
    v[i] = square;
    param[i] = shrink * param[i] - step * mean / (std::sqrt(square) / root + eps);
  });
}

template <class T>
void rmsprop_update(int64_t n, const RmspropUpdate& u, const T* grad, T* square_avg, T* grad_avg, T* buffer, T* param) {
  const T lr = static_cast<T>(u.lr), alpha = static_cast<T>(u.alpha), fresh = static_cast<T>(1 - u.alpha), eps = static_cast<T>(u.eps);
  const T momentum = static_cast<T>(u.momentum), decay = static_cast<T>(u.weight_decay);
  for_each("RMSprop", n, [=] HVD_KERNEL(int64_t i) {
    const T g = grad[i] + decay * param[i];
    T mean = alpha * square_avg[i] + fresh * g * g;
    square_avg[i] = mean;
    if (grad_avg) {
      const T average = alpha * grad_avg[i] + fresh * g;
      grad_avg[i] = average;
      mean -= average * average;
    }
    T direction = g / (std::sqrt(mean) + eps);
    if (buffer) buffer[i] = direction = momentum * buffer[i] + direction;
    param[i] -= lr * direction;
  });
}

template <class T>
void lamb_direction_of(int64_t n, const LambUpdate& u, const T* grad, T* m, T* v, const T* param, T* direction) {
  const T b1 = static_cast<T>(u.beta1), b2 = static_cast<T>(u.beta2), eps = static_cast<T>(u.eps), decay = static_cast<T>(u.weight_decay);
  const T c1 = static_cast<T>(1 - u.beta1), c2 = static_cast<T>(1 - u.beta2);
  const T scale = static_cast<T>(1 / (1 - std::pow(u.beta1, static_cast<double>(u.step))));
  const T root = static_cast<T>(std::sqrt(1 - std::pow(u.beta2, static_cast<double>(u.step))));
  for_each("LAMB", n, [=] HVD_KERNEL(int64_t i) {
    const T mean = b1 * m[i] + c1 * grad[i], square = b2 * v[i] + c2 * grad[i] * grad[i];
    m[i] = mean;
    v[i] = square;
    direction[i] = scale * mean / (std::sqrt(square) / root + eps) + decay * param[i];
  });
}

}  // namespace

void Gpu::sgd(Dtype dtype, int64_t n, const SgdUpdate& update, const void* grad, void* momentum_buffer, void* param) const {
  dispatch_real("SGD", dtype, [&](auto zero) {
    using T = decltype(zero);
    sgd_update(n, update, static_cast<const T*>(grad), static_cast<T*>(momentum_buffer), static_cast<T*>(param));
  });
}

void Gpu::adam(Dtype dtype, int64_t n, const AdamUpdate& update, const void* grad, void* exp_avg, void* exp_avg_sq, void* param) const {
  dispatch_real("Adam", dtype, [&](auto zero) {
    using T = decltype(zero);
    adam_update(n, update, static_cast<const T*>(grad), static_cast<T*>(exp_avg), static_cast<T*>(exp_avg_sq), static_cast<T*>(param));
  });
}

void Gpu::rmsprop(Dtype dtype, int64_t n, const RmspropUpdate& update, const void* grad, void* square_avg, void* grad_avg, void* momentum_buffer,
                  void* param) const {
  dispatch_real("RMSprop", dtype, [&](auto zero) {
    using T = decltype(zero);
    rmsprop_update(n, update, static_cast<const T*>(grad), static_cast<T*>(square_avg), static_cast<T*>(grad_avg),
                   static_cast<T*>(momentum_buffer), static_cast<T*>(param));
  });
}

void Gpu::lamb_direction(Dtype dtype, int64_t n, const LambUpdate& update, const void* grad, void* exp_avg, void* exp_avg_sq, const void* param,
                         void* direction) const {
  dispatch_real("LAMB", dtype, [&](auto zero) {
    using T = decltype(zero);
    lamb_direction_of(n, update, static_cast<const T*>(grad), static_cast<T*>(exp_avg), static_cast<T*>(exp_avg_sq), static_cast<const T*>(param),
                      static_cast<T*>(direction));
  });
}

}  // namespace hvd::backends::gpu
