// SPDX-License-Identifier: Apache-2.0
// e2e: edit=size = 8 => size = {8*N}; edit=rate = 0.05 => rate = {0.05*N}; ranks=1,2,3,4; timeout=120
// Two loaders over data sets of different length, whose last batches differ: by an iterator beside a loop, and by two iterators; and one
// whose batches are twice as large.
// form: two loaders of different length, whose last batches differ
#include <torch/torch.h>

#include <cstdio>

struct Waves : torch::data::datasets::Dataset<Waves> {
  Waves(double phase, size_t rows) : phase(phase), rows(rows) {}
  torch::data::Example<> get(size_t index) override {
    const torch::Tensor x = torch::sin(torch::arange(6, torch::kDouble) * 0.37 + static_cast<double>(index) * 1.1 + phase);
    return {x, torch::tensor(static_cast<int64_t>(index * 7 % 3), torch::kLong)};
  }
  torch::optional<size_t> size() const override { return rows; }
  double phase;
  size_t rows;
};

int main() {
  const int64_t size = 8;
  const double rate = 0.05;
  torch::manual_seed(6);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Waves(0, 45).map(torch::data::transforms::Stack<>()), size);
  auto other = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Waves(0.5, 27).map(torch::data::transforms::Stack<>()), size);
  torch::nn::Linear net(6, 3);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int epoch = 0; epoch < 2; ++epoch) {
    auto second = other->begin();
    double sum = 0;
    for (auto& batch : *loader) {
      if (second == other->end()) second = other->begin();
      auto more = *second;
      optimizer.zero_grad();
      auto loss = torch::nll_loss(torch::log_softmax(net->forward(batch.data), 1), batch.target);
      auto beside = torch::nll_loss(torch::log_softmax(net->forward(more.data), 1), more.target) + 0.3 * net->forward(more.data).pow(2).mean();
      (loss + beside).backward();
      optimizer.step();
      sum += beside.item<double>();
      ++second;
    }
    std::printf("beside %.9f\n", sum);
  }
  auto a = loader->begin();
  auto b = other->begin();
  for (; a != loader->end() && b != other->end(); ++a, ++b) {
    optimizer.zero_grad();
    auto loss = torch::cross_entropy_loss(net->forward(a->data), a->target) + torch::cross_entropy_loss(net->forward(b->data), b->target);
    loss.backward();
    optimizer.step();
    std::printf("both %.9f\n", loss.item<double>());
  }
  auto twice = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Waves(1, 90).map(torch::data::transforms::Stack<>()), 2 * size);
  auto c = twice->begin();
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    auto loss = torch::cross_entropy_loss(net->forward(batch.data), batch.target);
    auto guess = torch::softmax(net->forward(c->data).detach(), 1);
    auto sure = (std::get<0>(guess.max(1)) > 0.4).to(torch::kDouble);
    auto beside = (torch::cross_entropy_loss(net->forward(c->data + 0.1), guess.argmax(1), {}, torch::Reduction::None) * sure).mean();
    (loss + 0.5 * beside).backward();
    optimizer.step();
    std::printf("twice %.9f %.9f\n", loss.item<double>(), beside.item<double>());
    ++c;
  }
  torch::save(net, "net.pt");
}
