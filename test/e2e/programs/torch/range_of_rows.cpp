// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: values of all samples appended to a vector through the ends of a range
// Both ends are those of one gathered tensor, whatever else the step does.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int, char** argv) {
  torch::manual_seed(3);
  auto x = torch::randn({50, 6}, torch::kDouble);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      torch::data::datasets::TensorDataset(x).map(torch::data::transforms::Stack<torch::data::TensorExample>()), std::strtoul(argv[1], nullptr, 10));
  torch::nn::Linear net(6, 1);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), std::atof(argv[2]));
  std::vector<double> errors;
  torch::Tensor seen = torch::zeros({}, torch::kLong);
  for (auto& batch : *loader) {
    auto out = net(batch.data);
    auto loss = (out - 1).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    auto error = out.detach().flatten().contiguous();
    errors.insert(errors.end(), error.data_ptr<double>(), error.data_ptr<double>() + error.numel());
    seen += error.numel();
  }
  double smooth = 0;
  for (double e : errors) smooth = 0.9 * smooth + e;
  std::printf("%zu %lld %.9f\n", errors.size(), static_cast<long long>(seen.item<int64_t>()), smooth);
  torch::save(net, "net.pt");
}
