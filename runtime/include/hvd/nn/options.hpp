// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/tensor.hpp>

#include <string>
#include <utility>
#include <vector>

namespace hvd::nn {

/// Options of nll_loss. `weight`: one factor per class, [C]; `ignore_index`: targets of this value count for nothing. With kMean the
/// sum of weighted terms is divided by the sum of the weights that counted.
class NLLLossOptions {
 public:
  NLLLossOptions& reduction(Reduction value);
  NLLLossOptions& ignore_index(int64_t value);
  NLLLossOptions& weight(Tensor value);
  Reduction reduction() const { return reduction_; }
  int64_t ignore_index() const { return ignore_index_; }
  const Tensor& weight() const { return weight_; }

 private:
  Reduction reduction_ = Reduction::kMean;
  int64_t ignore_index_ = -100;
  Tensor weight_;
};

/// Options of cross_entropy: those of nll_loss, and label smoothing s in [0, 1): the target distribution is 1 - s at the target plus
/// s / C at every class (Szegedy et al. 2016), each times the class weight.
class CrossEntropyLossOptions {
 public:
  CrossEntropyLossOptions& reduction(Reduction value);
  CrossEntropyLossOptions& ignore_index(int64_t value);
  CrossEntropyLossOptions& weight(Tensor value);
  CrossEntropyLossOptions& label_smoothing(double value);
  Reduction reduction() const { return terms_.reduction(); }
  int64_t ignore_index() const { return terms_.ignore_index(); }
  const Tensor& weight() const { return terms_.weight(); }
  double label_smoothing() const { return smoothing_; }
  const NLLLossOptions& terms() const { return terms_; }

 private:
  NLLLossOptions terms_;
  double smoothing_ = 0;
};

class MSELossOptions {
 public:
  MSELossOptions() = default;
  MSELossOptions(Reduction value) : reduction_(value) {}
  MSELossOptions& reduction(Reduction value);
  Reduction reduction() const { return reduction_; }

 private:
  Reduction reduction_ = Reduction::kMean;
};

/// Options of binary_cross_entropy_with_logits. `weight`: a factor for every element, broadcast; `pos_weight`: a factor for the
/// term of the positive class, broadcast.
class BCEWithLogitsLossOptions {
 public:
  BCEWithLogitsLossOptions& reduction(Reduction value);
  BCEWithLogitsLossOptions& weight(Tensor value);
  BCEWithLogitsLossOptions& pos_weight(Tensor value);
  Reduction reduction() const { return reduction_; }
  const Tensor& weight() const { return weight_; }
  const Tensor& pos_weight() const { return pos_weight_; }

 private:
  Reduction reduction_ = Reduction::kMean;
  Tensor weight_;
  Tensor pos_weight_;
};

/// Options of a two-dimensional window: kernel size, stride (kernel size unless set) and padding.
class MaxPool2dOptions {
 public:
  MaxPool2dOptions(int64_t kernel_size) : MaxPool2dOptions(IntList{kernel_size, kernel_size}) {}
  MaxPool2dOptions(IntList kernel_size);
  MaxPool2dOptions& stride(int64_t value) { return stride(IntList{value, value}); }
  MaxPool2dOptions& stride(IntList value);
  MaxPool2dOptions& padding(int64_t value) { return padding(IntList{value, value}); }
  MaxPool2dOptions& padding(IntList value);
  const int64_t* kernel_size() const { return kernel_; }
  const int64_t* stride() const { return stride_; }
  const int64_t* padding() const { return padding_; }

 private:
  int64_t kernel_[2];
  int64_t stride_[2];
  int64_t padding_[2] = {0, 0};
};

/// As MaxPool2dOptions; with count_include_pad, the default, the zeros of the padding count in the average.
class AvgPool2dOptions {
 public:
  AvgPool2dOptions(int64_t kernel_size) : AvgPool2dOptions(IntList{kernel_size, kernel_size}) {}
  AvgPool2dOptions(IntList kernel_size);
  AvgPool2dOptions& stride(int64_t value) { return stride(IntList{value, value}); }
  AvgPool2dOptions& stride(IntList value);
  AvgPool2dOptions& padding(int64_t value) { return padding(IntList{value, value}); }
  AvgPool2dOptions& padding(IntList value);
  AvgPool2dOptions& count_include_pad(bool value);
  const int64_t* kernel_size() const { return kernel_; }
  const int64_t* stride() const { return stride_; }
  const int64_t* padding() const { return padding_; }
  bool count_include_pad() const { return count_include_pad_; }

 private:
  int64_t kernel_[2];
  int64_t stride_[2];
  int64_t padding_[2] = {0, 0};
  bool count_include_pad_ = true;
};

/// Rows and columns of the result.
class AdaptiveAvgPool2dOptions {
 public:
  AdaptiveAvgPool2dOptions(int64_t output_size) : AdaptiveAvgPool2dOptions(IntList{output_size, output_size}) {}
  AdaptiveAvgPool2dOptions(IntList output_size);
  const int64_t* output_size() const { return output_; }

 private:
  int64_t output_[2];
};

/// `normalized_shape`: the last dimensions of the input, over which mean and variance are taken.
class LayerNormOptions {
 public:
  LayerNormOptions(std::vector<int64_t> normalized_shape) : shape_(std::move(normalized_shape)) {}
  LayerNormOptions& eps(double value);
  LayerNormOptions& elementwise_affine(bool value);
  const std::vector<int64_t>& normalized_shape() const { return shape_; }
  double eps() const { return eps_; }
  bool elementwise_affine() const { return affine_; }

 private:
  std::vector<int64_t> shape_;
  double eps_ = 1e-5;
  bool affine_ = true;
};

/// `padding_idx`: a row that starts as zeros and takes no gradient; -1, the default: none.
class EmbeddingOptions {
 public:
  EmbeddingOptions(int64_t num_embeddings, int64_t embedding_dim) : count_(num_embeddings), dim_(embedding_dim) {}
  EmbeddingOptions& padding_idx(int64_t value);
  int64_t num_embeddings() const { return count_; }
  int64_t embedding_dim() const { return dim_; }
  int64_t padding_idx() const { return padding_; }

 private:
  int64_t count_;
  int64_t dim_;
  int64_t padding_ = -1;
};

}  // namespace hvd::nn
