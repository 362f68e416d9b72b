// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/cpu.hpp"
#include "device/cpu/dispatch.hpp"

#include <cmath>

namespace hvd::backends {

namespace {

template <class T>
void sgd_update(int64_t n, const SgdUpdate& u, const T* grad, T* buffer, T* param) {
  const T lr = static_cast<T>(u.lr), decay = static_cast<T>(u.weight_decay);
  const T momentum = static_cast<T>(u.momentum), fresh = static_cast<T>(u.first ? 1 : 1 - u.dampening);
  if (!buffer) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) param[i] -= lr * (grad[i] + decay * param[i]);
    return;
  }
  const T old = u.first ? T(0) : momentum;  // a fresh buffer holds zeros
  const T ahead = u.nesterov ? T(1) : T(0), along = u.nesterov ? momentum : T(1);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const T g = grad[i] + decay * param[i];
    buffer[i] = old * buffer[i] + fresh * g;
    param[i] -= lr * (ahead * g + along * buffer[i]);
  }
}

template <class T>
void adam_update(int64_t n, const AdamUpdate& u, const T* grad, T* m, T* v, T* param) {
  const T b1 = static_cast<T>(u.beta1), b2 = static_cast<T>(u.beta2), eps = static_cast<T>(u.eps);
  const T c1 = static_cast<T>(1 - u.beta1), c2 = static_cast<T>(1 - u.beta2);
  const T step = static_cast<T>(u.lr / (1 - std::pow(u.beta1, static_cast<double>(u.step))));
  const T root = static_cast<T>(std::sqrt(1 - std::pow(u.beta2, static_cast<double>(u.step))));
  const T decay = static_cast<T>(u.decoupled ? 0 : u.weight_decay);
  const T shrink = static_cast<T>(u.decoupled ? 1 - u.lr * u.weight_decay : 1);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const T g = grad[i] + decay * param[i];
    m[i] = b1 * m[i] + c1 * g;
    v[i] = b2 * v[i] + c2 * g * g;
    param[i] = shrink * param[i] - step * m[i] / (std::sqrt(v[i]) / root + eps);
  }
}

template <class T>
void rmsprop_update(int64_t n, const RmspropUpdate& u, const T* grad, T* square_avg, T* grad_avg, T* buffer, T* param) {
  const T lr = static_cast<T>(u.lr), alpha = static_cast<T>(u.alpha), fresh = static_cast<T>(1 - u.alpha), eps = static_cast<T>(u.eps);
  const T momentum = static_cast<T>(u.momentum), decay = static_cast<T>(u.weight_decay);
  for (int64_t i = 0; i < n; ++i) {
    const T g = grad[i] + decay * param[i];
    square_avg[i] = alpha * square_avg[i] + fresh * g * g;
    T mean = square_avg[i];
    if (grad_avg) {
      grad_avg[i] = alpha * grad_avg[i] + fresh * g;
      mean -= grad_avg[i] * grad_avg[i];
    }
    const T direction = g / (std::sqrt(mean) + eps);
    if (buffer) buffer[i] = momentum * buffer[i] + direction;
    param[i] -= lr * (buffer ? buffer[i] : direction);
  }
}

template <class T>
void lamb_direction_of(int64_t n, const LambUpdate& u, const T* grad, T* m, T* v, const T* param, T* direction) {
  const T b1 = static_cast<T>(u.beta1), b2 = static_cast<T>(u.beta2), eps = static_cast<T>(u.eps), decay = static_cast<T>(u.weight_decay);
  const T c1 = static_cast<T>(1 - u.beta1), c2 = static_cast<T>(1 - u.beta2);
  const T scale = static_cast<T>(1 / (1 - std::pow(u.beta1, static_cast<double>(u.step))));
  const T root = static_cast<T>(std::sqrt(1 - std::pow(u.beta2, static_cast<double>(u.step))));
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    m[i] = b1 * m[i] + c1 * grad[i];
    v[i] = b2 * v[i] + c2 * grad[i] * grad[i];
    direction[i] = scale * m[i] / (std::sqrt(v[i]) / root + eps) + decay * param[i];
  }
}

}  // namespace

void Cpu::sgd(Dtype dtype, int64_t n, const SgdUpdate& update, const void* grad, void* momentum_buffer, void* param) const {
  dispatch_real("SGD", dtype, [&](auto zero) {
    using T = decltype(zero);
    sgd_update(n, update, static_cast<const T*>(grad), static_cast<T*>(momentum_buffer), static_cast<T*>(param));
  });
}

void Cpu::adam(Dtype dtype, int64_t n, const AdamUpdate& update, const void* grad, void* exp_avg, void* exp_avg_sq, void* param) const {
  dispatch_real("Adam", dtype, [&](auto zero) {
    using T = decltype(zero);
    adam_update(n, update, static_cast<const T*>(grad), static_cast<T*>(exp_avg), static_cast<T*>(exp_avg_sq), static_cast<T*>(param));
  });
}

void Cpu::rmsprop(Dtype dtype, int64_t n, const RmspropUpdate& update, const void* grad, void* square_avg, void* grad_avg,
                  void* momentum_buffer, void* param) const {
  dispatch_real("RMSprop", dtype, [&](auto zero) {
    using T = decltype(zero);
    rmsprop_update(n, update, static_cast<const T*>(grad), static_cast<T*>(square_avg), static_cast<T*>(grad_avg),
                   static_cast<T*>(momentum_buffer), static_cast<T*>(param));
  });
}

void Cpu::lamb_direction(Dtype dtype, int64_t n, const LambUpdate& update, const void* grad, void* exp_avg, void* exp_avg_sq,
                         const void* param, void* direction) const {
  dispatch_real("LAMB", dtype, [&](auto zero) {
    using T = decltype(zero);
    lamb_direction_of(n, update, static_cast<const T*>(grad), static_cast<T*>(exp_avg), static_cast<T*>(exp_avg_sq),
                      static_cast<const T*>(param), static_cast<T*>(direction));
  });
}

}  // namespace hvd::backends
