// SPDX-License-Identifier: Apache-2.0
// e2e: name=clipped_in_a_function; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=clipped_in_an_override; cxx=-DFORM=1; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=clipped_in_a_callback; cxx=-DFORM=2; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=gradients_given_back; cxx=-DFORM=3; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=squares_of_gradients; cxx=-DFORM=4; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=gradients_of_a_copy; cxx=-DFORM=5; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=clipped_beside_another_optimizer; cxx=-DFORM=6; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=clipped_in_a_function_on_nodes; args=8 0.05; modes=global; env=HVD_SYNC=hierarchical:1; env=HVD_NODE_SIZE=2; ranks=1,2; timeout=90
// The backward pass and what reads its gradients are in a function that does not know the optimizer, or the gradients are those of a model that no optimizer has.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#ifndef FORM
#define FORM 0
#endif

using torch::Tensor;

#if FORM == 0
// form: a function that has the backward pass and clips, and not the optimizer
static double pass(torch::nn::Linear& net, const Tensor& in, const Tensor& wanted) {
  const Tensor loss = torch::mse_loss(net(in), wanted);
  loss.backward();
  torch::nn::utils::clip_grad_norm_(net->parameters(), 0.3);
  return loss.item<double>();
}
#elif FORM == 1
// form: an override that clips, of a class that steps
class Trainer {
 public:
  Trainer(torch::nn::Linear net, double rate) : net_(net), optimizer_(std::make_unique<torch::optim::SGD>(net->parameters(), rate)) {}
  virtual ~Trainer() = default;
  double epoch(const Tensor& x, const Tensor& y, int64_t size) {
    double total = 0;
    for (int64_t at = 0; at < x.size(0); at += size) {
      optimizer_->zero_grad();
      total += gradients(x.slice(0, at, at + size), y.slice(0, at, at + size));
      optimizer_->step();
    }
    return total;
  }

 protected:
  virtual double gradients(const Tensor& in, const Tensor& wanted) = 0;
  torch::nn::Linear net_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
};

class Regression : public Trainer {
 public:
  using Trainer::Trainer;

 private:
  double gradients(const Tensor& in, const Tensor& wanted) override {
    const Tensor loss = torch::mse_loss(net_(in), wanted);
    loss.backward();
    return torch::nn::utils::clip_grad_norm_(net_->parameters(), 0.4);
  }
};
#elif FORM == 2
template <class Optimizer>
double pass_over(Optimizer& optimizer, const Tensor& x, const Tensor& y, int64_t size, const std::function<double(const Tensor&, const Tensor&)>& work) {
  double total = 0;
  for (int64_t at = 0; at < x.size(0); at += size) {
    optimizer.zero_grad();
    total += work(x.slice(0, at, at + size), y.slice(0, at, at + size));
    optimizer.step();
  }
  return total;
}
#elif FORM == 3
// form: a function that gives back copies of the gradients
static std::vector<Tensor> gradients(torch::nn::Linear& net, const Tensor& in, const Tensor& wanted) {
  net->zero_grad();
  torch::mse_loss(net(in), wanted).backward();
  std::vector<Tensor> out;
  for (const auto& item : net->named_parameters()) out.push_back(item.value().grad().clone());
  return out;
}
#elif FORM == 4
// form: squares of the gradients of each batch, in a function without an optimizer
static std::vector<Tensor> squares(torch::nn::Linear& net, const Tensor& x, const Tensor& y, int64_t size) {
  const std::vector<Tensor> all = net->parameters();
  std::vector<Tensor> out;
  for (const Tensor& p : all) out.push_back(torch::zeros_like(p));
  for (int64_t at = 0; at < x.size(0); at += size) {
    net->zero_grad();
    torch::mse_loss(net(x.slice(0, at, at + size)), y.slice(0, at, at + size)).backward();
    for (size_t k = 0; k < all.size(); ++k) out[k].add_(all[k].grad().square());
  }
  return out;
}
#elif FORM == 6
// form: models with optimizers of their own, clipped from outside, beside one more optimizer
struct Model : torch::nn::Module {
  explicit Model(double rate) : net(register_module("net", torch::nn::Linear(5, 1))) {
    to(torch::kDouble);
    optimizer = std::make_unique<torch::optim::SGD>(parameters(), torch::optim::SGDOptions(rate));
  }
  Tensor forward(const Tensor& x) { return net->forward(x); }
  void step() {
    optimizer->step();
    optimizer->zero_grad();
  }
  torch::nn::Linear net{nullptr};
  std::unique_ptr<torch::optim::Optimizer> optimizer;
};
#endif

int main(int argc, char** argv) {
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(7);
  const Tensor x = torch::cos(torch::arange(61 * 5, torch::kDouble) * 0.7).view({61, 5}), y = x.sum(1, true).tanh() + 0.2;
#if FORM == 6
  std::map<std::string, std::shared_ptr<Model>> models;
  models["first"] = std::make_shared<Model>(rate);
  models["second"] = std::make_shared<Model>(rate);
  auto scale = torch::zeros({1}, torch::TensorOptions().dtype(torch::kDouble).requires_grad(true));
  torch::optim::SGD of_scale({scale}, torch::optim::SGDOptions(rate));
  for (int64_t at = 0; at < x.size(0); at += size) {
    const Tensor in = x.slice(0, at, at + size), wanted = y.slice(0, at, at + size);
    const Tensor loss = torch::mse_loss(models["first"]->forward(in), wanted) + torch::l1_loss(models["second"]->forward(in), wanted);
    loss.backward();
    torch::nn::utils::clip_grad_norm_(models["first"]->parameters(), 0.2);
    torch::nn::utils::clip_grad_norm_(models["second"]->parameters(), 0.2);
    models["first"]->step();
    models["second"]->step();
    const Tensor other = (scale * (models["first"]->forward(in).detach() - 1)).mean();
    of_scale.zero_grad();
    other.backward();
    of_scale.step();
  }
  torch::save(models["second"]->net, "second.pt");
  torch::save(models["first"]->net, "net.pt");
#else
  torch::nn::Linear net(5, 1);
  net->to(torch::kDouble);
#if FORM == 1
  Regression trainer(net, rate);
  for (int epoch = 0; epoch < 2; ++epoch) std::printf("%.9f\n", trainer.epoch(x, y, size));
#else
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate).momentum(0.5));
#if FORM == 2
// form: a callback that has the backward pass and clips, of a template that steps
  double norms = 0;
  for (int epoch = 0; epoch < 2; ++epoch) {
    const double total = pass_over(optimizer, x, y, size, [&](const Tensor& in, const Tensor& wanted) {
      const Tensor loss = torch::mse_loss(net(in), wanted);
      loss.backward();
      norms += torch::nn::utils::clip_grad_norm_(net->parameters(), 0.3);
      return loss.item<double>();
    });
    std::printf("%.9f %.9f\n", total, norms);
  }
#elif FORM == 5
// form: gradients of a copy of the model, put into the model's
  torch::nn::Linear ahead(5, 1);
  ahead->to(torch::kDouble);
  for (int64_t at = 0; at < x.size(0); at += size) {
    const std::vector<Tensor> theirs = ahead->parameters(), ours = net->parameters();
    {
      const torch::NoGradGuard no_grad;
      for (size_t k = 0; k < ours.size(); ++k) theirs[k].copy_(0.9 * ours[k]);
    }
    ahead->zero_grad();
    torch::mse_loss(ahead(x.slice(0, at, at + size)), y.slice(0, at, at + size)).backward();
    for (size_t k = 0; k < ours.size(); ++k) ours[k].mutable_grad() = theirs[k].grad().clone();
    optimizer.step();
  }
#else
  for (int64_t at = 0; at < x.size(0); at += size) {
    const Tensor in = x.slice(0, at, at + size), wanted = y.slice(0, at, at + size);
#if FORM == 0
    optimizer.zero_grad();
    const double loss = pass(net, in, wanted);
    optimizer.step();
    std::printf("%.9f\n", loss);
#elif FORM == 3
    const std::vector<Tensor> given = gradients(net, in, wanted);
    const std::vector<Tensor> all = net->parameters();
    for (size_t k = 0; k < all.size(); ++k) all[k].mutable_grad() = torch::tanh(given[k]);
    optimizer.step();
#else
    const Tensor loss = torch::mse_loss(net(in), wanted);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
#endif
  }
#endif
#endif
#if FORM == 4
  for (const Tensor& s : squares(net, x, y, size)) std::printf("%.9f\n", s.sum().item<double>());
#endif
  torch::save(net, "net.pt");
#endif
}
