// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// Batches whose first dimension is time, as recurrent layers take them: each rank has its columns, of as many steps as the longest sample of all
// ranks has. Lines of text are read by a CTC loss, from scores of all steps that a layer works off behind one another.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Line {
  torch::Tensor strokes, letters;
};

static std::vector<Line> lines() {
  std::vector<Line> all;
  for (int64_t i = 0; i < 44; ++i) {
    const int64_t steps = 7 + i % 5, letters = 2 + i % 2;
    all.push_back({torch::sin(torch::arange(steps * 4, torch::kDouble) * (0.1 * static_cast<double>(i + 1))).view({steps, 4}), torch::arange(letters) * (i + 2) % 4 + 1});
  }
  return all;
}

// form: sequences of a batch padded by pad_sequence, time first
static void classified(const std::vector<Line>& all, int64_t size, double rate) {
  torch::nn::GRU reader(torch::nn::GRUOptions(4, 6));
  torch::nn::Linear out(6, 2);
  std::vector<torch::Tensor> parameters = reader->parameters();
  for (const torch::Tensor& p : out->parameters()) parameters.push_back(p);
  torch::optim::SGD optimizer(parameters, rate);
  for (size_t begin = 0; begin < all.size(); begin += static_cast<size_t>(size)) {
    std::vector<torch::Tensor> strokes, kinds;
    for (size_t i = begin; i < std::min(begin + static_cast<size_t>(size), all.size()); ++i) {
      strokes.push_back(all[i].strokes);
      kinds.push_back(all[i].letters[0] % 2);
    }
    const auto x = torch::nn::utils::rnn::pad_sequence(strokes);
    const auto y = torch::stack(kinds);
    const auto scores = out(std::get<0>(reader(x)).mean(0));
    const auto loss = torch::nn::functional::cross_entropy(scores, y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("%.9f %lld right, %lld steps\n", loss.item<double>(), static_cast<long long>((scores.argmax(1) == y).sum().item<int64_t>()), static_cast<long long>(x.size(0)));
  }
}

// form: samples of equal length stacked with time first
static void stacked(const std::vector<Line>& all, int64_t size, double rate) {
  torch::nn::LSTM reader(torch::nn::LSTMOptions(4, 3));
  torch::nn::Linear out(3, 2);
  std::vector<torch::Tensor> parameters = reader->parameters();
  for (const torch::Tensor& p : out->parameters()) parameters.push_back(p);
  torch::optim::SGD optimizer(parameters, rate);
  for (size_t begin = 0; begin < all.size(); begin += static_cast<size_t>(size)) {
    std::vector<torch::Tensor> strokes, kinds;
    for (size_t i = begin; i < std::min(begin + static_cast<size_t>(size), all.size()); ++i) {
      strokes.push_back(all[i].strokes.slice(0, 0, 6));
      kinds.push_back(all[i].letters[0] % 2);
    }
    const auto x = torch::stack(strokes, 1).to(torch::kDouble);
    const auto scores = out(std::get<0>(reader(x))[5]);
    const auto loss = torch::nn::functional::cross_entropy(scores, torch::stack(kinds));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("%.9f %lld\n", loss.item<double>(), static_cast<long long>(x.size(1)));
  }
}

struct ReaderImpl : torch::nn::Module {
  ReaderImpl() : rnn(torch::nn::LSTMOptions(4, 5).bidirectional(true)), out(10, 5) {
    register_module("rnn", rnn);
    register_module("out", out);
  }
  torch::Tensor forward(const torch::Tensor& x) {
    const auto states = std::get<0>(rnn(x));
    const int64_t steps = states.size(0), samples = states.size(1), width = states.size(2);
    const auto scores = out(torch::relu(states.reshape({steps * samples, width})));
    return torch::log_softmax(scores.view({steps, samples, -1}), 2);
  }
  torch::nn::LSTM rnn;
  torch::nn::Linear out;
};
TORCH_MODULE(Reader);

// form: a CTC loss over sequences, time first
static void read(const std::vector<Line>& all, int64_t size, double rate) {
  Reader net;
  torch::optim::SGD optimizer(net->parameters(), rate);
  torch::nn::CTCLoss ctc(torch::nn::CTCLossOptions().blank(0).zero_infinity(true));
  double sum = 0;
  for (size_t begin = 0; begin < all.size(); begin += static_cast<size_t>(size)) {
    std::vector<torch::Tensor> strokes, letters;
    std::vector<int64_t> steps, lengths;
    for (size_t i = begin; i < std::min(begin + static_cast<size_t>(size), all.size()); ++i) {
      strokes.push_back(all[i].strokes);
      letters.push_back(all[i].letters);
      steps.push_back(all[i].strokes.size(0));
      lengths.push_back(all[i].letters.size(0));
    }
    const auto scores = net(torch::nn::utils::rnn::pad_sequence(strokes));
    const auto wanted = torch::nn::utils::rnn::pad_sequence(letters, true);
    const auto loss = ctc(scores, wanted, torch::tensor(steps), torch::tensor(lengths));
    const auto whole = torch::nn::functional::ctc_loss(scores, wanted, torch::full({scores.size(1)}, 7, torch::kLong), torch::tensor(lengths),
                                                       torch::nn::functional::CTCLossFuncOptions().reduction(torch::kSum));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    sum += whole.item<double>();
    std::printf("%.9f %.9f\n", loss.item<double>(), sum);
  }
}

int main(int argc, char** argv) {
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(4);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  const std::vector<Line> all = lines();
  classified(all, size, rate);
  stacked(all, size, rate);
  read(all, size, rate);
}
