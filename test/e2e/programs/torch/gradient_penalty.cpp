// e2e: args=; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=90
// Gradients with respect to the samples, which a loss holds: the penalty of a critic, the residual of an equation.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

torch::nn::Sequential network(int64_t in, int64_t out) {
  torch::nn::Sequential net(torch::nn::Linear(in, 8), torch::nn::Tanh(), torch::nn::Linear(8, out));
  net->to(torch::kFloat64);
  return net;
}

struct SolutionImpl : torch::nn::Module {
  SolutionImpl() : in(register_module("in", torch::nn::Linear(2, 8))), out(register_module("out", torch::nn::Linear(8, 1))) {}
  torch::Tensor forward(torch::Tensor place) { return out->forward(torch::tanh(in->forward(place))); }
  torch::nn::Linear in, out;
};
TORCH_MODULE(Solution);

torch::Tensor penalty(torch::nn::Sequential& critic, const torch::Tensor& real, const torch::Tensor& fake, const torch::Tensor& alpha) {
  auto mixed = (alpha * real + (1 - alpha) * fake).detach().requires_grad_(true);
  auto scores = critic->forward(mixed);
  auto gradients = torch::autograd::grad({scores}, {mixed}, {torch::ones_like(scores)}, /*retain_graph=*/true, /*create_graph=*/true)[0];
  gradients = gradients.view({gradients.size(0), -1});
  return (gradients.norm(2, 1) - 1).pow(2).mean();
}

// The gradient of a sum gives each sample its own.
torch::Tensor slopes(torch::nn::Sequential& net, const torch::Tensor& x) {
  const torch::Tensor total = net->forward(x).sum();
  std::vector<torch::Tensor> gradients = torch::autograd::grad({total}, {x}, {}, true, true);
  return gradients[0];
}

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 6;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(5);
  auto critic = network(4, 1), maker = network(3, 4), solution = network(1, 1);
  auto images = torch::rand({26, 4}, torch::kFloat64), codes = torch::rand({26, 3}, torch::kFloat64), weights = torch::rand({26, 1}, torch::kFloat64);
  auto points = torch::linspace(0, 3, 26, torch::kFloat64).view({-1, 1});
  torch::optim::SGD critics(critic->parameters(), rate), makers(maker->parameters(), rate), solver(solution->parameters(), rate);
  Solution wave;
  wave->to(torch::kFloat64);
  torch::optim::SGD waves(wave->parameters(), rate);
  for (int64_t i = 0; i < 26; i += batch) {
    auto real = images.slice(0, i, i + batch);
    auto fake = maker->forward(codes.slice(0, i, i + batch));
    critics.zero_grad();
    auto extra = 10.0 * penalty(critic, real, fake, weights.slice(0, i, i + batch));
    auto steep = slopes(critic, real.detach().requires_grad_(true)).square().sum(1).mean();
    auto loss = critic->forward(fake.detach()).mean() - critic->forward(real).mean() + extra + 0.1 * steep;
    loss.backward();
    critics.step();
    makers.zero_grad();
    auto deceived = -critic->forward(fake).mean();
    deceived.backward();
    makers.step();

    // u'' + u = 0 at the points of the batch.
    auto t = points.slice(0, i, i + batch).clone().set_requires_grad(true);
    auto u = solution->forward(t);
    auto first = torch::autograd::grad({u}, {t}, {torch::ones_like(u)}, true, true)[0];
    auto second = torch::autograd::grad({first}, {t}, {torch::ones_like(first)}, true, true)[0];
    auto residual = torch::mean(torch::pow(second + u, 2));
    solver.zero_grad();
    residual.backward();
    solver.step();

    // u_t = u_x, by a network of the author's.
    auto s = torch::sin(points.slice(0, i, i + batch)).requires_grad_(true);
    auto flow = wave->forward(torch::cat({s, t}, 1));
    auto along = torch::autograd::grad({flow}, {s}, {torch::ones_like(flow)}, true, true)[0];
    auto later = torch::autograd::grad({flow}, {t}, {torch::ones_like(flow)}, true, true)[0];
    auto uneven = (later - along).pow(2).mean();
    waves.zero_grad();
    uneven.backward();
    waves.step();
    std::printf("uneven %.8f\n", uneven.item<double>());
    std::printf("loss %.8f penalty %.8f slope %.8f maker %.8f residual %.8f\n", loss.item<double>(), extra.item<double>(), first.max().item<double>(),
                deceived.item<double>(), residual.item<double>());
  }
  torch::save(critic, "critic.pt");
  torch::save(maker, "maker.pt");
  torch::save(solution, "solution.pt");
}
