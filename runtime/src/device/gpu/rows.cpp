// SPDX-License-Identifier: Apache-2.0
//
// Softmax and the losses over class scores: rows of [rows, columns]; sums run in float64.
#include "device/gpu/support.hpp"

#include <cmath>
#include <limits>

namespace hvd::backends::gpu {

namespace {

struct Larger {
  template <class T>
  HVD_HD T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

/// The largest of some numbers, and the sum of exp(x - largest): one pass over them (Milakov, Gimelshein 2018: "Online normalizer calculation for softmax").
template <class V>
struct Powers {
  V largest;
  double total;
};
struct AddPowers {
  template <class V>
  HVD_HD Powers<V> operator()(const Powers<V>& a, const Powers<V>& b) const {
    // Equal ones first: of two infinities the difference is no number.
    if (a.largest == b.largest) return {a.largest, a.total + b.total};
    return a.largest < b.largest ? Powers<V>{b.largest, b.total + a.total * static_cast<double>(std::exp(a.largest - b.largest))}
                                 : Powers<V>{a.largest, a.total + b.total * static_cast<double>(std::exp(b.largest - a.largest))};
  }
};

// Exponentials in the type of the numbers; a thread takes N neighbours of a row at a time.

template <int N, class T>
void softmax_rows(int64_t rows, int64_t columns, const T* in, T* out, bool log) {
  const bool whole = packs_lie<N>(in) && packs_lie<N>(out);
  for_teams("softmax", rows, [=] HVD_KERNEL(int64_t r, const Team& team) {
    const T* x = in + r * columns;
    T* y = out + r * columns;
    using V = float_of<T>;
    const Powers<V> all = team.reduce(
        0, columns / N, Powers<V>{static_cast<V>(x[0]), 0.0},
        [=](int64_t j) {
          const Pack<T, N> values = load_pack<N>(x + j * N, whole);
          Powers<V> some{static_cast<V>(values.at[0]), 0.0};
          for (int k = 1; k < N; ++k) some.largest = Larger()(some.largest, static_cast<V>(values.at[k]));
          for (int k = 0; k < N; ++k) {
            const V value = static_cast<V>(values.at[k]);
            some.total += value == some.largest ? 1.0 : static_cast<double>(std::exp(value - some.largest));
          }
          return some;
        },
        AddPowers());
    const V largest = all.largest;
    const double total = largest == std::numeric_limits<V>::infinity() ? NAN : all.total, shift = log ? std::log(total) : 0;
    const V factor = static_cast<V>(1 / total);
    team.each(columns / N, [=](int64_t j) {
      Pack<T, N> values = load_pack<N>(x + j * N, whole);
      for (int k = 0; k < N; ++k) {
        const V d = static_cast<V>(values.at[k]) - largest;
        values.at[k] = log ? static_cast<T>(static_cast<double>(d) - shift) : static_cast<T>(std::exp(d) * factor);
      }
      store_pack<N>(y + j * N, values, whole);
    });
  });
}

template <int N, class T>
void softmax_grad_rows(int64_t rows, int64_t columns, const T* grad, const T* out, T* grad_in, bool log) {
  const bool whole = packs_lie<N>(grad) && packs_lie<N>(out) && packs_lie<N>(grad_in);
  for_teams("softmax", rows, [=] HVD_KERNEL(int64_t r, const Team& team) {
    const T *g = grad + r * columns, *y = out + r * columns;
    T* gx = grad_in + r * columns;
    using V = float_of<T>;
    const double total = team.reduce(
        0, columns / N, 0.0,
        [=](int64_t j) {
          const Pack<T, N> gs = load_pack<N>(g + j * N, whole), ys = load_pack<N>(y + j * N, whole);
          double sum = 0;
          for (int k = 0; k < N; ++k) sum += static_cast<double>(gs.at[k]) * (log ? 1.0 : static_cast<double>(ys.at[k]));
          return sum;
        },
        Sum());
    team.each(columns / N, [=](int64_t j) {
      const Pack<T, N> gs = load_pack<N>(g + j * N, whole), ys = load_pack<N>(y + j * N, whole);
      Pack<T, N> result;
      for (int k = 0; k < N; ++k) {
        const double dy = static_cast<double>(ys.at[k]), dg = static_cast<double>(gs.at[k]);
        result.at[k] = static_cast<T>(log ? dg - static_cast<double>(std::exp(static_cast<V>(ys.at[k]))) * total : dy * (dg - total));
      }
      store_pack<N>(gx + j * N, result, whole);
    });
  });
}

/// What a row adds to a loss; `bad`: the first row whose target is none, or a number beyond all rows.
struct Term {
  double loss, counted;
  int64_t bad;
};
struct AddTerms {
  HVD_HD Term operator()(const Term& a, const Term& b) const { return {a.loss + b.loss, a.counted + b.counted, a.bad < b.bad ? a.bad : b.bad}; }
};
inline constexpr int64_t kNoRow = std::numeric_limits<int64_t>::max();

/// The rows' terms into `term`, and their losses into `per_row` unless it is null.
template <class T>
void nll_terms(int64_t rows, int64_t columns, const T* x, const int64_t* target, const T* weight, int64_t ignore_index,
              double smoothing, T* per_row, Term* term) {
  for_teams("nll_loss", rows, [=] HVD_KERNEL(int64_t r, const Team& team) {
    const T* log_p = x + r * columns;
    const int64_t t = target[r];
    const bool counts = t != ignore_index, valid = t >= 0 && t < columns;
    double spread = 0;
    if (smoothing != 0)
      spread = team.reduce(
          0, columns, 0.0, [=](int64_t j) { return (weight ? static_cast<double>(weight[j]) : 1.0) * static_cast<double>(log_p[j]); }, Sum());
    team.once([&] {
      Term mine{0, 0, counts && !valid ? r : kNoRow};
      if (counts && valid) {
        mine.counted = weight ? static_cast<double>(weight[t]) : 1.0;
        mine.loss = -mine.counted * static_cast<double>(log_p[t]);
        if (smoothing != 0) mine.loss = (1 - smoothing) * mine.loss - smoothing / static_cast<double>(columns) * spread;
      }
      term[r] = mine;
      if (per_row) per_row[r] = static_cast<T>(mine.loss);
    });
  });
}

template <class T>
Term nll_rows(const Backend& device, int64_t rows, int64_t columns, const T* x, const int64_t* target, const T* weight, int64_t ignore_index,
              double smoothing, T* per_row) {
  const Scratch<Term> terms(device, rows);
  Term* const term = terms.data();
  nll_terms(rows, columns, x, target, weight, ignore_index, smoothing, per_row, term);
  const Term none{0, 0, kNoRow};
  return reduce_to_host(device, "nll_loss", rows, none, [=] HVD_KERNEL(int64_t r) { return term[r]; }, AddTerms());
}

/// The same with its numbers on the device.
template <class T>
void nll_values(const Backend& device, int64_t rows, int64_t columns, const T* x, const int64_t* target, const T* weight, int64_t ignore_index,
                double smoothing, bool mean, T* per_row, T* value, T* counted, Finding* slot, uint64_t check) {
  const Scratch<Term> terms(device, rows);
  Term* const term = terms.data();
  nll_terms(rows, columns, x, target, weight, ignore_index, smoothing, per_row, term);
  const Term none{0, 0, kNoRow};
  reduce(
      device, "nll_loss", 1, rows, false, none, [=] HVD_KERNEL(int64_t, int64_t r) { return term[r]; }, AddTerms(),
      [=] HVD_KERNEL(int64_t, const Term& all) {
        const bool bad = all.bad != kNoRow;
        *counted = static_cast<T>(all.counted);
        *value = bad ? static_cast<T>(NAN) : static_cast<T>(mean ? all.loss / all.counted : all.loss);
        if (!bad || !claim(&slot->check, check)) return;
        slot->place = all.bad;
        slot->value = target[all.bad];
      });
}

template <class T>
void nll_grad_rows(int64_t rows, int64_t columns, const T* grad, int64_t grad_stride, double scale, const int64_t* target, const T* weight,
                   int64_t ignore_index, T* grad_in) {
  for_each("nll_loss", rows * columns, [=] HVD_KERNEL(int64_t i) {
    const int64_t r = quotient(i, columns), j = i - r * columns, t = target[r];
    const double factor = weight ? static_cast<double>(weight[j]) : 1.0;
    grad_in[i] = t != ignore_index && t == j ? static_cast<T>(-factor * static_cast<double>(grad[r * grad_stride]) * scale) : T(0);
  });
}

/// With label smoothing s the target distribution is d = (1 - s) w[t] at t plus s / C w everywhere, and the gradient p sum(d) - d.
/// `sum_of_weights` points to the sum of w, or is null without weights.
template <class T>
void cross_entropy_grad_rows(int64_t rows, int64_t columns, const T* grad, int64_t grad_stride, double scale, const T* log_p,
                             const int64_t* target, const T* weight, int64_t ignore_index, double s, const double* sum_of_weights, T* grad_in) {
  constexpr int kPack = pack_of<T>();
  const bool whole = columns % kPack == 0 && packs_lie<kPack>(log_p) && packs_lie<kPack>(grad_in);
  for_packs<kPack>("cross_entropy", rows * columns, whole, [=] HVD_KERNEL(int64_t i, auto count) {
    constexpr int N = decltype(count)::value;
    using V = float_of<T>;
    const int64_t r = quotient(i, columns), first = i - r * columns, t = target[r];
    const bool valid = t >= 0 && t < columns;  // else the loss was NaN and the host will be told
    const double outer = static_cast<double>(grad[r * grad_stride]) * scale, share = s / static_cast<double>(columns);
    const double of_target = weight && valid ? static_cast<double>(weight[t]) : 1.0;
    const double all = sum_of_weights ? *sum_of_weights : static_cast<double>(columns);
    const double total = (1 - s) * of_target + share * all;
    const V factor = static_cast<V>(outer * total), spread = static_cast<V>(outer * share);
    Pack<T, N> pack = load_pack<N>(log_p + i, true);
    for (int k = 0; k < N; ++k) {
      const int64_t j = first + k;
      const T before = pack.at[k];
      pack.at[k] = static_cast<T>(factor * std::exp(static_cast<V>(before)) - spread * (weight ? static_cast<V>(weight[j]) : V(1)));
      if (j == t) {  // a probability near 1 is subtracted from: in float64
        const double here = weight ? static_cast<double>(weight[j]) : 1.0;
        pack.at[k] = static_cast<T>(outer * (std::exp(static_cast<double>(before)) * total - share * here - (1 - s) * of_target));
      }
      if (t == ignore_index) pack.at[k] = T(0);
    }
    store_pack<N>(grad_in + i, pack, true);
  });
}

template <class T>
void sum_weights(const Backend& device, int64_t columns, const T* weight, double* sum) {
  reduce(
      device, "cross_entropy", 1, columns, false, 0.0, [=] HVD_KERNEL(int64_t, int64_t j) { return static_cast<double>(weight[j]); }, Sum(),
      [=] HVD_KERNEL(int64_t, const double& total) { *sum = total; });
}

}  // namespace

void Gpu::softmax(Dtype dtype, int64_t rows, int64_t columns, const void* in, void* out, bool log) const {
  if (columns == 0) return;
  dispatch_floating("softmax", dtype, [&](auto zero) {
    using T = decltype(zero);
    with_packs<T>(columns, [&](auto count) { softmax_rows<decltype(count)::value>(rows, columns, static_cast<const T*>(in), static_cast<T*>(out), log); });
  });
}

void Gpu::softmax_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, const void* out, void* grad_in, bool log) const {
  dispatch_floating("softmax", dtype, [&](auto zero) {
    using T = decltype(zero);
    with_packs<T>(columns, [&](auto count) {
      softmax_grad_rows<decltype(count)::value>(rows, columns, static_cast<const T*>(grad), static_cast<const T*>(out), static_cast<T*>(grad_in), log);
    });
  });
}

int64_t Gpu::nll(Dtype dtype, int64_t rows, int64_t columns, const void* x, const int64_t* target, const void* weight, int64_t ignore_index,
                 double smoothing, void* per_row, double totals[2]) const {
  Term term{};
  dispatch_floating("nll_loss", dtype, [&](auto zero) {
    using T = decltype(zero);
    term = nll_rows(*this, rows, columns, static_cast<const T*>(x), target, static_cast<const T*>(weight), ignore_index, smoothing,
                    static_cast<T*>(per_row));
  });
  totals[0] = term.loss;
  totals[1] = term.counted;
  return term.bad == kNoRow ? -1 : term.bad;
}

bool Gpu::nll_on_device(const char* name, Dtype dtype, int64_t rows, int64_t columns, const void* x, const int64_t* target, const void* weight,
                        int64_t ignore_index, double smoothing, bool mean, void* per_row, void* value, void* counted) const {
  const std::string operation = name;
  const uint64_t check = checks_.add([operation, columns](const Finding& f) {
    return operation + ": target " + std::to_string(f.value) + " in row " + std::to_string(f.place) + " is not one of " + std::to_string(columns) +
           " classes";
  });
  dispatch_floating("nll_loss", dtype, [&](auto zero) {
    using T = decltype(zero);
    nll_values(*this, rows, columns, static_cast<const T*>(x), target, static_cast<const T*>(weight), ignore_index, smoothing, mean,
               static_cast<T*>(per_row), static_cast<T*>(value), static_cast<T*>(counted), checks_.slot(*this), check);
  });
  return true;
}

void Gpu::nll_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, int64_t grad_stride, double scale, const int64_t* target,
                   const void* weight, int64_t ignore_index, void* grad_in) const {
  dispatch_floating("nll_loss", dtype, [&](auto zero) {
    using T = decltype(zero);
    nll_grad_rows(rows, columns, static_cast<const T*>(grad), grad_stride, scale, target, static_cast<const T*>(weight), ignore_index,
                  static_cast<T*>(grad_in));
  });
}

void Gpu::cross_entropy_grad(Dtype dtype, int64_t rows, int64_t columns, const void* grad, int64_t grad_stride, double scale,
                             const void* log_probabilities, const int64_t* target, const void* weight, int64_t ignore_index, double smoothing,
                             void* grad_in) const {
  dispatch_floating("cross_entropy", dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* w = static_cast<const T*>(weight);
    const bool summed = w && smoothing != 0;
    const Scratch<double> sum(*this, 1);
    if (summed) sum_weights(*this, columns, w, sum.data());
    cross_entropy_grad_rows(rows, columns, static_cast<const T*>(grad), grad_stride, scale, static_cast<const T*>(log_probabilities), target, w,
                            ignore_index, smoothing, summed ? sum.data() : nullptr, static_cast<T*>(grad_in));
  });
}

}  // namespace hvd::backends::gpu
