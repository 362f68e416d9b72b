// e2e: name=barlow; scaled={8*N} {0.01*N}; ranks=1,2,3; timeout=120
// e2e: name=vicreg; cxx=-DFORM=1; scaled={8*N} {0.01*N}; ranks=1,2,3; timeout=120
// e2e: name=correlation; cxx=-DFORM=2; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=statistics; cxx=-DFORM=3; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=root; cxx=-DFORM=4; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=norm; cxx=-DFORM=5; scaled={8*N} {0.002*N}; ranks=1,2,3; timeout=120
// form: losses of covariances and correlations of the batch, as Barlow Twins and VICReg have them
// form: x.std(0), x.var(0), x.norm() of the outputs as a term of the loss, or all of it
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#ifndef FORM
#define FORM 0
#endif

struct NetImpl : torch::nn::Module {
  torch::nn::Linear in{nullptr}, out{nullptr};
  NetImpl() {
    in = register_module("in", torch::nn::Linear(4, 6));
    out = register_module("out", torch::nn::Linear(6, 3));
  }
  torch::Tensor forward(torch::Tensor x) { return out(torch::tanh(in(x))); }
};
TORCH_MODULE(Net);

torch::Tensor off_diagonal(const torch::Tensor& m) { return m - torch::diag(torch::diagonal(m)); }

int main(int argc, char** argv) {
  const int64_t batch = std::atoll(argv[1]);
  const double rate = std::atof(argv[2]);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  torch::manual_seed(223);
  auto x = 1 + torch::randn({94, 4}), y = torch::stack({x.sum(1), x.select(1, 0), x.prod(1)}, 1);  // the last batch is not full
  Net net;
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    for (int64_t i = 0; i < 94; i += batch) {
      auto xb = x.slice(0, i, i + batch), yb = y.slice(0, i, i + batch);
      auto z = net->forward(xb);
#if FORM == 0  // Barlow Twins: Zbontar et al. 2021
      auto w = net->forward(xb + 0.1 * yb.mean(1, true));
      auto a = (z - z.mean(0)) / (z.std(0) + 1e-2), b = (w - w.mean(0)) / (w.std(0) + 1e-2);
      auto c = a.t().mm(b) / z.size(0);
      auto loss = (torch::diagonal(c) - 1).pow(2).sum() + 0.01 * off_diagonal(c).pow(2).sum();
#elif FORM == 1  // VICReg: Bardes, Ponce, LeCun 2022
      auto w = net->forward(xb + 0.1 * yb.mean(1, true));
      auto spread = torch::relu(1 - torch::sqrt(z.var(0) + 1e-4)).mean() + torch::relu(1 - torch::sqrt(w.var(0) + 1e-4)).mean();
      auto centred = z - z.mean(0);
      auto covariance = centred.t().mm(centred) / (z.size(0) - 1);
      auto loss = torch::mse_loss(z, w) + spread + off_diagonal(covariance).pow(2).sum() / 3;
#elif FORM == 2  // a correlation, of sums of the batch
      auto a = z - z.mean(0), b = yb - yb.mean(0);
      auto loss = 1 - (a * b).sum() / (a.pow(2).sum().sqrt() * b.pow(2).sum().sqrt() + 1e-8);
#elif FORM == 3  // of statistics alone
      auto loss = (z.std(0) - 1).pow(2).mean();
#elif FORM == 4  // the root of a mean, of rows that have been centred
      auto loss = torch::sqrt(torch::mse_loss(z - z.mean(0, true), yb - yb.mean(0, true))) + 0.1 * torch::trace(z.t().mm(z) / z.size(0));
#else  // the sum over the samples of the batch grows with it
      auto loss = ((z - z.mean(0)) * yb).square().sum() / z.size(0) + (z.norm() / std::sqrt(94.0) - 1).square();
#endif
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>();
    }
    std::printf("%d %.10f\n", epoch, total);
  }
}
