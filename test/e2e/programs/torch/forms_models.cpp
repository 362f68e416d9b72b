// SPDX-License-Identifier: Apache-2.0
// e2e: shortcuts=bodies; name=forms_models; scaled={6*N} {0.05*N} {0.004*sqrt(N)}; ranks=1,2,3; timeout=120
// How programs hold models, parameters and optimizers: one training for each form, one after another.
#include <torch/torch.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace F = torch::nn::functional;

namespace {

int64_t batch_size = 6;
double sgd_rate = 0.05, adam_rate = 0.004;
constexpr int64_t kRows = 40;

struct Data {
  Data() {
    auto i = torch::arange(kRows * 5, torch::kDouble);
    x = torch::sin(i * 0.73).reshape({kRows, 5});
    y = torch::cos(x.sum(1, true) * 2);
    label = torch::arange(kRows).mul(7).remainder(3);
  }
  torch::Tensor x, y, label;
};

struct Waves : torch::data::datasets::Dataset<Waves> {
  torch::data::Example<> get(size_t i) override { return {all.x[static_cast<int64_t>(i)], all.label[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return kRows; }
  Data all;
};

auto make_loader() { return torch::data::make_data_loader(Waves().map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions(batch_size)); }

torch::nn::Sequential make_net(int64_t outputs) {
  torch::nn::Sequential net(torch::nn::Linear(5, 6), torch::nn::Tanh(), torch::nn::Linear(6, outputs));
  net->to(torch::kDouble);
  return net;
}

void show(const char* form, const std::vector<torch::Tensor>& parameters) {
  std::cout << form;
  for (const auto& p : parameters) std::cout << ' ' << p.sum().item<double>();
  std::cout << '\n';
}

// form: AnyModule
void any_module() {
  torch::manual_seed(1);
  torch::nn::Linear layer(5, 3);
  layer->to(torch::kDouble);
  torch::nn::AnyModule net(layer);
  torch::optim::SGD optimizer(net.ptr()->parameters(), sgd_rate);
  auto loader = make_loader();
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    auto loss = F::cross_entropy(net.forward(batch.data), batch.target);
    loss.backward();
    optimizer.step();
  }
  show("any", net.ptr()->parameters());
}

// form: optimizer in a vector
// form: several models
void optimizers_in_vector() {
  torch::manual_seed(2);
  std::vector<torch::nn::Sequential> nets;
  std::vector<std::unique_ptr<torch::optim::Optimizer>> optimizers;
  for (int k = 0; k < 2; ++k) {
    nets.push_back(make_net(3));
    optimizers.push_back(std::make_unique<torch::optim::SGD>(nets.back()->parameters(), torch::optim::SGDOptions(sgd_rate).momentum(0.5)));
  }
  auto loader = make_loader();
  for (auto& batch : *loader) {
    for (auto& o : optimizers) o->zero_grad();
    auto output = nets[0]->forward(batch.data) + 0.5 * nets[1]->forward(batch.data);
    auto loss = F::cross_entropy(output, batch.target);
    loss.backward();
    for (auto& o : optimizers) o->step();
  }
  for (auto& net : nets) show("vector", net->parameters());
}

// form: gradients of two models clipped before either optimizer steps
void clipped_together() {
  torch::manual_seed(8);
  auto one = make_net(3), two = make_net(3);
  torch::optim::SGD first(one->parameters(), torch::optim::SGDOptions(sgd_rate));
  torch::optim::SGD second(two->parameters(), torch::optim::SGDOptions(sgd_rate));
  auto loader = make_loader();
  for (auto& batch : *loader) {
    first.zero_grad();
    second.zero_grad();
    auto loss = F::cross_entropy(one->forward(batch.data) - two->forward(batch.data), batch.target);
    loss.backward();
    torch::nn::utils::clip_grad_norm_(two->parameters(), 0.05);
    torch::nn::utils::clip_grad_norm_(one->parameters(), 0.05);
    first.step();
    second.step();
  }
  show("clipped", one->parameters());
  show("clipped", two->parameters());
}

// form: optimizer by reference
// form: helper that calls step()
torch::Tensor update(torch::optim::Optimizer& optimizer, torch::nn::Sequential& net, const torch::Tensor& x, const torch::Tensor& y) {
  optimizer.zero_grad();
  auto loss = torch::mse_loss(net->forward(x), y);
  loss.backward();
  torch::nn::utils::clip_grad_norm_(net->parameters(), 0.5);
  optimizer.step();
  return loss;
}

// form: optimizer built anew inside the epoch loop
void optimizer_anew() {
  torch::manual_seed(3);
  Data data;
  auto net = make_net(1);
  double rate = sgd_rate;
  for (int epoch = 0; epoch < 3; ++epoch) {
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate).momentum(0.9));
    double total = 0;
    int64_t batches = 0;
    for (int64_t at = 0; at < kRows; at += batch_size, ++batches) {
      const auto end = std::min(at + batch_size, kRows);
      total += update(optimizer, net, data.x.slice(0, at, end), data.y.slice(0, at, end)).item<double>();
    }
    std::cout << "anew " << total / static_cast<double>(batches) << '\n';
    rate *= 0.5;
  }
  show("anew", net->parameters());
}

// form: own scheduler class
class Cosine {
 public:
  Cosine(torch::optim::Optimizer& optimizer, double highest, int steps) : optimizer_(optimizer), highest_(highest), steps_(steps) {}
  void step() {
    ++count_;
    const double rate = 0.5 * highest_ * (1 + std::cos(3.14159265358979 * count_ / steps_));
    for (auto& group : optimizer_.param_groups()) static_cast<torch::optim::SGDOptions&>(group.options()).lr(rate);
  }

 private:
  torch::optim::Optimizer& optimizer_;
  double highest_;
  int steps_, count_ = 0;
};

// form: parameters concatenated from several modules
// form: frozen layers
void concatenated() {
  torch::manual_seed(4);
  Data data;
  torch::nn::Linear encoder(5, 6), head(6, 1), frozen(5, 6);
  encoder->to(torch::kDouble);
  head->to(torch::kDouble);
  frozen->to(torch::kDouble);
  for (auto& p : frozen->parameters()) p.set_requires_grad(false);
  std::vector<torch::Tensor> parameters = encoder->parameters();
  const auto more = head->parameters();
  parameters.insert(parameters.end(), more.begin(), more.end());
  for (const auto& p : frozen->parameters())
    if (p.requires_grad()) parameters.push_back(p);
  torch::optim::SGD optimizer(parameters, sgd_rate);
  Cosine schedule(optimizer, sgd_rate, 4);
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int64_t at = 0; at < kRows; at += batch_size) {
      auto x = data.x.narrow(0, at, std::min(batch_size, kRows - at));
      auto y = data.y.narrow(0, at, std::min(batch_size, kRows - at));
      auto hidden = torch::tanh(encoder(x)) + torch::sigmoid(frozen(x));
      auto loss = torch::mse_loss(head(hidden), y);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    schedule.step();
  }
  show("concatenated", parameters);
  show("frozen", frozen->parameters());
}

// form: bare leaf tensors
void leaf_tensors() {
  torch::manual_seed(5);
  Data data;
  auto w = torch::randn({5, 1}, torch::dtype(torch::kDouble).requires_grad(true));
  auto b = torch::zeros({1}, torch::TensorOptions().dtype(torch::kDouble).requires_grad(true));
  torch::optim::Adam optimizer({w, b}, torch::optim::AdamOptions(adam_rate).weight_decay(0.01));
  for (int epoch = 0; epoch < 2; ++epoch)
    for (int64_t at = 0; at < kRows; at += batch_size) {
      auto x = data.x.slice(0, at, at + batch_size);
      auto loss = (x.matmul(w) + b - data.y.slice(0, at, at + batch_size)).pow(2).mean();
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
  show("leaf", {w, b});
}

// form: EMA of the parameters
// form: target network
void averaged() {
  torch::manual_seed(6);
  Data data;
  auto online = make_net(1), target = make_net(1), average = make_net(1);
  {
    torch::NoGradGuard no_grad;
    auto from = online->parameters();
    auto to = target->parameters(), mean = average->parameters();
    for (size_t i = 0; i < from.size(); ++i) to[i].copy_(from[i]), mean[i].copy_(from[i]);
  }
  torch::optim::Adam optimizer(online->parameters(), torch::optim::AdamOptions(adam_rate));
  int step = 0;
  for (int epoch = 0; epoch < 2; ++epoch)
    for (int64_t at = 0; at < kRows; at += batch_size) {
      auto x = data.x.slice(0, at, std::min(at + batch_size, kRows));
      torch::Tensor wanted;
      {
        torch::NoGradGuard no_grad;
        wanted = data.y.slice(0, at, std::min(at + batch_size, kRows)) + 0.5 * target->forward(x);
      }
      auto loss = F::smooth_l1_loss(online->forward(x), wanted);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      torch::NoGradGuard no_grad;
      auto from = online->named_parameters();
      for (auto& p : average->named_parameters()) p.value().mul_(0.9).add_(from[p.key()], 0.1);
      if (++step % 3 == 0) {
        auto to = target->parameters();
        for (size_t i = 0; i < to.size(); ++i) to[i].copy_(online->parameters()[i]);
      }
    }
  show("online", online->parameters());
  show("target", target->parameters());
  show("average", average->parameters());
}

// form: TORCH_MODULE holder
struct GateImpl : torch::nn::Module {
  explicit GateImpl(int64_t width) : in(register_module("in", torch::nn::Linear(5, width))) {
    scale = register_parameter("scale", torch::ones({width}, torch::kDouble));
  }
  torch::Tensor forward(const torch::Tensor& x) { return torch::sigmoid(in(x)) * scale; }
  torch::nn::Linear in{nullptr};
  torch::Tensor scale;
};
TORCH_MODULE(Gate);

// form: shared_ptr of a Module
struct Mixture : torch::nn::Module {
  explicit Mixture(int experts) {
    for (int k = 0; k < experts; ++k) gates->push_back(Gate(3));
    register_module("gates", gates);
  }
  torch::Tensor forward(const torch::Tensor& x) {
    torch::Tensor sum;
    for (const auto& gate : *gates) {
      auto y = gate->as<Gate>()->forward(x);
      sum = sum.defined() ? sum + y : y;
    }
    return torch::log_softmax(sum, 1);
  }
  torch::nn::ModuleList gates;
};

// form: optimizer chosen by name
std::unique_ptr<torch::optim::Optimizer> make_optimizer(const std::string& name, std::vector<torch::Tensor> parameters) {
  if (name == "adam") return std::make_unique<torch::optim::Adam>(parameters, torch::optim::AdamOptions(adam_rate));
  return std::make_unique<torch::optim::SGD>(parameters, torch::optim::SGDOptions(sgd_rate));
}

// form: LRScheduler
// form: hand-written decay through param_groups
void mixture() {
  torch::manual_seed(7);
  auto net = std::make_shared<Mixture>(2);
  net->to(torch::kDouble);
  auto optimizer = make_optimizer("sgd", net->parameters());
  torch::optim::StepLR schedule(*optimizer, 1, 0.7);
  auto loader = make_loader();
  for (int epoch = 1; epoch <= 2; ++epoch) {
    size_t correct = 0;
    double sum = 0;
    for (auto& batch : *loader) {
      optimizer->zero_grad();
      auto output = net->forward(batch.data);
      auto loss = torch::nll_loss(output, batch.target);
      loss.backward();
      optimizer->step();
      sum += loss.item<double>() * static_cast<double>(batch.data.size(0));
      correct += static_cast<size_t>(output.argmax(1).eq(batch.target).sum().item<int64_t>());
    }
    std::cout << "mixture " << sum / kRows << ' ' << correct << '\n';
    schedule.step();
    if (epoch == 1)
      for (auto& group : optimizer->param_groups()) group.options().set_lr(group.options().get_lr() * 0.5);
  }
  show("mixture", net->parameters());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4) batch_size = std::atol(argv[1]), sgd_rate = std::atof(argv[2]), adam_rate = std::atof(argv[3]);
  std::cout.precision(11);
  any_module();
  optimizers_in_vector();
  clipped_together();
  optimizer_anew();
  concatenated();
  leaf_tensors();
  averaged();
  mixture();
  return 0;
}
