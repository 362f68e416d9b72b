// SPDX-License-Identifier: Apache-2.0
#include <hvd/nn/init.hpp>
#include <hvd/nn/sequence.hpp>

#include <cmath>

namespace hvd::nn {

namespace {

void require_positive(int64_t value, const char* layer, const char* what) {
  if (value < 1) throw Error(std::string(layer) + ": " + what + " is at least 1, not " + std::to_string(value));
}

void check_sequence(const Tensor& x, int64_t dim, const char* layer) {
  if (x.dim() != 3 || x.size(2) != dim)
    throw Error(std::string(layer) + ": input [N, T, " + std::to_string(dim) + "] expected, not " + to_string(x.sizes()));
}

/// Rows 0 ... T - 1 of a table for the positions of x.
Tensor positions(const Tensor& table, const Tensor& x, const char* layer) {
  check_sequence(x, table.size(1), layer);
  if (x.size(1) > table.size(0))
    throw Error(std::string(layer) + ": a sequence of " + std::to_string(x.size(1)) + " positions; the table has " + std::to_string(table.size(0)));
  return table.narrow(0, 0, x.size(1));
}

}  // namespace

EmbeddingImpl::EmbeddingImpl(const EmbeddingOptions& options) : options(options) {
  require_positive(options.num_embeddings(), "Embedding", "num_embeddings");
  require_positive(options.embedding_dim(), "Embedding", "embedding_dim");
  weight = register_parameter("weight", empty({options.num_embeddings(), options.embedding_dim()}));
  reset_parameters();
}
void EmbeddingImpl::reset_parameters() {
  init::normal_(weight);
  const NoGradGuard no_grad;
  if (options.padding_idx() >= 0) weight.detach().narrow(0, options.padding_idx(), 1).zero_();
}
Tensor EmbeddingImpl::forward(const Tensor& index) { return functional::embedding(index, weight, options.padding_idx()); }

LayerNormImpl::LayerNormImpl(const LayerNormOptions& options) : options(options) {
  if (options.normalized_shape().empty()) throw Error("LayerNorm: a shape of at least one dimension expected");
  for (const int64_t extent : options.normalized_shape()) require_positive(extent, "LayerNorm", "every extent");
  weight = register_parameter("weight", options.elementwise_affine() ? ones(options.normalized_shape()) : Tensor());
  bias = register_parameter("bias", options.elementwise_affine() ? zeros(options.normalized_shape()) : Tensor());
}
Tensor LayerNormImpl::forward(const Tensor& x) { return functional::layer_norm(x, options.normalized_shape(), weight, bias, options.eps()); }

PositionalEncodingImpl::PositionalEncodingImpl(int64_t max_length, int64_t dim) {
  require_positive(max_length, "PositionalEncoding", "max_length");
  require_positive(dim, "PositionalEncoding", "dim");
  std::vector<double> values(max_length * dim);
  for (int64_t p = 0; p < max_length; ++p)
    for (int64_t i = 0; i < dim; ++i) {
      const double angle = static_cast<double>(p) * std::pow(10000.0, -static_cast<double>(i - i % 2) / static_cast<double>(dim));
      values[p * dim + i] = i % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  table = register_buffer("table", tensor(values).view({max_length, dim}));
}
Tensor PositionalEncodingImpl::forward(const Tensor& x) { return x + positions(table, x, "PositionalEncoding"); }

LearnedPositionsImpl::LearnedPositionsImpl(int64_t max_length, int64_t dim) {
  require_positive(max_length, "LearnedPositions", "max_length");
  require_positive(dim, "LearnedPositions", "dim");
  weight = register_parameter("weight", empty({max_length, dim}));
  init::normal_(weight, 0, 0.02);
}
Tensor LearnedPositionsImpl::forward(const Tensor& x) { return x + positions(weight, x, "LearnedPositions"); }

ClassTokenImpl::ClassTokenImpl(int64_t dim) {
  require_positive(dim, "ClassToken", "dim");
  weight = register_parameter("weight", empty({dim}));
  init::normal_(weight, 0, 0.02);
}
Tensor ClassTokenImpl::forward(const Tensor& x) {
  check_sequence(x, weight.size(0), "ClassToken");
  return cat({weight.expand({x.size(0), 1, x.size(2)}), x}, 1);
}

}  // namespace hvd::nn
