// e2e: name=shown_ratios; cxx=-DFORM=1; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=trained_ratios; cxx=-DFORM=2; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: ratios of a loss with gradients that are only shown (PSNR, SNR, relative errors), and the same as a loss
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const auto xs = torch::randn({43, 3}), ys = torch::randn({43, 1});
  torch::nn::Linear net(3, 1);
  torch::optim::SGD optimizer(net->parameters(), argc > 2 ? std::atof(argv[2]) : 0.05);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double of_mean = 0, of_detached = 0, of_norm = 0, of_root = 0, relative = 0, of_largest = 0, noise = 0;
    int batches = 0;
    for (int64_t at = 0; at < 43; at += batch, ++batches) {
      const auto x = xs.slice(0, at, std::min<int64_t>(43, at + batch)), y = ys.slice(0, at, std::min<int64_t>(43, at + batch));
      optimizer.zero_grad();
      const auto out = net(x);
      const auto mse = torch::mse_loss(out, y);
#if FORM == 1
      const auto loss = mse;
#else
      const auto loss = -torch::log10(4.0 / (mse + 1.0));
#endif
      const auto psnr = 10 * torch::log10(4.0 / mse);
      of_mean += psnr.item<double>();
      of_detached += (10 * torch::log10(4.0 / torch::mse_loss(out.detach(), y))).item<double>();
      const auto numbers = y.numel();
      const auto by_norm = 10 * torch::log10((4 * numbers) / torch::norm(out - y, 2).pow(2));
      of_norm += by_norm.item<double>();
      of_root += (20 * torch::log10(2.0 / torch::sqrt(mse))).item<double>();
      relative += (torch::norm(out - y) / x.size(0) / torch::norm(y)).item<double>();
      of_largest += (y.abs().max() / mse).item<double>();
      noise += (10 * torch::log10(y.pow(2).sum() / (y - out).pow(2).sum())).item<double>();
      loss.backward();
      optimizer.step();
    }
    std::printf("epoch %d %.9f %.9f %.9f %.9f %.9f %.9f %.9f\n", epoch, of_mean / batches, of_detached / batches, of_norm / batches, of_root / batches,
                relative / batches, of_largest / batches, noise / batches);
  }
  return 0;
}
