// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// What forms batches serves training and a look at the validation set: a template that calls what it is given for each batch, a class whose objects
// hand out batches of different sizes. And sequences that are padded as a list.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

// form: a template that goes through batches, given what learns and what only looks
template <typename Each>
int each_batch(const torch::Tensor& x, const torch::Tensor& y, int64_t size, Each&& each) {
  int batches = 0;
  for (int64_t at = 0; at < x.size(0); at += size, ++batches) {
    const int64_t end = std::min(at + size, x.size(0));
    each(x.slice(0, at, end), y.slice(0, at, end));
  }
  return batches;
}

struct Rows {
  torch::Tensor x, y;
};

class Feeder {
 public:
  Feeder(torch::Tensor x, torch::Tensor y, int64_t size) : x_(x), y_(y), order_(torch::arange(x.size(0))), size_(size) {}
  void rewind(bool shuffle) {
    if (shuffle) order_ = torch::randperm(x_.size(0));
    at_ = 0;
  }
  bool more() const { return at_ < x_.size(0); }
  Rows next() {
    const torch::Tensor part = order_.slice(0, at_, std::min(at_ + size_, x_.size(0)));
    at_ += size_;
    return {x_.index_select(0, part), y_.index_select(0, part)};
  }

 private:
  torch::Tensor x_, y_, order_;
  int64_t size_, at_ = 0;
};

static void through_a_template(const torch::Tensor& x, const torch::Tensor& y, int64_t size, double rate) {
  torch::nn::Linear net(12, 1);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int epoch = 0; epoch < 2; ++epoch) {
    double learnt = 0, seen = 0;
    const int steps = each_batch(x, y, size, [&](const torch::Tensor& rows, const torch::Tensor& wanted) {
      optimizer.zero_grad();
      const torch::Tensor loss = torch::mse_loss(net(rows), wanted);
      loss.backward();
      optimizer.step();
      learnt += loss.item<double>();
    });
    const int looks = each_batch(x, y, 10, [&](const torch::Tensor& rows, const torch::Tensor& wanted) {
      torch::NoGradGuard guard;
      seen += torch::l1_loss(net(rows), wanted).item<double>();
    });
    std::printf("%.9f %.9f\n", learnt / steps, seen / looks);
  }
}

// form: objects of one class hand out batches for training and, of another size, for validation
static void through_a_class(const torch::Tensor& x, const torch::Tensor& y, int64_t size, double rate) {
  torch::nn::Linear net(12, 1);
  torch::optim::SGD optimizer(net->parameters(), rate);
  Feeder train(x, y, size), held(x.slice(0, 5, 40), y.slice(0, 5, 40), 10);
  for (int epoch = 0; epoch < 2; ++epoch) {
    int looks = 0;
    double seen = 0;
    for (train.rewind(true); train.more();) {
      const Rows batch = train.next();
      optimizer.zero_grad();
      const torch::Tensor loss = torch::mse_loss(net(batch.x), batch.y);
      loss.backward();
      optimizer.step();
    }
    torch::NoGradGuard guard;
    for (held.rewind(false); held.more(); ++looks) {
      const auto batch = held.next();
      seen += torch::l1_loss(net(batch.x), batch.y).item<double>();
    }
    std::printf("%.9f\n", seen / looks);
  }
}

// form: sequences of a batch padded by pad_sequence, batch first
static void padded(int64_t size, double rate) {
  std::vector<torch::Tensor> texts;
  for (int64_t i = 0; i < 44; ++i) texts.push_back(torch::arange(4 + i % 5) * (i + 1) % 9 + 1);
  torch::nn::Embedding embedding(torch::nn::EmbeddingOptions(10, 6).padding_idx(0));
  torch::nn::Linear out(6, 10);
  std::vector<torch::Tensor> parameters = embedding->parameters();
  for (const torch::Tensor& p : out->parameters()) parameters.push_back(p);
  torch::optim::SGD optimizer(parameters, rate);
  for (int64_t at = 0; at < 44; at += size) {
    std::vector<torch::Tensor> part;
    for (int64_t k = at; k < std::min<int64_t>(at + size, 44); ++k) part.push_back(texts[static_cast<size_t>(k)]);
    const torch::Tensor text = torch::nn::utils::rnn::pad_sequence(part, true, 0);
    const torch::Tensor given = text.slice(1, 0, -1), wanted = text.slice(1, 1);
    const torch::Tensor scores = out(embedding(given)).reshape({-1, 10});
    const torch::Tensor loss = torch::nn::functional::cross_entropy(scores, wanted.reshape(-1), torch::nn::functional::CrossEntropyFuncOptions().ignore_index(0));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("%.9f over %lld\n", loss.item<double>(), static_cast<long long>(wanted.ne(0).sum().item<int64_t>()));
  }
}

int main(int argc, char** argv) {
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(6);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  const torch::Tensor x = torch::sin(torch::arange(52 * 12, torch::kDouble) * 0.37).view({52, 12}), y = x.sum(1, true).tanh();
  through_a_template(x, y, size, rate);
  through_a_class(x, y, size, rate);
  padded(size, rate);
}
