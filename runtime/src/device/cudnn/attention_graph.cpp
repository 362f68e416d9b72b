// SPDX-License-Identifier: Apache-2.0
//
// cuDNN's engines recognise these graphs by their shape: the order of the operations and what is virtual are theirs.
#include "device/cudnn/attention_graph.hpp"

namespace hvd::backends::cuda {

namespace {

constexpr cudnnDataType_t kSingle = CUDNN_DATA_FLOAT;

/// Tensors of an attention. Between operations numbers are float32, unless said otherwise.
class Builder {
 public:
  using Tensor = graph::Graph::Tensor;
  using Extents = std::vector<int64_t>;

  Builder(const rules::AttentionProblem& a, graph::Graph& graph)
      : graph(graph), shape(a.shape), type(graph::data_type(a.arithmetic.dtype, "attention")) {}

  /// [n, heads, rows, width] of a buffer [n, rows, heads width].
  Tensor rows(int64_t uid, int64_t count, int64_t batch, int64_t row) {
    return graph.tensor({uid, type, {shape.n, shape.heads, count, shape.width}, {batch, shape.width, row, 1}});
  }
  Tensor dense_rows(int64_t uid, int64_t count) { return rows(uid, count, count * shape.heads * shape.width, shape.heads * shape.width); }
  /// The same with rows and features exchanged.
  Tensor columns(int64_t uid, int64_t count, int64_t batch, int64_t row) {
    return graph.tensor({uid, type, {shape.n, shape.heads, shape.width, count}, {batch, shape.width, 1, row}});
  }
  Tensor mask() {
    return graph.tensor({kAttentionMask, type, {shape.mask_batches, 1, shape.t, shape.s}, {shape.t * shape.s, shape.t * shape.s, shape.s, 1}});
  }
  /// A number for each query.
  Tensor per_query(int64_t uid) { return graph.tensor({uid, kSingle, {shape.n, shape.heads, shape.t, 1}, {shape.heads * shape.t, shape.t, 1, 1}}); }
  Tensor per_query() { return between({shape.n, shape.heads, shape.t, 1}, {shape.heads * shape.t, shape.t, 1, 1}); }
  Tensor number(int64_t uid) {
    graph::TensorSpec spec = {uid, kSingle, {1, 1, 1, 1}, {1, 1, 1, 1}};
    spec.by_value = true;
    return graph.tensor(spec);
  }

  Tensor between(Extents size, Extents stride, cudnnDataType_t of = kSingle) {
    graph::TensorSpec spec = {next_++, of, std::move(size), std::move(stride)};
    spec.is_virtual = true;
    return graph.tensor(spec);
  }
  /// [n, heads, t, s], between operations.
  Tensor scores(cudnnDataType_t of = kSingle) { return between({shape.n, shape.heads, shape.t, shape.s}, score_strides(), of); }
  /// [n, heads, s, t]: its transpose, of the operands' type.
  Tensor turned(Tensor scores) {
    Tensor out = between({shape.n, shape.heads, shape.s, shape.t}, {shape.heads * shape.t * shape.s, shape.t * shape.s, 1, shape.s}, type);
    graph.reshape(scores, out);
    return out;
  }
  Tensor map(cudnnPointwiseMode_t mode, Tensor x) {
    Tensor out = scores();
    graph.pointwise(mode, kSingle, x, out);
    return out;
  }
  Tensor map(cudnnPointwiseMode_t mode, Tensor x, Tensor b) {
    Tensor out = scores();
    graph.pointwise(mode, kSingle, x, b, out);
    return out;
  }

  /// scale q k^T + mask
  Tensor masked_scores(Tensor q, Tensor kt, Tensor scale) {
    Tensor products = scores();
    graph.multiply(kSingle, q, kt, products);
    Tensor scaled = map(CUDNN_POINTWISE_MUL, products, scale);
    return shape.mask_batches > 0 ? map(CUDNN_POINTWISE_ADD, scaled, mask()) : scaled;
  }

  graph::Graph& graph;
  const Attention& shape;
  const cudnnDataType_t type;

 private:
  Extents score_strides() const { return {shape.heads * shape.t * shape.s, shape.t * shape.s, shape.s, 1}; }
  int64_t next_ = 100;
};

}  // namespace

graph::Graph attention_graph(const rules::AttentionProblem& a, const graph::Target& target) {
  graph::Graph g(describe(a));
  Builder b(a, g);
  const Attention& s = a.shape;
  const auto& q = b.rows(kAttentionQ, s.t, s.q_batch, s.q_row);
  const auto& kt = b.columns(kAttentionK, s.s, s.k_batch, s.k_row);
  const auto& scores = b.masked_scores(q, kt, b.number(kAttentionScale));
  // softmax, whose statistics are max + log(sum)
  const auto& largest = b.per_query();
  g.reduce(CUDNN_REDUCE_TENSOR_MAX, kSingle, scores, largest);
  const auto& powers = b.map(CUDNN_POINTWISE_EXP, b.map(CUDNN_POINTWISE_SUB, scores, largest));
  const auto& total = b.per_query();
  g.reduce(CUDNN_REDUCE_TENSOR_ADD, kSingle, powers, total);
  const auto& logarithm = b.per_query();
  g.pointwise(CUDNN_POINTWISE_LOG, kSingle, total, logarithm);
  g.pointwise(CUDNN_POINTWISE_ADD, kSingle, largest, logarithm, b.per_query(kAttentionStatistics));
  const auto& weights = b.scores(b.type);
  g.pointwise(CUDNN_POINTWISE_DIV, kSingle, powers, total, weights);
  g.multiply(kSingle, weights, b.rows(kAttentionV, s.s, s.v_batch, s.v_row), b.dense_rows(kAttentionOut, s.t));
  g.finish(target);
  return g;
}

graph::Graph attention_grad_graph(const rules::AttentionProblem& a, const graph::Target& target) {
  graph::Graph g(describe(a));
  Builder b(a, g);
  const Attention& s = a.shape;
  const auto& q = b.rows(kAttentionQ, s.t, s.q_batch, s.q_row);
  const auto& kt = b.columns(kAttentionK, s.s, s.k_batch, s.k_row);
  const auto& vt = b.columns(kAttentionV, s.s, s.v_batch, s.v_row);
  const auto& grad = b.dense_rows(kAttentionGrad, s.t);
  const auto& scale = b.number(kAttentionScale);
  // sums of grad out, for each query
  const auto& product = b.between({s.n, s.heads, s.t, s.width}, {s.heads * s.t * s.width, s.t * s.width, s.heads * s.width, 1});
  g.pointwise(CUDNN_POINTWISE_MUL, kSingle, grad, b.dense_rows(kAttentionOut, s.t), product);
  const auto& sum = b.per_query();
  g.reduce(CUDNN_REDUCE_TENSOR_ADD, kSingle, product, sum);
  const auto& sums = b.per_query(kAttentionSums);
  g.pointwise(CUDNN_POINTWISE_MUL, kSingle, sum, b.number(kAttentionOne), sums);
  // the weights once more, and the gradient of the values
  const auto& shifted = b.map(CUDNN_POINTWISE_SUB, b.masked_scores(q, kt, scale), b.per_query(kAttentionStatistics));
  const auto& weights = b.map(CUDNN_POINTWISE_EXP, shifted);
  g.multiply(kSingle, b.turned(weights), grad, b.dense_rows(kAttentionGradV, s.s));
  // the gradient of the scores
  const auto& grad_weights = b.scores();
  g.multiply(kSingle, grad, vt, grad_weights);
  const auto& grad_scores = b.map(CUDNN_POINTWISE_MUL, b.map(CUDNN_POINTWISE_MUL, b.map(CUDNN_POINTWISE_SUB, grad_weights, sums), weights), scale);
  g.multiply(kSingle, b.turned(grad_scores), q, b.dense_rows(kAttentionGradK, s.s));
  // and that of the queries
  const auto& k = b.between({s.n, s.heads, s.s, s.width}, {s.k_batch, s.width, s.k_row, 1}, b.type);
  g.reshape(kt, k);
  const auto& grad_q = b.dense_rows(kAttentionGradQ, s.t);
  if (a.arithmetic.deterministic) {
    g.multiply(kSingle, grad_scores, k, grad_q);
  } else {
    const auto& accumulated = g.tensor({kAttentionAccumulated, kSingle, {s.n, s.heads, s.t, s.width}, {s.heads * s.t * s.width, s.t * s.width, s.width, 1}});
    g.multiply(kSingle, grad_scores, k, accumulated);
    g.pointwise(CUDNN_POINTWISE_IDENTITY, kSingle, accumulated, grad_q);
  }
  g.finish(target);
  return g;
}

int64_t attention_sums(const Attention& s) { return s.n * s.heads * s.t; }
int64_t attention_accumulated(const rules::AttentionProblem& a) {
  return a.arithmetic.deterministic ? 0 : a.shape.n * a.shape.heads * a.shape.t * a.shape.width;
}

}  // namespace hvd::backends::cuda
