// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/nn/layers.hpp>

#include <vector>

/// Layers over sequences. Sequences are [N, T, E]: sample, position, feature.
namespace hvd::nn {

/// Rows of a table [num_embeddings, embedding_dim] for indices of any shape, see functional::embedding. Parameter: weight, standard
/// normal at first.
class EmbeddingImpl : public Module {
 public:
  EmbeddingImpl(int64_t num_embeddings, int64_t embedding_dim) : EmbeddingImpl(EmbeddingOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingImpl(const EmbeddingOptions& options);
  void reset_parameters();
  Tensor forward(const Tensor& index);

  EmbeddingOptions options;
  Tensor weight;
};
HVD_MODULE(Embedding);

/// See functional::layer_norm. Parameters: weight (ones) and bias (zeros), of the normalised shape.
class LayerNormImpl : public Module {
 public:
  LayerNormImpl(std::vector<int64_t> normalized_shape) : LayerNormImpl(LayerNormOptions(std::move(normalized_shape))) {}
  explicit LayerNormImpl(const LayerNormOptions& options);
  Tensor forward(const Tensor& x);

  LayerNormOptions options;
  Tensor weight;
  Tensor bias;
};
HVD_MODULE(LayerNorm);

/// Adds sin(p w_i) to feature 2 i and cos(p w_i) to feature 2 i + 1 of position p, w_i = 10000^(-2 i / dim) (Vaswani et al. 2017).
/// Buffer: table [max_length, dim].
class PositionalEncodingImpl : public Module {
 public:
  PositionalEncodingImpl(int64_t max_length, int64_t dim);
  Tensor forward(const Tensor& x);

  Tensor table;
};
HVD_MODULE(PositionalEncoding);

/// Adds a trained row to each position. Parameter: weight [max_length, dim], normal with deviation 0.02 at first.
class LearnedPositionsImpl : public Module {
 public:
  LearnedPositionsImpl(int64_t max_length, int64_t dim);
  Tensor forward(const Tensor& x);

  Tensor weight;
};
HVD_MODULE(LearnedPositions);

/// Puts a trained vector in front of each sequence: [N, T, E] -> [N, T + 1, E]. Parameter: weight [E], normal with deviation 0.02
/// at first.
class ClassTokenImpl : public Module {
 public:
  explicit ClassTokenImpl(int64_t dim);
  Tensor forward(const Tensor& x);

  Tensor weight;
};
HVD_MODULE(ClassToken);

class MultiheadAttentionOptions {
 public:
  MultiheadAttentionOptions(int64_t embed_dim, int64_t num_heads) : dim_(embed_dim), heads_(num_heads) {}
  MultiheadAttentionOptions& dropout(double value);
  MultiheadAttentionOptions& bias(bool value);
  int64_t embed_dim() const { return dim_; }
  int64_t num_heads() const { return heads_; }
  double dropout() const { return dropout_; }
  bool bias() const { return bias_; }

 private:
  int64_t dim_;
  int64_t heads_;
  double dropout_ = 0;
  bool bias_ = true;
};

/// Multi-head attention (Vaswani et al. 2017): query [N, T, E], key and value [N, S, E] -> [N, T, E]. Parameters as LibTorch's:
/// in_proj_weight [3 E, E] (query, key, value), in_proj_bias [3 E], out_proj.weight [E, E], out_proj.bias [E]. Unlike there, samples
/// come first and the weights are not returned.
///
/// `key_padding_mask`: bool [N, S], true for positions of a sample that nobody attends to. `attn_mask`: [T, S], bool (true: not
/// attended to) or real (added to the scores). A position that may attend to nothing becomes NaN.
class MultiheadAttentionImpl : public Module {
 public:
  MultiheadAttentionImpl(int64_t embed_dim, int64_t num_heads) : MultiheadAttentionImpl(MultiheadAttentionOptions(embed_dim, num_heads)) {}
  explicit MultiheadAttentionImpl(const MultiheadAttentionOptions& options);
  void reset_parameters();
  Tensor forward(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& key_padding_mask = {}, const Tensor& attn_mask = {});

  MultiheadAttentionOptions options;
  Tensor in_proj_weight;
  Tensor in_proj_bias;
  Linear out_proj{nullptr};

 private:
  std::vector<Tensor> project(const Tensor& query, const Tensor& key, const Tensor& value) const;
};
HVD_MODULE(MultiheadAttention);

/// What a Transformer layer applies between its two linear layers.
enum class Activation : uint8_t { kReLU, kGELU };

class TransformerEncoderLayerOptions {
 public:
  TransformerEncoderLayerOptions(int64_t d_model, int64_t nhead) : dim_(d_model), heads_(nhead) {}
  TransformerEncoderLayerOptions& dim_feedforward(int64_t value);
  TransformerEncoderLayerOptions& dropout(double value);
  TransformerEncoderLayerOptions& activation(Activation value);
  /// Layer norm before attention and feed-forward (Xiong et al. 2020), not after their sums.
  TransformerEncoderLayerOptions& norm_first(bool value);
  int64_t d_model() const { return dim_; }
  int64_t nhead() const { return heads_; }
  int64_t dim_feedforward() const { return feedforward_; }
  double dropout() const { return dropout_; }
  Activation activation() const { return activation_; }
  bool norm_first() const { return norm_first_; }

 private:
  int64_t dim_;
  int64_t heads_;
  int64_t feedforward_ = 2048;
  double dropout_ = 0.1;
  Activation activation_ = Activation::kReLU;
  bool norm_first_ = false;
};

/// Self-attention and a feed-forward network, each with dropout, a sum with its input and layer norm (Vaswani et al. 2017).
/// [N, T, E] -> [N, T, E]. Children: self_attn, linear1, linear2, norm1, norm2, dropout, dropout1, dropout2.
class TransformerEncoderLayerImpl : public Module {
 public:
  TransformerEncoderLayerImpl(int64_t d_model, int64_t nhead) : TransformerEncoderLayerImpl(TransformerEncoderLayerOptions(d_model, nhead)) {}
  explicit TransformerEncoderLayerImpl(const TransformerEncoderLayerOptions& options);
  /// The masks of MultiheadAttention: src_mask [T, T], src_key_padding_mask [N, T].
  Tensor forward(const Tensor& src, const Tensor& src_mask = {}, const Tensor& src_key_padding_mask = {});

  TransformerEncoderLayerOptions options;
  MultiheadAttention self_attn{nullptr};
  Linear linear1{nullptr}, linear2{nullptr};
  LayerNorm norm1{nullptr}, norm2{nullptr};
  Dropout dropout{nullptr}, dropout1{nullptr}, dropout2{nullptr};

 private:
  Tensor attend(const Tensor& x, const Tensor& mask, const Tensor& padding);
  Tensor feed_forward(const Tensor& x);
};
HVD_MODULE(TransformerEncoderLayer);

}  // namespace hvd::nn

namespace hvd {
inline constexpr nn::Activation kReLU = nn::Activation::kReLU;
inline constexpr nn::Activation kGELU = nn::Activation::kGELU;
}  // namespace hvd
