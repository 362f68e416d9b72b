// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Forms of LibTorch programs that hvdize does not take, each with the place and the reason.

//--- program.h
#pragma once
#include <torch/torch.h>

#include <cstdio>
#include <iostream>
#include <vector>

namespace F = torch::nn::functional;

struct Rows : torch::data::datasets::Dataset<Rows> {
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 40; }
  torch::Tensor x = torch::randn({40, 5}), y = torch::arange(40).remainder(3);
};

inline auto make_loader(int64_t size) { return torch::data::make_data_loader(Rows().map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions(size)); }
inline auto make_unstacked_loader(int64_t size) { return torch::data::make_data_loader(Rows(), torch::data::DataLoaderOptions(size)); }

//--- functor.cpp
// form: LBFGS with a closure that is an object of the program's own
#include "program.h"

struct Closure {
  torch::nn::Linear net;
  torch::optim::LBFGS& optimizer;
  torch::data::Example<> batch;
  torch::Tensor operator()() {
    optimizer.zero_grad();
    auto loss = F::cross_entropy(net(batch.data), batch.target);
    loss.backward();  // refused: HVD3021
    return loss;
  }
};

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::LBFGS optimizer(net->parameters(), torch::optim::LBFGSOptions(0.1));
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    Closure closure{net, optimizer, batch};
    optimizer.step(closure);  // refused: HVD3026
  }
}

//--- contrastive.cpp
// form: contrastive loss
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto one = F::normalize(net(batch.data)), two = F::normalize(net(batch.data + 0.01));
    auto loss = F::cross_entropy(torch::matmul(one, two.t()) / 0.1, torch::arange(one.size(0)));
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- in_batch_negatives.cpp
// form: triplet loss with negatives from the batch
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto loss = F::triplet_margin_loss(net(batch.data), net(batch.data * 0.9), net(batch.data.roll(1, 0)));
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- single_sample.cpp
// form: single-sample optimisation
#include "program.h"

int main() {
  auto picture = torch::rand({1, 3, 8, 8}, torch::requires_grad());
  auto style = torch::rand({1, 3, 8, 8});
  torch::optim::Adam optimizer({picture}, torch::optim::AdamOptions(0.01));
  for (int step = 0; step < 10; ++step) {
    optimizer.zero_grad();
    auto loss = (picture - style).pow(2).mean() + 0.1 * picture.abs().mean();
    loss.backward();  // refused: HVD3021
    optimizer.step();
  }
}

//--- gradients_by_function.cpp
// form: torch::autograd::grad instead of backward
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto parameters = net->parameters();
    auto gradients = torch::autograd::grad({F::cross_entropy(net(batch.data), batch.target)}, parameters);  // refused: HVD3031
    for (size_t i = 0; i < parameters.size(); ++i) parameters[i].mutable_grad() = gradients[i];
    optimizer.step();
  }
}

//--- gradients_by_hand.cpp
// form: torch::autograd::grad, and parameters updated by hand with what it gives
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto loss = F::cross_entropy(net(batch.data), batch.target);
    auto gradients = torch::autograd::grad({loss}, net->parameters());  // refused: HVD3031
    auto parameters = net->parameters();
    torch::NoGradGuard guard;
    for (size_t i = 0; i < parameters.size(); ++i) parameters[i].sub_(0.1 * gradients[i]);
  }
}

//--- gradients_of_a_list.cpp
// form: torch::autograd::backward of a list
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    auto loss = F::cross_entropy(net(batch.data), batch.target);
    torch::autograd::backward({loss}, {});
    optimizer.step();  // refused: HVD3031
  }
}

//--- computed_positions.cpp
// form: samples at positions that are computed from the batch
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto output = net(batch.data);
    auto which = (batch.data.select(1, 0) * 3).to(torch::kLong).abs();
    auto loss = output.index({which}).sum();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- moved_positions.cpp
// form: samples at positions that nonzero() gives, and that are moved on
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto output = net(batch.data);
    auto next = (torch::nonzero(batch.target != 2).squeeze(1) + 1).clamp_max(output.size(0) - 1);
    auto loss = output.index_select(0, next).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- hardest_samples.cpp
// form: the loss of the hardest samples
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto each = F::cross_entropy(net(batch.data), batch.target, F::CrossEntropyFuncOptions().reduction(torch::kNone));
    auto loss = std::get<0>(each.topk(3)).mean();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- over_all_samples.cpp
// form: a softmax along the samples
#include "program.h"

int main() {
  torch::nn::Linear net(5, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto attention = torch::softmax(net(batch.data).squeeze(-1), -1);
    auto loss = (attention * batch.target).sum();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- classes_of_the_batch.cpp
// form: one-hot without the number of classes
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto loss = torch::mse_loss(net(batch.data), F::one_hot(batch.target).to(torch::kFloat));
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- jump_back.cpp
// form: goto that repeats
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto x = torch::randn({40, 5});
  int64_t at = 0;
again:
  auto loss = net(x.slice(0, at, at + 8)).pow(2).mean();
  optimizer.zero_grad();
  loss.backward();  // refused: HVD3021
  optimizer.step();
  if ((at += 8) < 40) goto again;
}

//--- process_group.cpp
// form: program that distributes itself
#include "program.h"

namespace c10d {
struct ProcessGroup {
  void allreduce(std::vector<torch::Tensor>& tensors);
};
}  // namespace c10d

void train(c10d::ProcessGroup& group) {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    F::cross_entropy(net(batch.data), batch.target).backward();
    for (auto& p : net->parameters()) {
      std::vector<torch::Tensor> one = {p.grad()};
      group.allreduce(one);  // refused: HVD3032
    }
    optimizer.step();
  }
}

int main(int, char** argv) { train(*reinterpret_cast<c10d::ProcessGroup*>(argv)); }

//--- capture.cpp
// form: CUDA-graph capture around the step
#include "program.h"

namespace at::cuda {
struct CUDAGraph {
  void capture_begin();
  void capture_end();
  void replay();
};
}  // namespace at::cuda

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  at::cuda::CUDAGraph graph;
  auto loader = make_loader(8);
  int step = 0;
  for (auto& batch : *loader) {
    if (step == 3) graph.capture_begin();  // refused: HVD3031
    optimizer.zero_grad();
    auto loss = F::cross_entropy(net(batch.data), batch.target);
    loss.backward();
    optimizer.step();
    if (step++ == 3) graph.capture_end();
  }
}

//--- stateful.cpp
// form: stateful data set
#include "program.h"

struct Stream : torch::data::datasets::StatefulDataset<Stream, std::vector<torch::data::Example<>>, size_t> {
  torch::optional<std::vector<torch::data::Example<>>> get_batch(size_t size) override {
    if (at >= 40) return torch::nullopt;
    std::vector<torch::data::Example<>> batch;
    for (size_t k = 0; k < size; ++k, ++at) batch.push_back({torch::full({5}, 0.1 * static_cast<double>(at)), torch::tensor(static_cast<int64_t>(at % 3))});
    return batch;
  }
  void reset() override { at = 0; }
  void save(torch::serialize::OutputArchive&) const override {}
  void load(torch::serialize::InputArchive&) override {}
  torch::optional<size_t> size() const override { return 40; }
  size_t at = 0;
};

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = torch::data::make_data_loader(Stream().map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions(8));
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    auto loss = F::cross_entropy(net(batch.data), batch.target);
    loss.backward();  // refused: HVD3021
    optimizer.step();
  }
}

//--- chunks.cpp
// form: chunk data set
#include "program.h"

struct Reader : torch::data::datasets::ChunkDataReader<torch::data::Example<>> {
  using BatchType = torch::data::datasets::ChunkDataReader<torch::data::Example<>>::ChunkType;
  BatchType read_chunk(size_t number) override {
    BatchType chunk;
    for (int64_t k = 0; k < 10; ++k) chunk.push_back({torch::full({5}, 0.1 * static_cast<double>(number)), torch::tensor(k % 3)});
    return chunk;
  }
  size_t chunk_count() override { return 4; }
  void reset() override {}
};

int main() {
  using Order = torch::data::samplers::SequentialSampler;
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto set = torch::data::datasets::make_shared_dataset<torch::data::datasets::ChunkDataset<Reader, Order, Order>>(
      Reader(), Order(4), Order(10), torch::data::datasets::ChunkDatasetOptions(1, 8));
  auto loader = torch::data::make_data_loader(set.map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions(8));
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    auto loss = F::cross_entropy(net(batch.data), batch.target);
    loss.backward();  // refused: HVD3021
    optimizer.step();
  }
}

//--- row_by_row.cpp
// form: gradients of single rows added up until the step
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto x = torch::randn({40, 5}), y = torch::randn({40, 3});
  for (int64_t start = 0; start < 40; start += 8) {
    optimizer.zero_grad();
    for (int64_t i = start; i < start + 8; ++i) {
      auto loss = torch::mse_loss(net(x[i]), y[i]) / 8;
      loss.backward();  // refused: HVD3010
    }
    optimizer.step();
  }
}

//--- one_by_one.cpp
// form: batch size 1 by hand
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto x = torch::randn({40, 5}), y = torch::arange(40).remainder(3);
  for (int64_t i = 0; i < 40; ++i) {
    optimizer.zero_grad();
    auto loss = F::cross_entropy(net(x.slice(0, i, i + 1)), y.slice(0, i, i + 1));  // refused: HVD3021
    loss.backward();
    optimizer.step();
  }
}

//--- direct_weights.cpp
// form: class weights computed from the batch, as an argument
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto out = net(batch.data);
    auto truth = torch::one_hot(batch.target, 3).to(torch::kFloat);
    auto loss = torch::binary_cross_entropy_with_logits(out, truth, {}, truth.sum(0) + 1);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- normalized_columns.cpp
// form: normalisation along the samples
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto out = net(batch.data);
    auto truth = torch::one_hot(batch.target, 3).to(torch::kFloat);
    auto columns = F::normalize(out, F::NormalizeFuncOptions().dim(0));
    auto loss = F::cross_entropy(columns, batch.target);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- cosine_of_columns.cpp
// form: cosine similarity along the samples
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto out = net(batch.data);
    auto truth = torch::one_hot(batch.target, 3).to(torch::kFloat);
    auto loss = 1 - torch::cosine_similarity(out, truth, 0).mean();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- cosine_layer.cpp
// form: cosine similarity along the samples, as a layer
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto out = net(batch.data);
    auto truth = torch::one_hot(batch.target, 3).to(torch::kFloat);
    torch::nn::CosineSimilarity similarity(torch::nn::CosineSimilarityOptions().dim(0));
    auto loss = 1 - similarity(out, truth).mean();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- worst_column.cpp
// form: the largest of several means over the batch
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto out = net(batch.data);
    auto truth = torch::one_hot(batch.target, 3).to(torch::kFloat);
    auto loss = std::get<0>((out - truth).pow(2).mean(0).max(0));
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- second_last.cpp
// form: a softmax along the second-last dimension of a matrix
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto out = net(batch.data);
    auto loss = (torch::softmax(out, -2) * torch::one_hot(batch.target, 3)).sum();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- recurrent_holder.cpp
// form: a recurrent layer whose batch is the second dimension, called as a function
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::nn::GRU gru(torch::nn::GRUOptions(1, 5));
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto loss = F::cross_entropy(net(std::get<0>(gru(batch.data.unsqueeze(2))).select(1, 4)), batch.target);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- attention_holder.cpp
// form: an attention layer, called as a function
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::nn::MultiheadAttention attention(torch::nn::MultiheadAttentionOptions(1, 1));
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto q = batch.data.unsqueeze(2);
    auto loss = F::cross_entropy(net(std::get<0>(attention(q, q, q)).squeeze(2)), batch.target);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- embedding_max_norm.cpp
// form: an embedding that limits its norms by the samples it sees
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::nn::Embedding table(torch::nn::EmbeddingOptions(3, 5).max_norm(1.0));
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto loss = F::cross_entropy(net(table(batch.target)), batch.target);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- tracking_instance_norm.cpp
// form: instance norm with running statistics
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::nn::InstanceNorm1d norm(torch::nn::InstanceNorm1dOptions(1).track_running_stats(true));
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto loss = F::cross_entropy(net(norm(batch.data.unsqueeze(1)).squeeze(1)), batch.target);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- some_of_a_list.cpp
// form: some samples of a loader without Stack, chosen in the step
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_unstacked_loader(8);
  for (auto& batch : *loader) {
    std::vector<torch::Tensor> xs, ys;
    for (auto& example : batch) {  // refused: HVD3012
      if (example.target.numel() > 1) continue;  // refused: HVD3012
      xs.push_back(example.data);
      ys.push_back(example.target);
    }
    auto loss = F::cross_entropy(net(torch::stack(xs)), torch::stack(ys));
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- joined_list.cpp
// form: samples of a loader without Stack, joined along another dimension than that of the samples
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_unstacked_loader(8);
  for (auto& batch : *loader) {
    std::vector<torch::Tensor> xs, ys;
    for (auto& example : batch) xs.push_back(example.data), ys.push_back(example.target);
    auto loss = F::cross_entropy(net(torch::stack(xs, 1).t()), torch::stack(ys));
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- drawn_before_main.cpp
// form: random numbers of a global object, drawn before main
#include "program.h"

const torch::Tensor directions = torch::randn({5, 5});

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto loss = F::cross_entropy(net(batch.data.matmul(directions)), batch.target);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- hook_of_parameters.cpp
// form: a hook that changes the gradients of parameters
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  for (auto& p : net->parameters()) p.register_hook([](torch::Tensor g) { return g.clamp(-0.01, 0.01); });  // refused: HVD3031
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    F::cross_entropy(net(batch.data), batch.target).backward();
    optimizer.step();
  }
}

//--- step_for_each.cpp
// form: a step in a function that std::for_each calls
#include <algorithm>

#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto x = torch::rand({40, 5}), y = torch::rand({40, 3});
  std::vector<int64_t> begins{0, 8, 16, 24, 32};
  for (int epoch = 0; epoch < 2; ++epoch)
    std::for_each(begins.begin(), begins.end(), [&](int64_t at) {
      optimizer.zero_grad();
      torch::mse_loss(net(x.slice(0, at, at + 8)), y.slice(0, at, at + 8)).backward();  // refused: HVD3021
      optimizer.step();
    });
}

//--- either_output.cpp
// form: one variable for the outputs of a batch and, in some steps, of a held-out set
#include <cstdio>

#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  auto held_out = torch::rand({24, 5});
  int step = 0;
  for (auto& batch : *loader) {
    auto out = net(batch.data);
    optimizer.zero_grad();
    F::cross_entropy(out, batch.target).backward();
    optimizer.step();
    if (++step % 3 == 0) out = net(held_out);
    std::printf("%ld\n", out.argmax(1).sum().item<long>());  // refused: HVD3012
  }
}

//--- kept_output.cpp
// form: a recorder that keeps the outputs of a batch and, in some steps, of a held-out set
#include <cstdio>

#include "program.h"

struct Recorder {
  torch::Tensor last;
  void keep(const torch::Tensor& t) { last = t; }
};

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  auto held_out = torch::rand({24, 5});
  Recorder recorder;
  int step = 0;
  for (auto& batch : *loader) {
    recorder.keep(net(batch.data));
    optimizer.zero_grad();
    F::cross_entropy(recorder.last, batch.target).backward();
    optimizer.step();
    if (++step % 3 == 0) {
      recorder.keep(net(held_out));  // refused: HVD3012
      std::printf("%ld\n", recorder.last.argmax(1).sum().item<long>());
    }
  }
}

//--- mean_gradients.cpp
// form: gradients of a mean with respect to the samples
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto x = batch.data.clone().requires_grad_(true);
    auto slopes = torch::autograd::grad({net(x).pow(2).mean()}, {x}, {}, true, true)[0];
    auto loss = F::cross_entropy(net(x), batch.target) + slopes.pow(2).sum(1).mean();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- sizes_of_mean_gradients.cpp
// form: gradients of a mean with respect to the samples, of which more than the sign is used: changed in place before their signs are taken
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto x = batch.data.clone().requires_grad_(true);
    auto slopes = torch::autograd::grad({F::cross_entropy(net(x), batch.target)}, {x})[0];
    slopes.sub_(0.01);  // refused: HVD3012
    auto loss = F::cross_entropy(net(batch.data + 0.1 * slopes.sign()), batch.target);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- shifted_mean_gradients.cpp
// form: the signs of such gradients less a number
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto x = batch.data.clone().requires_grad_(true);
    auto slopes = torch::autograd::grad({F::cross_entropy(net(x), batch.target)}, {x});
    auto loss = F::cross_entropy(net(batch.data + 0.1 * (slopes[0] - 0.01).sign()), batch.target);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- last_dimension.cpp
// form: the last dimension of targets that may be one number for each sample
#include "program.h"

int main() {
  torch::nn::Linear net(5, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto errors = (net(batch.data).squeeze(1) - batch.target).pow(2);
    auto weights = errors.detach().softmax(-1);
    auto loss = (weights * errors).sum();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- missing_numbers.cpp
// form: a mean that leaves out what is not a number
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto loss = (net(batch.data) - batch.target.unsqueeze(1)).pow(2).nanmean();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- sums_of_classes.cpp
// form: a loss that is put together by classes with index_add_
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto each = F::cross_entropy(net(batch.data), batch.target, F::CrossEntropyFuncOptions().reduction(torch::kNone));
    auto by_class = torch::zeros({3}).index_add_(0, batch.target, each);
    auto counts = torch::zeros({3}).index_add_(0, batch.target, torch::ones_like(each));
    auto loss = (by_class / counts.clamp_min(1)).mean();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- rows_one_by_one.cpp
// form: a loss that is put together from the rows of a batch, gone through one by one
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto x = torch::randn({40, 5});
  for (int64_t i = 0; i < 40; i += 8) {
    auto out = net(x.slice(0, i, i + 8));
    std::vector<torch::Tensor> losses;
    for (auto& row : out.unbind()) losses.push_back(row.pow(2).sum());
    auto loss = torch::stack(losses).mean();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- extents_one_by_one.cpp
// form: extents of a batch read through iterators
#include "program.h"

#include <functional>
#include <numeric>

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  int64_t seen = 0;
  for (auto& batch : *loader) {
    auto loss = F::cross_entropy(net(batch.data), batch.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    seen += std::accumulate(batch.data.sizes().begin(), batch.data.sizes().end(), int64_t{1}, std::multiplies<int64_t>());  // refused: HVD3012
  }
  std::cout << seen << "\n";
}

//--- last_of_unknown.cpp
// form: sums along the last of dimensions whose number is not known
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto loss = (net(batch.data) - 1).pow(2).sum(-1).sum(-1).mean();
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- pointers_in_a_function.cpp
// form: targets that a function writes through pointers, one row for each label that it reads through one
#include "program.h"

static torch::Tensor marks(const torch::Tensor& labels) {
  auto out = torch::zeros({labels.size(0), 3});
  float* to = out.data_ptr<float>();
  const int64_t* from = labels.data_ptr<int64_t>();
  for (int64_t i = 0; i < labels.size(0); ++i) to[i * 3 + from[i]] = 1;
  return out;
}

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto loss = F::mse_loss(net(batch.data), marks(batch.target));
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}

//--- rows_of_another.cpp
// form: a new tensor that is filled row by row from the rows before
#include "program.h"

int main() {
  torch::nn::Linear net(5, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto loader = make_loader(8);
  for (auto& batch : *loader) {
    auto differences = torch::zeros_like(batch.data);
    for (int64_t i = 0; i < batch.data.size(0); ++i)
      differences[i] = batch.data[i] - batch.data[(i + 1) % 8];  // refused: HVD3012
    auto loss = F::cross_entropy(net(differences), batch.target);
    optimizer.zero_grad();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}
