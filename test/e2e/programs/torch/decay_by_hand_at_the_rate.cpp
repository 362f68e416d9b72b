// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: weight decay by hand at the rate of the optimizer, `p.mul_(1 - rate * decay)`: scaled there, too
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <string>

int main(int argc, char** argv) {
  (void)argc;
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  torch::manual_seed(43);
  const int64_t batch = std::atoll(argv[1]);
  double rate = std::atof(argv[2]);
  const double decay = 0.1;
  auto x = torch::randn({62, 4});
  auto y = (x * x).sum(1, true);
  torch::nn::Sequential net(torch::nn::Linear(4, 8), torch::nn::Tanh(), torch::nn::Linear(8, 1));
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int epoch = 0; epoch < 4; ++epoch) {
    double total = 0;
    for (int64_t i = 0; i < 62; i += batch) {
      auto loss = torch::mse_loss(net->forward(x.slice(0, i, i + batch)), y.slice(0, i, i + batch));
      optimizer.zero_grad();
      loss.backward();
      {
        torch::NoGradGuard guard;
        for (auto& item : net->named_parameters())
          if (item.key().find("bias") == std::string::npos) item.value().mul_(1 - rate * decay);
      }
      optimizer.step();
      total += loss.item<double>();
    }
    std::printf("%d %.10f %.10f\n", epoch, total, net->parameters()[0].norm().item<double>());
    rate *= 0.8;
    for (auto& group : optimizer.param_groups()) static_cast<torch::optim::SGDOptions&>(group.options()).lr(rate);
  }
}
