// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/tensor.hpp>

namespace hvd {

Tensor empty(IntList shape, TensorOptions options = {});
Tensor zeros(IntList shape, TensorOptions options = {});
Tensor ones(IntList shape, TensorOptions options = {});
Tensor full(IntList shape, Scalar value, TensorOptions options = {});  // dtype of the value unless set: int64, bool or default
Tensor empty_like(const Tensor& like);
Tensor zeros_like(const Tensor& like);
Tensor ones_like(const Tensor& like);
Tensor full_like(const Tensor& like, Scalar value);

Tensor rand(IntList shape, TensorOptions options = {});                                 // uniform on [0, 1)
Tensor randn(IntList shape, TensorOptions options = {});                                // standard normal
Tensor randint(int64_t low, int64_t high, IntList shape, TensorOptions options = {});  // low <= x < high, int64 unless set
Tensor randint(int64_t high, IntList shape, TensorOptions options = {});
Tensor randperm(int64_t n, TensorOptions options = {});  // int64 unless set
Tensor randperm(int64_t n, Generator& generator);

Tensor arange(int64_t end, TensorOptions options = {});  // 0 ... end-1, int64 unless set
Tensor arange(int64_t start, int64_t end, TensorOptions options = {});
Tensor linspace(double start, double end, int64_t steps, TensorOptions options = {});

/// A tensor of given values: 0-d from a number, 1-d from a list. Floating-point values take the default dtype unless set,
/// integers int64, bools bool.
Tensor tensor(Scalar value, TensorOptions options = {});
Tensor tensor(std::initializer_list<double> values, TensorOptions options = {});
Tensor tensor(std::initializer_list<float> values, TensorOptions options = {});
Tensor tensor(std::initializer_list<int> values, TensorOptions options = {});
Tensor tensor(std::initializer_list<int64_t> values, TensorOptions options = {});
Tensor tensor(const std::vector<double>& values, TensorOptions options = {});
Tensor tensor(const std::vector<float>& values, TensorOptions options = {});
Tensor tensor(const std::vector<int>& values, TensorOptions options = {});
Tensor tensor(const std::vector<int64_t>& values, TensorOptions options = {});

/// A tensor over memory that somebody else owns: not copied; `owner` (may be null) is kept alive with it. Row-major.
Tensor from_blob(void* data, IntList shape, TensorOptions options = {}, std::shared_ptr<void> owner = nullptr);

Tensor stack(const std::vector<Tensor>& tensors, int64_t dim = 0);
Tensor cat(const std::vector<Tensor>& tensors, int64_t dim = 0);

}  // namespace hvd
