// SPDX-License-Identifier: Apache-2.0
// e2e: modes=global; args=64; ranks=1,2,3; timeout=120; warns=HVD2010
// form: outputs for all samples, of which the loss takes those before a cut and a held-out number those behind it
// The cut is no size of a batch: were it to grow with the ranks, training would use the samples that are held out.
#include <torch/torch.h>
#include <cstdio>
#include <cstdlib>

using torch::indexing::Slice;

struct Settings {
  int64_t cut;
};

struct NetImpl : torch::nn::Module {
  explicit NetImpl(torch::Tensor neighbours) : edges(std::move(neighbours)) { layer = register_module("layer", torch::nn::Linear(6, 3)); }
  torch::Tensor forward(const torch::Tensor& x) { return torch::log_softmax(edges.mm(layer(x)), 1); }
  torch::Tensor edges;
  torch::nn::Linear layer{nullptr};
};
TORCH_MODULE(Net);

static void fit(const Settings& settings, const torch::Tensor& x, const torch::Tensor& y, Net& net) {
  const int64_t cut = settings.cut;
  auto held = y.index({Slice(cut, y.size(0))});
  torch::optim::Adam optimizer(net->parameters(), 0.05);
  for (int epoch = 0; epoch < 5; ++epoch) {
    auto out = net->forward(x);
    auto loss = torch::nll_loss(out.index({Slice(0, cut)}), y.index({Slice(0, cut)}));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    torch::NoGradGuard guard;
    auto other = torch::nll_loss(out.index({Slice(cut, y.size(0))}), held);
    std::printf("%d: %.9f %.9f\n", epoch, loss.item<double>(), other.item<double>());
  }
}

// form: noise drawn for all samples in every step, and then those before a cut taken
static void fit_noisy(const Settings& settings, const torch::Tensor& x, const torch::Tensor& targets) {
  auto y = targets.clone();
  torch::nn::Linear net(6, 3);
  torch::optim::SGD optimizer(net->parameters(), 0.05);
  for (int epoch = 0; epoch < 4; ++epoch) {
    auto shaken = x + 0.1 * torch::randn_like(x);
    auto loss = torch::nn::functional::cross_entropy(net->forward(shaken.slice(0, 0, settings.cut)), y.slice(0, 0, settings.cut));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    torch::NoGradGuard guard;
    auto other = torch::nn::functional::cross_entropy(net->forward(x.slice(0, settings.cut)), y.slice(0, settings.cut));
    std::printf("noisy %d: %.9f %.9f\n", epoch, loss.item<double>(), other.item<double>());
  }
}

int main(int argc, char** argv) {
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  torch::manual_seed(4);
  auto x = torch::randn({96, 6});
  auto y = (x.sum(1) > 0).to(torch::kLong);
  auto edges = (torch::rand({96, 96}) < 0.1).to(torch::kDouble) + torch::eye(96);
  Net net(edges / edges.sum(1, true));
  fit(Settings{argc > 1 ? std::atol(argv[1]) : 64}, x, y, net);
  fit_noisy(Settings{argc > 1 ? std::atol(argv[1]) : 64}, x, y);
  return 0;
}
