// e2e: name=boundary; scaled={24*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=given; cxx=-DFORM=1; modes=global; args=24 0.05; ranks=1,2,3; timeout=120
// e2e: name=columns; cxx=-DFORM=2; scaled={16*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=few; cxx=-DFORM=3; scaled={16*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: draws of other numbers of rows in one step, `rand({inside, 2})` and `rand({9})`: those that are not the batch are the same on all ranks
// form: a draw of a few numbers in a step beside a batch of data, `rand({2, 1})`: the same on all ranks
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

#ifndef FORM
#define FORM 0
#endif

int main(int argc, char** argv) {
  const int64_t inside = std::atoll(argv[1]);
  const double rate = std::atof(argv[2]);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  torch::manual_seed(31);
  torch::nn::Sequential net(torch::nn::Linear(2, 8), torch::nn::Tanh(), torch::nn::Linear(8, 1));
  torch::optim::SGD optimizer(net->parameters(), rate);
#if FORM < 2
#if FORM == 0
  const int64_t boundary = 9;
#else
  const int64_t boundary = argc > 3 ? std::atoll(argv[3]) : 7;
#endif
  for (int step = 0; step < 6; ++step) {
    optimizer.zero_grad();
    auto points = torch::rand({inside, 2}, torch::requires_grad());
    auto u = net->forward(points);
    auto du = torch::autograd::grad({u}, {points}, {torch::ones_like(u)}, true, true)[0];
    auto residual = torch::mse_loss(du.select(1, 1) - 0.3 * du.select(1, 0), torch::zeros({inside}));
    auto start = torch::empty({boundary, 2});
    start.select(1, 0) = torch::rand({boundary});
    start.select(1, 1) = torch::zeros({boundary});
    auto first = torch::mse_loss(net->forward(start), torch::sin(3.14159265 * start.select(1, 0)).unsqueeze(1));
    auto edge = torch::stack({torch::zeros({boundary}), torch::rand({boundary})}, 1);
    auto sides = net->forward(edge).square().mean();
    auto loss = residual + 10 * first + 5 * sides;
    loss.backward();
    optimizer.step();
    std::printf("%d %.10f %.10f %.10f\n", step, loss.item<double>(), residual.item<double>(), first.item<double>());
  }
#else
  (void)argc;
  auto x = torch::randn({94, 6}), y = x.sum(1, true);
  for (int64_t i = 0; i < 94; i += inside) {
    auto xb = x.slice(0, i, i + inside), yb = y.slice(0, i, i + inside);
#if FORM == 2  // two columns out of six, others in each step
    auto columns = torch::randperm(6).slice(0, 0, 2);
    auto out = net->forward(xb.index_select(1, columns));
#else
    auto kept = (torch::rand({3, 1}) > 0.3).to(torch::kDouble);
    auto shift = 0.1 * torch::randn({2});
    auto out = net->forward((xb.view({-1, 3, 2}) * kept).sum(1) + shift);
#endif
    auto loss = torch::mse_loss(out, yb);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("%ld %.10f\n", static_cast<long>(i / inside), loss.item<double>());
  }
#endif
}
