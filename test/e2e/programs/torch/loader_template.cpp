// SPDX-License-Identifier: Apache-2.0
// e2e: shortcuts=all; edit=kBatch = 24 => kBatch = {24*N}; edit=kRate = 0.05 => kRate = {0.05*N}; ranks=1,2,3; timeout=120
// Train and test as templates on the loader, a map-style data set, a shuffled loader with workers, decay through param_groups, the loss of an
// epoch as a mean over samples, a tail that three ranks cannot share evenly, a look at some validation batches in random order between steps.
// form: train and test functions templated on the loader (official MNIST form)
// form: loss divided by the size of the data set
// form: printf and cout
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <iostream>

const int64_t kBatch = 24;
constexpr double kRate = 0.05;
const int kEpochs = 3;

// Two rings of points in eight dimensions.
class Rings : public torch::data::datasets::Dataset<Rings> {
 public:
  explicit Rings(int64_t size, int64_t offset) : size_(size), offset_(offset) {}
  torch::data::Example<> get(size_t index) override {
    const int64_t i = static_cast<int64_t>(index) + offset_;
    const bool outer = i % 3 == 0;
    const double angle = 0.37 * static_cast<double>(i), radius = outer ? 2.0 : 1.0;
    auto x = torch::empty({8}, torch::kDouble);
    for (int64_t k = 0; k < 8; ++k) x[k] = radius * std::sin(angle + 0.6 * static_cast<double>(k)) + 0.05 * std::cos(3.1 * static_cast<double>(i + k));
    return {x, torch::tensor(outer ? 1 : 0, torch::kLong)};
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(size_); }

 private:
  int64_t size_, offset_;
};

struct Net : torch::nn::Module {
  Net() : fc1(8, 16), fc2(16, 16), out(torch::nn::LinearOptions(16, 2).bias(false)) {
    register_module("fc1", fc1);
    register_module("fc2", fc2);
    register_module("out", out);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::tanh(fc1->forward(x));
    x = torch::relu(fc2->forward(x));
    return torch::log_softmax(out->forward(x), 1);
  }
  torch::nn::Linear fc1, fc2, out;
};

// Inside a training step all ranks do this alike, and in the same random order.
template <typename Loader>
double probe(Net& model, Loader& loader) {
  torch::NoGradGuard no_grad;
  double first = 0;
  int batches = 0;
  for (auto& batch : loader) {
    first = 10 * first + torch::nll_loss(model.forward(batch.data), batch.target).template item<double>();
    if (++batches == 2) break;
  }
  return first;
}

template <typename Loader, typename Probe>
double train(int epoch, Net& model, Loader& loader, Probe& probe_loader, torch::optim::Optimizer& optimizer, size_t size) {
  model.train();
  double total = 0;
  int64_t seen = 0;
  size_t step = 0;
  for (auto& batch : loader) {
    optimizer.zero_grad();
    auto loss = torch::nll_loss(model.forward(batch.data), batch.target);
    if (std::isnan(loss.template item<double>())) break;  // give up on a diverged run
    loss.backward();
    optimizer.step();
    total += loss.template item<double>() * batch.data.size(0);
    seen += batch.data.size(0);
    if (step % 3 == 1) std::printf("probe %.10f\n", probe(model, probe_loader));
    if (step++ % 2 == 0)
      std::printf("epoch %d [%ld/%zu] loss %.8f\n", epoch, static_cast<long>(seen), size, loss.template item<double>());
  }
  return total / size;
}

template <typename Loader>
void test(Net& model, Loader& loader, size_t size) {
  torch::NoGradGuard no_grad;
  model.eval();
  double loss = 0;
  int64_t correct = 0;
  for (const auto& batch : loader) {
    auto output = model.forward(batch.data);
    loss += torch::nll_loss(output, batch.target, /*weight=*/{}, torch::Reduction::Sum).template item<double>();
    correct += output.argmax(1).eq(batch.target).sum().template item<int64_t>();
  }
  std::cout << "test: loss " << loss / size << ", " << correct << " of " << size << " right" << std::endl;
}

int main() {
  torch::manual_seed(3);
  torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  Net model;
  model.to(device, torch::kDouble);
  auto train_set = Rings(130, 0).map(torch::data::transforms::Stack<>());
  const size_t train_size = train_set.size().value();
  auto train_loader = torch::data::make_data_loader(std::move(train_set), torch::data::DataLoaderOptions().batch_size(kBatch).workers(2));
  auto test_set = Rings(60, 1000).map(torch::data::transforms::Stack<>());
  const size_t test_size = test_set.size().value();
  auto test_loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(std::move(test_set), 25);
  auto probe_loader = torch::data::make_data_loader(Rings(40, 500).map(torch::data::transforms::Stack<>()), 7);
  torch::optim::SGD optimizer(model.parameters(), torch::optim::SGDOptions(kRate).momentum(0.9));
  for (int epoch = 1; epoch <= kEpochs; ++epoch) {
    const double mean = train(epoch, model, *train_loader, *probe_loader, optimizer, train_size);
    std::cout << "epoch " << epoch << ": mean loss " << mean << "\n";
    test(model, *test_loader, test_size);
    for (auto& group : optimizer.param_groups()) {
      auto& options = static_cast<torch::optim::SGDOptions&>(group.options());
      options.lr(options.lr() * 0.8);
    }
  }
  for (const auto& p : model.named_parameters())
    std::printf("%s %.12e %.12e\n", p.key().c_str(), p.value().sum().item<double>(), p.value().abs().max().item<double>());
}
