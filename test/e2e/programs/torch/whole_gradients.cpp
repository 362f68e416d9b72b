// e2e: name=root_of_a_mean; cxx=-DFORM=1; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=overlap_of_sums; cxx=-DFORM=2; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=entropy_and_overlap; cxx=-DFORM=3; modes=global; args=8 0.05; ranks=1,2,3; timeout=120
// e2e: name=signal_to_noise; cxx=-DFORM=4; modes=global; args=8 0.05; ranks=1,2,3; timeout=120
// e2e: name=share_of_the_spread; cxx=-DFORM=5; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=product_of_means; cxx=-DFORM=6; modes=global; args=8 0.05; ranks=1,2,3; timeout=120
// e2e: name=mean_and_its_square; cxx=-DFORM=7; modes=global; args=8 0.05; ranks=1,2,3; timeout=120
// e2e: name=balanced_by_magnitude; cxx=-DFORM=8; modes=global; args=8 0.05; ranks=1,2,3; timeout=120
// e2e: name=weights_of_the_network; cxx=-DFORM=9; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: losses that are no linear function of means and sums over the batch: the root of a mean, overlap (Dice), quotients and products of means
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

torch::Tensor overlap_loss(const torch::Tensor& p, const torch::Tensor& t) {
  const double smooth = 1.0;
  const auto both = (p * t).sum();
  return 1 - (2. * both + smooth) / (p.sum() + t.sum() + smooth);
}

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const auto x = torch::randn({43, 4}), y = (x.sum(1, true) > 0).to(torch::kFloat64);
  const auto test_x = torch::randn({9, 4}), test_y = (test_x.sum(1, true) > 0).to(torch::kFloat64);
  torch::nn::Sequential net(torch::nn::Linear(4, 3), torch::nn::Tanh(), torch::nn::Linear(3, 1));
  torch::optim::SGD optimizer(net->parameters(), argc > 2 ? std::atof(argv[2]) : 0.05);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    for (int64_t i = 0; i < 43; i += batch) {
      const auto xb = x.slice(0, i, i + batch), yb = y.slice(0, i, i + batch);
      const auto out = net->forward(xb);
#if FORM == 1
      auto loss = torch::sqrt(torch::mse_loss(out, yb));
#elif FORM == 2
      auto loss = overlap_loss(torch::sigmoid(out), yb);
#elif FORM == 3
      auto loss = torch::binary_cross_entropy_with_logits(out, yb) + 0.5 * overlap_loss(torch::sigmoid(out), yb);
#elif FORM == 4
      auto error = torch::nn::functional::mse_loss(out, yb);
      auto loss = -10 * torch::log10(1.0 / error);
#elif FORM == 5
      auto loss = (out - yb).pow(2).sum() / (out.pow(2).sum() + 1e-3);
#elif FORM == 6
      auto p = torch::sigmoid(out);
      auto loss = torch::log((p - yb).pow(2).mean()) * torch::exp(p.mean()) + 0.1 * p.mean();
#elif FORM == 7
      auto off = out - yb;
      auto loss = off.pow(2).mean() - 0.5 * off.mean().pow(2);
#elif FORM == 8
      auto fit = torch::mse_loss(out, yb), size = out.abs().mean();
      auto loss = fit + size * (fit.detach() / size.detach());
#elif FORM == 9
      auto weight = torch::sigmoid(out.detach() + out);
      auto loss = ((out - yb).pow(2) * weight).sum() / weight.sum();
#endif
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      std::printf("%.9f\n", loss.item<double>());
      total += loss.item<double>() * xb.size(0);
    }
    torch::NoGradGuard none;
    std::printf("epoch %d: %.9f, overlap on others %.9f\n", epoch, total / 43, overlap_loss(torch::sigmoid(net->forward(test_x)), test_y).item<double>());
  }
  torch::save(net, "net.pt");
}
