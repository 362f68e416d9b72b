// e2e: scaled={8*N} {0.01*N}; ranks=1,2,3; timeout=120
// form: many short trainings, each with a model and an optimizer of its own on the heap, where those before may have been; some over one model
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

struct Context {
  std::shared_ptr<torch::nn::LinearImpl> model;
  std::shared_ptr<torch::optim::Optimizer> optimizer;
};

Context make_context(std::shared_ptr<torch::nn::LinearImpl> model, double rate) {
  Context c;
  c.model = std::move(model);
  c.optimizer = std::make_shared<torch::optim::SGD>(c.model->parameters(), torch::optim::SGDOptions(rate).momentum(0.5));
  return c;
}

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.01;
  const auto xs = torch::randn({37, 3}), ys = xs.sum(1, true).sin();
  const auto kept = std::make_shared<torch::nn::LinearImpl>(3, 1);
  for (int k = 0; k < 60; ++k) {
    auto c = make_context(k % 3 == 0 ? kept : std::make_shared<torch::nn::LinearImpl>(3, 1), rate * (1 + 0.1 * k));
    double sum = 0;
    for (int64_t at = 0; at < xs.size(0); at += batch) {
      const auto x = xs.slice(0, at, std::min<int64_t>(at + batch, xs.size(0))), y = ys.slice(0, at, std::min<int64_t>(at + batch, xs.size(0)));
      const auto loss = torch::mse_loss(c.model->forward(x), y);
      c.optimizer->zero_grad();
      loss.backward();
      c.optimizer->step();
      sum += loss.item<double>();
    }
    std::printf("training %d %.9f\n", k, sum);
  }
  return 0;
}
