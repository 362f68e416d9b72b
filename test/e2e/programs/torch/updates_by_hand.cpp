// e2e: modes=global; ranks=1,2,3; timeout=90
// No optimizer: parameters are updated by hand from their gradients, in the ways that people do it. The last batch of each pass has one
// row, so that some ranks have none.
#include <torch/torch.h>

#include <array>
#include <cstdint>
#include <iostream>
#include <vector>

namespace {

constexpr int64_t kSamples = 41, kBatch = 8;

struct Data {
  torch::Tensor x = torch::rand({kSamples, 6}, torch::kDouble);
  torch::Tensor y = (x.sum(1) > 3).to(torch::kLong);
  torch::Tensor t = x.mm(torch::rand({6, 1}, torch::kDouble));
};

int64_t endOf(int64_t begin) { return std::min(begin + kBatch, kSamples); }

void sgd(std::vector<torch::Tensor>& params, double rate) {
  torch::NoGradGuard guard;
  for (auto& p : params) {
    p -= rate * p.grad();
    p.grad().zero_();
  }
}

// form: gradients of a summed loss, divided by the samples of the batch where they are used
void sgdOfSum(const torch::Tensor& w, const torch::Tensor& b, const float rate, const size_t rows) {
  w.data().sub_(rate * w.grad() / static_cast<double>(rows));
  b.data().sub_(rate * b.grad() / static_cast<double>(rows));
  w.grad().data().zero_();
  b.grad().data().zero_();
}

void summed(const Data& data) {
  auto w = torch::zeros({6, 1}, torch::kDouble), b = torch::zeros({1}, torch::kDouble);
  w.requires_grad_(true);
  b.requires_grad_(true);
  for (int64_t i = 0; i < kSamples; i += kBatch) {
    auto x = data.x.slice(0, i, endOf(i)), t = data.t.slice(0, i, endOf(i));
    auto loss = (x.mm(w) + b - t).pow(2).sum();
    loss.backward();
    sgdOfSum(w, b, 0.1F, x.size(0));
    std::cout << "summed: " << loss.item<double>() << "\n";
  }
  torch::save({w, b}, "summed.pt");
}

// form: parameters in a list, updated in a function of their own
void listed(const Data& data) {
  auto w = torch::randn({6, 2}, torch::kDouble).mul_(0.1).requires_grad_();
  auto b = torch::zeros({2}, torch::dtype(torch::kDouble).requires_grad(true));
  std::vector<torch::Tensor> params = {w, b};
  for (int epoch = 0; epoch < 2; ++epoch) {
    double total = 0;
    for (int64_t i = 0; i < kSamples; i += kBatch) {
      auto x = data.x.slice(0, i, endOf(i)), y = data.y.slice(0, i, endOf(i));
      auto loss = torch::nn::functional::cross_entropy(x.mm(w) + b, y);
      loss.backward();
      sgd(params, 0.1);
      total += loss.item<double>() * x.size(0);
    }
    std::cout << "listed " << epoch << ": " << total / kSamples << std::endl;
  }
  torch::save(params, "listed.pt");
}

void sgdInBraces(std::vector<torch::Tensor> params, double rate, int64_t rows) {
  torch::NoGradGuard guard;
  for (auto& p : params) {
    p.sub_(rate * p.grad() / rows);
    p.grad().zero_();
  }
}

// form: parameters named between braces where they are updated
void braced(const Data& data) {
  auto w = torch::randn({6, 1}, torch::kDouble).mul_(0.1).requires_grad_();
  auto b = torch::zeros({1}, torch::dtype(torch::kDouble).requires_grad(true));
  for (int epoch = 0; epoch < 2; ++epoch) {
    auto order = torch::randperm(kSamples);
    for (int64_t i = 0; i < kSamples; i += kBatch) {
      auto rows = order.slice(0, i, endOf(i));
      auto loss = ((data.x.index_select(0, rows).mm(w) + b - data.t.index_select(0, rows)).pow(2) / 2).sum();
      loss.backward();
      sgdInBraces({w, b}, 0.05, kBatch);
    }
    torch::NoGradGuard guard;
    std::cout << "braced " << epoch << ": " << (data.x.mm(w) + b - data.t).pow(2).mean().item<double>() << "\n";
  }
  torch::save({w, b}, "braced.pt");
}

// form: pointers to parameters between braces, which are no ends of a range
struct Line {
  torch::Tensor w, b;
  void move(double rate) {
    torch::NoGradGuard guard;
    for (auto* p : {&w, &b}) {
      p->sub_(rate * p->grad());
      p->grad().zero_();
    }
  }
};

void pointed(const Data& data) {
  Line line{torch::randn({6, 1}, torch::kDouble).mul_(0.1).requires_grad_(), torch::zeros({1}, torch::dtype(torch::kDouble).requires_grad(true))};
  for (int64_t i = 0; i < kSamples; i += kBatch) {
    auto loss = torch::mse_loss(data.x.slice(0, i, endOf(i)).mm(line.w) + line.b, data.t.slice(0, i, endOf(i)));
    loss.backward();
    line.move(0.05);
  }
  torch::save({line.w, line.b}, "pointed.pt");
}

// form: parameters in an array, named by their numbers
template <size_t n>
void moveAll(std::array<torch::Tensor, n>& params, double rate) {
  torch::NoGradGuard guard;
  for (auto& p : params) {
    p -= rate * p.grad();
    p.mutable_grad().reset();
  }
}

void arrayed(const Data& data) {
  std::array<torch::Tensor, 2> params{torch::randn({6, 1}, torch::kDouble).mul_(0.1).requires_grad_(), torch::zeros({1}, torch::dtype(torch::kDouble).requires_grad(true))};
  for (int64_t i = 0; i < kSamples; i += kBatch) {
    auto loss = torch::mse_loss(data.x.slice(0, i, endOf(i)).mm(params[0]) + params[1], data.t.slice(0, i, endOf(i)));
    loss.backward();
    moveAll(params, 0.05);
  }
  torch::save({params[0], params[1]}, "arrayed.pt");
}

double lengthOf(const std::vector<torch::Tensor>& params) {
  double sum = 0;
  for (const auto& p : params) sum += p.grad().norm().item<double>();
  return sum;
}

// form: single tensors under a NoGradGuard of their own, gradients cleared or dropped behind it
void guarded(const Data& data) {
  auto w1 = torch::randn({6, 5}, torch::kDouble).mul_(0.3).requires_grad_();
  auto w2 = torch::randn({5, 1}, torch::kDouble).mul_(0.3).requires_grad_();
  const double rate = 0.05;
  for (int64_t i = 0; i < kSamples; i += kBatch) {
    auto loss = (data.x.slice(0, i, endOf(i)).mm(w1).clamp_min(0).mm(w2) - data.t.slice(0, i, endOf(i))).pow(2).sum();
    loss.backward();
    torch::nn::utils::clip_grad_norm_({w1, w2}, 2.0);
    std::cout << "length " << lengthOf({w1, w2}) << "\n";
    {
      torch::NoGradGuard no_grad;
      w1 -= rate * w1.grad();
      if (w2.grad().defined()) w2.sub_(w2.grad(), rate);
      w1.grad().zero_();
      w2.mutable_grad() = torch::Tensor();
    }
    std::cout << "guarded: " << loss.item<double>() << "\n";
  }
  torch::save({w1, w2}, "guarded.pt");
}

struct NetImpl : torch::nn::Module {
  NetImpl() : first(register_module("first", torch::nn::Linear(6, 4))), second(register_module("second", torch::nn::Linear(4, 2))) {}
  torch::Tensor forward(torch::Tensor x) { return second(torch::tanh(first(x))); }
  torch::nn::Linear first, second;
};
TORCH_MODULE(Net);

// form: the parameters of a model by number, with a velocity for each; gradients gathered over two batches
void momentum(const Data& data) {
  Net net;
  net->to(torch::kDouble);
  std::vector<torch::Tensor> velocity;
  for (auto& p : net->parameters()) velocity.push_back(torch::zeros_like(p));
  int batches = 0;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (int64_t i = 0; i < kSamples; i += kBatch) {
      auto loss = torch::nll_loss(torch::log_softmax(net->forward(data.x.slice(0, i, endOf(i))), 1), data.y.slice(0, i, endOf(i)));
      loss.backward();
      if (++batches % 2 != 0) continue;
      auto params = net->parameters();
      for (size_t k = 0; k < params.size(); ++k) {
        if (!params[k].grad().defined()) continue;
        velocity[k] = 0.9 * velocity[k] + params[k].grad();
        params[k].data().sub_(0.05 * velocity[k]);
      }
      net->zero_grad();
    }
  }
  for (auto& item : net->named_parameters()) std::cout << item.key() << " " << item.value().norm().item<double>() << "\n";
  torch::save(net, "momentum.pt");
}

// form: named parameters, assigned through data()
void named(const Data& data) {
  Net net;
  net->to(torch::kDouble);
  for (int64_t i = 0; i < kSamples; i += kBatch) {
    net->zero_grad();
    torch::nn::functional::cross_entropy(net->forward(data.x.slice(0, i, endOf(i))), data.y.slice(0, i, endOf(i))).backward();
    for (auto& item : net->named_parameters()) item.value().data() = item.value().data() - 0.1 * item.value().grad().data();
  }
  torch::save(net, "named.pt");
}

// form: new tensors in the place of the old ones
void replaced(const Data& data) {
  torch::Tensor w = torch::randn({6, 1}, torch::dtype(torch::kDouble).requires_grad(true));
  torch::Tensor b = torch::zeros({1}, torch::dtype(torch::kDouble).requires_grad(true));
  for (int64_t i = 0; i < kSamples; i += kBatch) {
    auto loss = torch::mse_loss(torch::mm(data.x.slice(0, i, endOf(i)), w) + b, data.t.slice(0, i, endOf(i)));
    loss.backward();
    w = (w - 0.05 * w.grad()).detach().requires_grad_();
    b = (b - 0.05 * b.grad()).detach().requires_grad_();
  }
  std::cout << "replaced: " << w.norm().item<double>() << " " << b.item<double>() << std::endl;
  torch::save({w, b}, "replaced.pt");
}

}  // namespace

int main() {
  torch::manual_seed(4);
  const Data data;
  listed(data);
  guarded(data);
  momentum(data);
  named(data);
  replaced(data);
  summed(data);
  braced(data);
  pointed(data);
  arrayed(data);
}
