// SPDX-License-Identifier: Apache-2.0
//
// Included by kernels.cpp once for every generation of processors, inside of a namespace of its own: no includes, no guard.

namespace {

void relu(int64_t n, const float* x, float* y) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] <= 0 ? 0.0f : x[i];  // NaN stays NaN
}
void scale(int64_t n, const float* x, float factor, float* y) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * factor;
}
void add(int64_t n, const float* a, const float* b, float* y) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = a[i] + b[i];
}
void sub(int64_t n, const float* a, const float* b, float* y) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = a[i] - b[i];
}
void mul(int64_t n, const float* a, const float* b, float* y) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = a[i] * b[i];
}
void relu_grad(int64_t n, const float* g, const float* y, float* gx) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const float value = g[i];
    gx[i] = y[i] > 0 ? value : 0.0f;
  }
}
void axpy(int64_t n, float a, const float* x, float* y) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] += a * x[i];
}

/// exp(x) for x <= 0: the polynomial of the Cephes library (Moshier), to 2 units in the last place; 0 below the least normal number.
inline __attribute__((always_inline)) float exp_of_negative(float x) {
  const float inside = x < -87.3f ? -87.3f : x;
  const float shifted = inside * 1.44269504088896341f + 12582912.0f;  // 1.5 * 2^23: rounds to a whole number, which ends the mantissa
  const float whole = shifted - 12582912.0f;
  const int32_t exponent = std::bit_cast<int32_t>(shifted) - 0x4B400000;
  const float rest = (inside - whole * 0.693359375f) + whole * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * rest + 1.3981999507e-3f;
  p = p * rest + 8.3334519073e-3f;
  p = p * rest + 4.1665795894e-2f;
  p = p * rest + 1.6666665459e-1f;
  p = p * rest + 5.0000001201e-1f;
  const float value = (p * (rest * rest) + rest + 1.0f) * std::bit_cast<float>((exponent + 127) << 23);
  return x < -87.3f ? 0.0f : value;  // NaN stays NaN
}

/// The error function: a quotient of polynomials on [-4, 4], as in Eigen; beyond, it is -1 or 1 in float32.
inline __attribute__((always_inline)) float erf_of(float value) {
  const float x = value < -4.0f ? -4.0f : (value > 4.0f ? 4.0f : value);
  const float s = x * x;
  float p = -2.72614225801306e-10f;
  p = p * s + 2.77068142495902e-08f;
  p = p * s - 2.10102402082508e-06f;
  p = p * s - 5.69250639462346e-05f;
  p = p * s - 7.34990630326855e-04f;
  p = p * s - 2.95459980854025e-03f;
  p = p * s - 1.60960333262415e-02f;
  float q = -1.45660718464996e-05f;
  q = q * s - 2.13374055278905e-04f;
  q = q * s - 1.68282697438203e-03f;
  q = q * s - 7.37332916720468e-03f;
  q = q * s - 1.42647390514189e-02f;
  return value <= -4.0f ? -1.0f : (value >= 4.0f ? 1.0f : x * p / q);
}

void gelu(int64_t n, const float* x, float* y) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = 0.5f * x[i] * (1.0f + erf_of(x[i] * 0.70710678f));
}
void gelu_grad(int64_t n, const float* g, const float* x, float* gx) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const float v = x[i], square = -0.5f * v * v;
    const float slope = 0.5f * (1.0f + erf_of(v * 0.70710678f)) + (square < -87.3f ? 0.0f : v * 0.39894228f * exp_of_negative(square));
    gx[i] = g[i] * slope;
  }
}

/// Philox4x32-10 of `kLanes` blocks side by side; see philox_block() in device/draws.hpp.
constexpr int kLanes = 16;
void dropout_lanes(uint64_t first, uint64_t seed, uint64_t counter, uint32_t threshold, bool* mask) {
  uint32_t x0[kLanes], x1[kLanes], x2[kLanes], x3[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    const uint64_t index = first + static_cast<uint64_t>(l);
    x0[l] = static_cast<uint32_t>(index);
    x1[l] = static_cast<uint32_t>(index >> 32);
    x2[l] = static_cast<uint32_t>(counter);
    x3[l] = static_cast<uint32_t>(counter >> 32);
  }
  uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9, key1 += 0xBB67AE85) {
#pragma omp simd
    for (int l = 0; l < kLanes; ++l) {
      const uint64_t p0 = uint64_t{0xD2511F53} * x0[l], p1 = uint64_t{0xCD9E8D57} * x2[l];
      x0[l] = static_cast<uint32_t>(p1 >> 32) ^ x1[l] ^ key0;
      x2[l] = static_cast<uint32_t>(p0 >> 32) ^ x3[l] ^ key1;
      x1[l] = static_cast<uint32_t>(p1);
      x3[l] = static_cast<uint32_t>(p0);
    }
  }
  constexpr int first_byte = std::endian::native == std::endian::little ? 0 : 24, next_byte = first_byte == 0 ? 8 : -8;
  uint32_t four[kLanes];  // bytes of 0 and 1
#pragma omp simd
  for (int l = 0; l < kLanes; ++l) {
    const uint32_t w0 = x0[l] >= threshold ? 1u << first_byte : 0u, w1 = x1[l] >= threshold ? 1u << (first_byte + next_byte) : 0u;
    const uint32_t w2 = x2[l] >= threshold ? 1u << (first_byte + 2 * next_byte) : 0u;
    const uint32_t w3 = x3[l] >= threshold ? 1u << (first_byte + 3 * next_byte) : 0u;
    four[l] = w0 | w1 | w2 | w3;
  }
  std::memcpy(mask, four, sizeof four);
}
void dropout_mask(int64_t blocks, uint64_t first, uint64_t seed, uint64_t counter, uint32_t threshold, bool* mask) {
  int64_t b = 0;
  for (; b + kLanes <= blocks; b += kLanes) dropout_lanes(first + static_cast<uint64_t>(b), seed, counter, threshold, mask + 4 * b);
  if (b == blocks) return;
  bool rest[4 * kLanes];
  dropout_lanes(first + static_cast<uint64_t>(b), seed, counter, threshold, rest);
  std::copy_n(rest, 4 * (blocks - b), mask + 4 * b);
}
void masked_scale(int64_t n, const float* x, const bool* mask, float factor, float* y) {
  const auto* stays = reinterpret_cast<const uint8_t*>(mask);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const float value = x[i] * factor;
    y[i] = stays[i] ? value : 0.0f;
  }
}

void softmax(int64_t columns, const float* x, float* y) {
  constexpr int lanes = 8;
  float parts[lanes];
  for (int l = 0; l < lanes; ++l) parts[l] = x[0];
  int64_t whole = 0;
  for (; whole + lanes <= columns; whole += lanes)
    for (int l = 0; l < lanes; ++l) parts[l] = parts[l] < x[whole + l] ? x[whole + l] : parts[l];
  float largest = parts[0];
  for (int l = 1; l < lanes; ++l) largest = largest < parts[l] ? parts[l] : largest;
  for (int64_t j = whole; j < columns; ++j) largest = largest < x[j] ? x[j] : largest;
  double total = 0;
#pragma omp simd reduction(+ : total)
  for (int64_t j = 0; j < columns; ++j) {
    y[j] = exp_of_negative(x[j] - largest);
    total += static_cast<double>(y[j]);
  }
  const auto factor = static_cast<float>(1 / total);
#pragma omp simd
  for (int64_t j = 0; j < columns; ++j) y[j] *= factor;
}
void softmax_grad(int64_t columns, const float* g, const float* y, float* gx) {
  double total = 0;
#pragma omp simd reduction(+ : total)
  for (int64_t j = 0; j < columns; ++j) total += static_cast<double>(g[j]) * static_cast<double>(y[j]);
  const auto mean = static_cast<float>(total);
#pragma omp simd
  for (int64_t j = 0; j < columns; ++j) gx[j] = y[j] * (g[j] - mean);
}

void layer_norm(int64_t columns, const float* x, const float* weight, const float* bias, double eps, float* y, double* mean, double* inverse_std) {
  double sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t j = 0; j < columns; ++j) sum += static_cast<double>(x[j]);
  const double m = sum / static_cast<double>(columns);
#pragma omp simd reduction(+ : squares)
  for (int64_t j = 0; j < columns; ++j) squares += (static_cast<double>(x[j]) - m) * (static_cast<double>(x[j]) - m);
  const double r = 1 / std::sqrt(squares / static_cast<double>(columns) + eps);
  *mean = m;
  *inverse_std = r;
#pragma omp simd
  for (int64_t j = 0; j < columns; ++j) y[j] = static_cast<float>((static_cast<double>(x[j]) - m) * r);
  if (weight) mul(columns, y, weight, y);
  if (bias) add(columns, y, bias, y);
}
void layer_norm_grad(int64_t columns, const float* g, const float* x, const float* weight, double mean, double r, float* gx) {
  double sum = 0, product = 0;
  if (weight)
    mul(columns, g, weight, gx);
  else
    std::copy_n(g, columns, gx);
#pragma omp simd reduction(+ : sum, product)
  for (int64_t j = 0; j < columns; ++j) {
    sum += static_cast<double>(gx[j]);
    product += static_cast<double>(gx[j]) * (static_cast<double>(x[j]) - mean);
  }
  sum /= static_cast<double>(columns);
  product *= r * r / static_cast<double>(columns);
#pragma omp simd
  for (int64_t j = 0; j < columns; ++j)
    gx[j] = static_cast<float>(r * (static_cast<double>(gx[j]) - sum - (static_cast<double>(x[j]) - mean) * product));
}
void layer_norm_sums(int64_t columns, const float* g, const float* x, double mean, double r, double* weights, double* biases) {
#pragma omp simd
  for (int64_t j = 0; j < columns; ++j) {
    weights[j] += static_cast<double>(g[j]) * (static_cast<double>(x[j]) - mean) * r;
    biases[j] += static_cast<double>(g[j]);
  }
}
void add_to(int64_t n, const float* x, double* total) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) total[i] += static_cast<double>(x[i]);
}

double plane_sum(int64_t n, const float* x) {
  double total = 0;
#pragma omp simd reduction(+ : total)
  for (int64_t i = 0; i < n; ++i) total += static_cast<double>(x[i]);
  return total;
}
double plane_squares(int64_t n, const float* x, double mean) {
  double total = 0;
#pragma omp simd reduction(+ : total)
  for (int64_t i = 0; i < n; ++i) total += (static_cast<double>(x[i]) - mean) * (static_cast<double>(x[i]) - mean);
  return total;
}
void plane_products(int64_t n, const float* g, const float* x, double mean, double* sum, double* product) {
  double s = 0, p = 0;
#pragma omp simd reduction(+ : s, p)
  for (int64_t i = 0; i < n; ++i) {
    s += static_cast<double>(g[i]);
    p += static_cast<double>(g[i]) * (static_cast<double>(x[i]) - mean);
  }
  *sum += s;
  *product += p;
}
void plane_affine(int64_t n, const float* x, float a, float b, float* y) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = a * x[i] + b;
}
void plane_combine(int64_t n, const float* g, const float* x, float a, float b, float s, float* y) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = a * g[i] + b * x[i] + s;
}

inline __attribute__((always_inline)) void pool_some(int64_t begin, int64_t end, const float* upper, const float* lower, int32_t position, int32_t row_length,
                                                     float* y, int32_t* winner) {
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    const float a = upper[2 * i], b = upper[2 * i + 1], c = lower[2 * i], d = lower[2 * i + 1];
    const float left = b <= a ? a : b, right = d <= c ? c : d;
    const int32_t of_left = b <= a ? 0 : 1, of_right = d <= c ? row_length : row_length + 1;
    // The first of equal values wins, as does the first NaN.
    const float top = a == a ? left : a, bottom = c == c ? right : c;
    const int32_t of_top = a == a ? of_left : 0, of_bottom = c == c ? of_right : row_length;
    const float larger = bottom <= top ? top : bottom;
    const int32_t of_larger = bottom <= top ? of_top : of_bottom;
    y[i] = top == top ? larger : top;
    winner[i] = position + 2 * static_cast<int32_t>(i) + (top == top ? of_larger : of_top);
  }
}
// Rows are short: their ends are taken by a last piece that overlaps, not one by one, which costs a branch that nobody predicts for each.
void pool_pairs(int64_t outputs, const float* upper, const float* lower, int32_t position, int32_t row_length, float* y, int32_t* winner) {
  if (outputs < 4) return pool_some(0, outputs, upper, lower, position, row_length, y, winner);
  if (outputs < 8) {
    pool_some(0, 4, upper, lower, position, row_length, y, winner);
    return pool_some(outputs - 4, outputs - 4 + 4, upper, lower, position, row_length, y, winner);
  }
  for (int64_t i = 0; i + 8 <= outputs; i += 8) pool_some(i, i + 8, upper, lower, position, row_length, y, winner);
  if (outputs % 8 != 0) pool_some(outputs - 8, outputs - 8 + 8, upper, lower, position, row_length, y, winner);
}

void sgd(int64_t n, float lr, float decay, const float* grad, float* param) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) param[i] -= lr * (grad[i] + decay * param[i]);
}
void sgd_momentum(int64_t n, float lr, float decay, float old, float fresh, float ahead, float along, const float* grad, float* buffer, float* param) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const float g = grad[i] + decay * param[i];
    buffer[i] = old * buffer[i] + fresh * g;
    param[i] -= lr * (ahead * g + along * buffer[i]);
  }
}

}  // namespace

constexpr Kernels kTable = {relu, scale, gelu, add, sub, mul, relu_grad, gelu_grad, axpy, dropout_mask, masked_scale, softmax, softmax_grad,
                            layer_norm, layer_norm_grad, layer_norm_sums, add_to, plane_sum, plane_squares, plane_products, plane_affine,
                            plane_combine, pool_pairs, sgd, sgd_momentum};
