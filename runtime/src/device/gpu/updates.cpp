// SPDX-License-Identifier: Apache-2.0
//
// Updates of parameters by the optimizers: all of an update in one pass over memory, and many parameters in one launch.
#include "device/gpu/param_lists.hpp"

#include <cmath>

namespace hvd::backends::gpu {

namespace {

// Each struct below is an update of one element; its numbers are those of the dtype.

template <class T>
struct SgdStep {
  T lr, decay, momentum, fresh, ahead, along;
  bool first;  // a fresh buffer holds anything
  explicit SgdStep(const SgdUpdate& u)
      : lr(static_cast<T>(u.lr)),
        decay(static_cast<T>(u.weight_decay)),
        momentum(static_cast<T>(u.momentum)),
        fresh(static_cast<T>(u.first ? 1 : 1 - u.dampening)),
        ahead(u.nesterov ? T(1) : T(0)),
        along(u.nesterov ? momentum : T(1)),
        first(u.first) {}

  HVD_HD void operator()(const ParamOf<T>& p, int64_t i) const {
    const T g = p.grad[i] + decay * p.param[i];
    T* const buffer = p.kept[0];
    if (!buffer) {
      p.param[i] -= lr * g;
      return;
    }
    const T next = (first ? T(0) : momentum * buffer[i]) + fresh * g;
    buffer[i] = next;
    p.param[i] -= lr * (ahead * g + along * next);
  }
};

template <class T>
struct AdamStep {
  T b1, b2, eps, c1, c2, step, root, decay, shrink;
  explicit AdamStep(const AdamUpdate& u)
      : b1(static_cast<T>(u.beta1)),
        b2(static_cast<T>(u.beta2)),
        eps(static_cast<T>(u.eps)),
        c1(static_cast<T>(1 - u.beta1)),
        c2(static_cast<T>(1 - u.beta2)),
        step(static_cast<T>(u.lr / (1 - std::pow(u.beta1, static_cast<double>(u.step))))),
        root(static_cast<T>(std::sqrt(1 - std::pow(u.beta2, static_cast<double>(u.step))))),
        decay(static_cast<T>(u.decoupled ? 0 : u.weight_decay)),
        shrink(static_cast<T>(u.decoupled ? 1 - u.lr * u.weight_decay : 1)) {}

  HVD_HD void operator()(const ParamOf<T>& p, int64_t i) const {
    T *const m = p.kept[0], *const v = p.kept[1];
    const T g = p.grad[i] + decay * p.param[i];
    const T mean = b1 * m[i] + c1 * g, square = b2 * v[i] + c2 * g * g;
    m[i] = mean;
    v[i] = square;
    p.param[i] = shrink * p.param[i] - step * mean / (std::sqrt(square) / root + eps);
  }
};

template <class T>
struct RmspropStep {
  T lr, alpha, fresh, eps, momentum, decay;
  explicit RmspropStep(const RmspropUpdate& u)
      : lr(static_cast<T>(u.lr)),
        alpha(static_cast<T>(u.alpha)),
        fresh(static_cast<T>(1 - u.alpha)),
        eps(static_cast<T>(u.eps)),
        momentum(static_cast<T>(u.momentum)),
        decay(static_cast<T>(u.weight_decay)) {}

  HVD_HD void operator()(const ParamOf<T>& p, int64_t i) const {
    T *const square_avg = p.kept[0], *const grad_avg = p.kept[1], *const buffer = p.kept[2];
    const T g = p.grad[i] + decay * p.param[i];
    T mean = alpha * square_avg[i] + fresh * g * g;
    square_avg[i] = mean;
    if (grad_avg) {
      const T average = alpha * grad_avg[i] + fresh * g;
      grad_avg[i] = average;
      mean -= average * average;
    }
    T direction = g / (std::sqrt(mean) + eps);
    if (buffer) buffer[i] = direction = momentum * buffer[i] + direction;
    p.param[i] -= lr * direction;
  }
};

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

void Gpu::sgd_all(Dtype dtype, const std::vector<ParamBuffers>& params, const SgdUpdate& update) const {
  dispatch_real("SGD", dtype, [&](auto zero) {
    using T = decltype(zero);
    update_all<T>("SGD", params, SgdStep<T>(update));
  });
}

void Gpu::adam_all(Dtype dtype, const std::vector<ParamBuffers>& params, const AdamUpdate& update) const {
  dispatch_real("Adam", dtype, [&](auto zero) {
    using T = decltype(zero);
    update_all<T>("Adam", params, AdamStep<T>(update));
  });
}

void Gpu::rmsprop_all(Dtype dtype, const std::vector<ParamBuffers>& params, const RmspropUpdate& update) const {
  dispatch_real("RMSprop", dtype, [&](auto zero) {
    using T = decltype(zero);
    update_all<T>("RMSprop", params, RmspropStep<T>(update));
  });
}

void Gpu::sgd(Dtype dtype, int64_t n, const SgdUpdate& update, const void* grad, void* momentum_buffer, void* param) const {
  sgd_all(dtype, {{n, grad, {momentum_buffer}, param}}, update);
}

void Gpu::adam(Dtype dtype, int64_t n, const AdamUpdate& update, const void* grad, void* exp_avg, void* exp_avg_sq, void* param) const {
  adam_all(dtype, {{n, grad, {exp_avg, exp_avg_sq}, param}}, update);
}

void Gpu::rmsprop(Dtype dtype, int64_t n, const RmspropUpdate& update, const void* grad, void* square_avg, void* grad_avg, void* momentum_buffer,
                  void* param) const {
  rmsprop_all(dtype, {{n, grad, {square_avg, grad_avg, momentum_buffer}, param}}, update);
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
