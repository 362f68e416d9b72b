// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/support.hpp"

namespace hvd::backends::gpu {

namespace {

template <class T>
void fill_values(int64_t n, T* out, T value) {
  constexpr int kPack = pack_of<T>();
  for_packs<kPack>("fill", n, packs_lie<kPack>(out), [=] HVD_KERNEL(int64_t i, auto count) {
    constexpr int N = decltype(count)::value;
    Pack<T, N> pack;
    for (int k = 0; k < N; ++k) pack.at[k] = value;
    store_pack<N>(out + i, pack, true);
  });
}

template <class To, class From>
void convert(const StridedLoop<2>& loop, To* out, const From* in) {
  constexpr int kPack = pack_of<To, From>();
  if (is_dense(loop) && packs_lie<kPack>(out) && packs_lie<kPack>(in))
    return for_packs<kPack>("copy", loop.count, true, [=] HVD_KERNEL(int64_t i, auto count) {
      constexpr int N = decltype(count)::value;
      const Pack<From, N> from = load_pack<N>(in + i, true);
      Pack<To, N> to;
      for (int k = 0; k < N; ++k) to.at[k] = static_cast<To>(from.at[k]);
      store_pack<N>(out + i, to, true);
    });
  for_each("copy", loop.count, [=] HVD_KERNEL(int64_t i) {
    const Offsets<2> o = locate(loop, i);
    out[o.at[0]] = static_cast<To>(in[o.at[1]]);
  });
}

template <class Word>
void move_words(const StridedLoop<2>& loop, Word* out, const Word* in) {
  for_each("copy", loop.count, [=] HVD_KERNEL(int64_t i) {
    const Offsets<2> o = locate(loop, i);
    out[o.at[0]] = in[o.at[1]];
  });
}

/// The loop over packs of `n` elements where both operands are made of such: their last dimension is dense, and all else a multiple.
bool in_packs(StridedLoop<2>& loop, int64_t n) {
  if (loop.dims < 1) return false;
  const int last = loop.dims - 1;
  bool fits = loop.size[last] % n == 0;
  for (int k = 0; k < 2; ++k) {
    fits = fits && loop.stride[k][last] == 1;
    for (int d = 0; d < last; ++d) fits = fits && loop.stride[k][d] % n == 0;
  }
  if (!fits) return false;
  loop.size[last] /= n;
  loop.count /= n;
  for (int k = 0; k < 2; ++k)
    for (int d = 0; d < last; ++d) loop.stride[k][d] /= n;
  return true;
}

/// Elements of one dtype move as words of its size, or of 16 bytes.
void copy_same(StridedLoop<2> loop, size_t size, void* out, const void* in) {
  using Word = Pack<uint64_t, 2>;
  const auto lies = [](const void* data) { return reinterpret_cast<uintptr_t>(data) % sizeof(Word) == 0; };
  if (lies(out) && lies(in) && in_packs(loop, static_cast<int64_t>(sizeof(Word) / size)))
    return move_words(loop, static_cast<Word*>(out), static_cast<const Word*>(in));
  const auto copy = [&](auto word) { convert(loop, static_cast<decltype(word)*>(out), static_cast<const decltype(word)*>(in)); };
  switch (size) {
    case 1: return copy(uint8_t{});
    case 2: return copy(uint16_t{});
    case 4: return copy(uint32_t{});
    default: return copy(uint64_t{});
  }
}

/// An index that check_index() has found wrong must not leave the tensor.
HVD_HD inline int64_t inside(int64_t index, int64_t length) { return index >= 0 && index < length ? index : 0; }

/// Rows of `words` words each.
template <class Word>
void select_rows(Word* out, const Word* in, const int64_t* index, int64_t outer, int64_t length, int64_t n, int64_t words) {
  for_each("index_select", outer * n * words, [=] HVD_KERNEL(int64_t i) {
    const int64_t row = quotient(i, words), word = i - row * words, o = quotient(row, n), j = row - o * n;
    out[i] = in[(o * length + inside(index[j], length)) * words + word];
  });
}

template <class T>
void add_rows_at(T* out, const T* in, const int64_t* index, int64_t outer, int64_t length, int64_t n, int64_t inner) {
  for_each("index_add", outer * n * inner, [=] HVD_KERNEL(int64_t i) {
    const int64_t row = quotient(i, inner), column = i - row * inner, o = quotient(row, n), j = row - o * n;
    add_at(&out[(o * length + inside(index[j], length)) * inner + column], in[i]);
  });
}

/// One thread for each column, in the order of j.
template <class T>
void add_rows_in_order(T* out, const T* in, const int64_t* index, int64_t outer, int64_t length, int64_t n, int64_t inner) {
  for_each("index_add", outer * inner, [=] HVD_KERNEL(int64_t i) {
    const int64_t o = quotient(i, inner), column = i - o * inner;
    for (int64_t j = 0; j < n; ++j) out[(o * length + inside(index[j], length)) * inner + column] += in[(o * n + j) * inner + column];
  });
}

template <class T>
void gather_values(T* out, const T* in, const int64_t* index, int64_t outer, int64_t length, int64_t n, int64_t inner) {
  for_each("gather", outer * n * inner, [=] HVD_KERNEL(int64_t i) {
    const int64_t row = quotient(i, inner), column = i - row * inner, o = quotient(row, n);
    out[i] = in[(o * length + inside(index[i], length)) * inner + column];
  });
}

/// One thread for each (o, column): no two meet.
template <class T>
void scatter_values(T* out, const T* in, const int64_t* index, int64_t outer, int64_t length, int64_t n, int64_t inner) {
  for_each("scatter_add", outer * inner, [=] HVD_KERNEL(int64_t i) {
    const int64_t o = quotient(i, inner), column = i - o * inner;
    for (int64_t j = 0; j < n; ++j) {
      const int64_t from = (o * n + j) * inner + column;
      out[(o * length + inside(index[from], length)) * inner + column] += in[from];
    }
  });
}

bool multiple(const void* address, int64_t bytes, int64_t of) { return reinterpret_cast<uintptr_t>(address) % of == 0 && bytes % of == 0; }

}  // namespace

void Gpu::fill(void* out, Dtype dtype, int64_t n, Scalar value) const {
  dispatch_all(dtype, [&](auto zero) {
    using T = decltype(zero);
    fill_values(n, static_cast<T*>(out), value.to<T>());
  });
}

void Gpu::copy(const Extents& extents, const Operand& out, const Operand& in) const {
  const StridedLoop<2> loop = strided_loop<2>(extents, {&out, &in});
  if (out.dtype == in.dtype) return copy_same(loop, dtype_size(out.dtype), out.data, in.data);
  dispatch_all(out.dtype, [&](auto to) {
    dispatch_all(in.dtype, [&](auto from) { convert(loop, static_cast<decltype(to)*>(out.data), static_cast<const decltype(from)*>(in.data)); });
  });
}

void Gpu::index_select(void* out, const void* in, const int64_t* index, int64_t outer, int64_t length, int64_t n, int64_t inner_bytes) const {
  if (inner_bytes == 0) return;
  const auto select = [&](auto word) {
    using Word = decltype(word);
    select_rows(static_cast<Word*>(out), static_cast<const Word*>(in), index, outer, length, n, inner_bytes / static_cast<int64_t>(sizeof(Word)));
  };
  if (multiple(in, inner_bytes, 8) && multiple(out, inner_bytes, 8)) return select(uint64_t{});
  if (multiple(in, inner_bytes, 4) && multiple(out, inner_bytes, 4)) return select(uint32_t{});
  select(uint8_t{});
}

void Gpu::index_add(void* out, const void* in, Dtype dtype, const int64_t* index, int64_t outer, int64_t length, int64_t n, int64_t inner) const {
  dispatch_real("index_select's gradient", dtype, [&](auto zero) {
    using T = decltype(zero);
    if (deterministic())
      add_rows_in_order(static_cast<T*>(out), static_cast<const T*>(in), index, outer, length, n, inner);
    else
      add_rows_at(static_cast<T*>(out), static_cast<const T*>(in), index, outer, length, n, inner);
  });
}

void Gpu::gather(void* out, const void* in, Dtype dtype, const int64_t* index, int64_t outer, int64_t length, int64_t n, int64_t inner) const {
  dispatch_all(dtype, [&](auto zero) {
    using T = decltype(zero);
    gather_values(static_cast<T*>(out), static_cast<const T*>(in), index, outer, length, n, inner);
  });
}

void Gpu::scatter_add(void* out, const void* in, Dtype dtype, const int64_t* index, int64_t outer, int64_t length, int64_t n,
                      int64_t inner) const {
  dispatch_real("gather's gradient", dtype, [&](auto zero) {
    using T = decltype(zero);
    scatter_values(static_cast<T*>(out), static_cast<const T*>(in), index, outer, length, n, inner);
  });
}

}  // namespace hvd::backends::gpu
