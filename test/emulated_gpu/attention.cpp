// SPDX-License-Identifier: Apache-2.0
#include "test/emulated_gpu/attention.hpp"

#include <hvd/core/float16.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace emulated {

namespace {

using hvd::backends::Attention;

/// Feature j of row i of a head, in a buffer with strides.
template <class T>
double at(const T* data, int64_t batch, int64_t row, const Attention& a, int64_t n, int64_t head, int64_t i, int64_t j) {
  return static_cast<double>(static_cast<float>(data[n * batch + i * row + head * a.width + j]));
}
int64_t dense(const Attention& a, int64_t rows, int64_t n, int64_t head, int64_t i, int64_t j) { return ((n * rows + i) * a.heads + head) * a.width + j; }

template <class T>
double score(const Attention& a, const T* q, const T* k, const T* mask, int64_t n, int64_t head, int64_t i, int64_t j) {
  double product = 0;
  for (int64_t f = 0; f < a.width; ++f) product += at(q, a.q_batch, a.q_row, a, n, head, i, f) * at(k, a.k_batch, a.k_row, a, n, head, j, f);
  product *= a.scale;
  if (a.mask_batches > 0) product += static_cast<double>(static_cast<float>(mask[((a.mask_batches == 1 ? 0 : n) * a.t + i) * a.s + j]));
  return product;
}

template <class F>
void for_queries(const Attention& a, F f) {
  for (int64_t n = 0; n < a.n; ++n)
    for (int64_t head = 0; head < a.heads; ++head)
      for (int64_t i = 0; i < a.t; ++i) f(n, head, i);
}

template <class T>
void forward(const Attention& a, const T* q, const T* k, const T* v, const T* mask, T* out, float* statistics) {
  for_queries(a, [&](int64_t n, int64_t head, int64_t i) {
    std::vector<double> scores(static_cast<size_t>(a.s));
    double largest = -std::numeric_limits<double>::infinity(), total = 0;
    for (int64_t j = 0; j < a.s; ++j) {
      scores[static_cast<size_t>(j)] = score(a, q, k, mask, n, head, i, j);
      largest = std::max(largest, scores[static_cast<size_t>(j)]);
    }
    for (const double x : scores) total += std::exp(x - largest);
    statistics[(n * a.heads + head) * a.t + i] = static_cast<float>(largest + std::log(total));
    for (int64_t f = 0; f < a.width; ++f) {
      double sum = 0;
      for (int64_t j = 0; j < a.s; ++j)
        sum += std::exp(scores[static_cast<size_t>(j)] - largest) / total * at(v, a.v_batch, a.v_row, a, n, head, j, f);
      out[dense(a, a.t, n, head, i, f)] = T(static_cast<float>(sum));
    }
  });
}

template <class T>
void backward(const Attention& a, const T* grad, const T* q, const T* k, const T* v, const T* mask, const T* out, const float* statistics, T* grad_q, T* grad_k,
              T* grad_v) {
  const auto zeros = [&](int64_t rows) { return std::vector<double>(static_cast<size_t>(a.n * rows * a.heads * a.width)); };
  std::vector<double> sum_q = zeros(a.t), sum_k = zeros(a.s), sum_v = zeros(a.s);
  const auto number = [](T x) { return static_cast<double>(static_cast<float>(x)); };
  for_queries(a, [&](int64_t n, int64_t head, int64_t i) {
    double own = 0;
    for (int64_t f = 0; f < a.width; ++f) own += number(grad[dense(a, a.t, n, head, i, f)]) * number(out[dense(a, a.t, n, head, i, f)]);
    for (int64_t j = 0; j < a.s; ++j) {
      const double weight = std::exp(score(a, q, k, mask, n, head, i, j) - static_cast<double>(statistics[(n * a.heads + head) * a.t + i]));
      double of_weight = 0;
      for (int64_t f = 0; f < a.width; ++f) {
        const double g = number(grad[dense(a, a.t, n, head, i, f)]);
        of_weight += g * at(v, a.v_batch, a.v_row, a, n, head, j, f);
        sum_v[static_cast<size_t>(dense(a, a.s, n, head, j, f))] += weight * g;
      }
      const double of_score = (of_weight - own) * weight * a.scale;
      for (int64_t f = 0; f < a.width; ++f) {
        sum_q[static_cast<size_t>(dense(a, a.t, n, head, i, f))] += of_score * at(k, a.k_batch, a.k_row, a, n, head, j, f);
        sum_k[static_cast<size_t>(dense(a, a.s, n, head, j, f))] += of_score * at(q, a.q_batch, a.q_row, a, n, head, i, f);
      }
    }
  });
  const auto rounded = [](const std::vector<double>& sums, T* to) {
    for (size_t i = 0; i < sums.size(); ++i) to[i] = T(static_cast<float>(sums[i]));
  };
  rounded(sum_q, grad_q);
  rounded(sum_k, grad_k);
  rounded(sum_v, grad_v);
}

template <class F>
void with_type(hvd::Dtype dtype, F f) {
  dtype == hvd::Dtype::kBFloat16 ? f(hvd::BFloat16{}) : f(hvd::Half{});
}

}  // namespace

void attention(hvd::Dtype dtype, const Attention& shape, const void* q, const void* k, const void* v, const void* mask, void* out, float* statistics) {
  with_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    forward(shape, static_cast<const T*>(q), static_cast<const T*>(k), static_cast<const T*>(v), static_cast<const T*>(mask), static_cast<T*>(out), statistics);
  });
}

void attention_grad(hvd::Dtype dtype, const Attention& shape, const void* grad, const void* q, const void* k, const void* v, const void* mask,
                    const void* out, const float* statistics, void* grad_q, void* grad_k, void* grad_v) {
  with_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    backward(shape, static_cast<const T*>(grad), static_cast<const T*>(q), static_cast<const T*>(k), static_cast<const T*>(v), static_cast<const T*>(mask),
             static_cast<const T*>(out), statistics, static_cast<T*>(grad_q), static_cast<T*>(grad_k), static_cast<T*>(grad_v));
  });
}

}  // namespace emulated
