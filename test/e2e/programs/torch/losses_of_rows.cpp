// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// Losses that a loop over the rows of the batch adds up, or collects, sample by sample.
// form: a loss that a loop over the rows of the batch adds up, sample by sample
// form: a number of boxes, or of rows, that a loop over the rows of the batch counts on the host, and the loss is divided by
// form: rows that a loop over the batch makes one by one, and torch::cat puts together
// form: losses of single samples that a loop over the rows of the batch collects in a list
#include <torch/torch.h>

#include <cstdlib>
#include <iostream>
#include <vector>

namespace F = torch::nn::functional;

// What is left over is weighed by what the sample is, which the host looks at.
static torch::Tensor by_kind(const torch::Tensor& out, const torch::Tensor& labels) {
  auto sum = torch::zeros({}, out.options());
  const auto n = out.size(0);
  for (int64_t b = 0; b < n; ++b) {
    auto p = torch::softmax(out[b], 0);
    const auto label = labels[b].item<int64_t>();
    if (label == 1) sum = sum - 2.0 * torch::log(p[label] + 1e-9);
    else sum -= torch::log(p[label] + 1e-9);
  }
  return sum / n;
}

// A row keeps its dimension here, and each of two sums is added to.
static torch::Tensor in_two_parts(const torch::Tensor& out, const torch::Tensor& labels, torch::nn::CrossEntropyLoss& criterion) {
  torch::Tensor wrong = torch::zeros({1}, out.options()), large = torch::zeros({}, out.options());
  for (int i = 0; i < out.size(0); i++) {
    wrong += criterion(out.slice(0, i, i + 1), labels.narrow(0, i, 1));
    auto row = out.select(0, i);
    for (int64_t c = 0; c < 2; ++c) large.add_(row[c].pow(2) * 0.01);
  }
  return wrong.sum() / out.size(0) + large / out.size(0);
}

static torch::Tensor collected(const torch::Tensor& out, const torch::Tensor& labels) {
  std::vector<torch::Tensor> losses;
  for (int64_t i = 0; i < labels.size(0); ++i) {
    auto one = F::cross_entropy(out[i].unsqueeze(0), labels[i].unsqueeze(0), F::CrossEntropyFuncOptions().reduction(torch::kSum));
    losses.push_back(one);
  }
  return torch::stack(losses).mean();
}

// Of some rows only, which are counted on the host.
static torch::Tensor counted(const torch::Tensor& out, const torch::Tensor& data) {
  auto sum = torch::zeros({}, out.options());
  int n = 0;
  for (int64_t i = 0; i < out.size(0); ++i) {
    if (data[i][0].item<double>() < -0.5) continue;
    sum = sum + F::mse_loss(out[i][0], data[i][1]);
    ++n;
  }
  if (n > 0) sum = sum / n;
  return sum;
}

static torch::Tensor by_elements(const torch::Tensor& out, const torch::Tensor& data) {
  auto sum = torch::zeros({}, out.options());
  int64_t n = 0;
  for (int64_t i = 0; i < out.size(0); ++i) {
    auto large = data[i].slice(0, 0, 2) > 0;
    n += large.sum().item<int64_t>();
    sum += (out[i] * large.to(torch::kFloat64)).pow(2).sum();
  }
  return sum / n;
}

// Each term is divided as it is added; what is free of samples comes first.
static torch::Tensor divided(const torch::Tensor& out, const torch::Tensor& labels, const torch::Tensor& weight) {
  auto sum = torch::zeros({}, out.options());
  sum = sum + 1e-3 * weight.pow(2).sum();
  const double n = labels.size(0);
  for (int64_t i = 0; i < labels.size(0); ++i) sum = sum + F::cross_entropy(out[i].unsqueeze(0), labels[i].unsqueeze(0)) / n;
  return sum;
}

static torch::Tensor joined(const torch::Tensor& out, const torch::Tensor& labels) {
  std::vector<torch::Tensor> rows;
  for (int64_t i = 0; i < out.size(0); ++i) {
    auto row = (out[i] * 2).unsqueeze(0);
    rows.push_back(row);
  }
  return F::cross_entropy(torch::cat(rows), labels);
}

int main(int argc, char** argv) {
  torch::manual_seed(3);
  torch::set_num_threads(1);
  const int64_t batch = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  auto x = torch::randn({43, 4}, torch::kFloat64);
  auto y = (x.sum(1) > 0).to(torch::kLong);
  torch::nn::Linear net(4, 2);
  net->to(torch::kFloat64);
  torch::nn::CrossEntropyLoss criterion;
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int epoch = 0; epoch < 4; ++epoch) {
    double total = 0;
    for (int64_t at = 0; at < 43; at += batch) {
      auto data = x.slice(0, at, std::min<int64_t>(at + batch, 43)), labels = y.slice(0, at, std::min<int64_t>(at + batch, 43));
      auto out = net->forward(data);
      torch::Tensor loss;
      if (epoch == 0) loss = by_kind(out, labels);
      else if (epoch == 1) loss = in_two_parts(out, labels, criterion);
      else loss = collected(out, labels);
      auto apart = torch::zeros({}, out.options());
      for (int64_t i = 0; i < data.size(0); ++i) apart = apart + F::mse_loss(out[i][0], data[i][1]) + 0.1 * (out[i] - 0.5).norm();
      apart = apart / data.size(0);
      loss = loss + 0.2 * apart + 0.3 * counted(out, data) + 0.1 * by_elements(out, data) + 0.2 * joined(out, labels) + 0.3 * divided(out, labels, net->weight);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>() * data.size(0);
    }
    std::cout << "epoch " << epoch << ": " << total / 43 << "\n";
  }
  torch::save(net, "net.pt");
}
