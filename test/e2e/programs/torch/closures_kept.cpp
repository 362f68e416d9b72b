// SPDX-License-Identifier: Apache-2.0
// e2e: name=closure_kept_in_a_variable; scaled={6*N} {0.05*N**0.5}; ranks=1,2,3; timeout=90
// e2e: name=closure_kept_in_a_function_object; cxx=-DFORM=1; scaled={6*N} {0.05*N**0.5}; ranks=1,2,3; timeout=90
// form: a text that is put together from many numbers
// form: a closure that is kept in a variable, handed to the step of an optimizer that calls it once
// An optimizer steps with a closure that is kept in a variable: the loader's batches grow with the rate. What is printed is put together from many numbers.
#include <torch/torch.h>

#include <functional>
#include <iostream>
#include <string>

struct Data : torch::data::datasets::Dataset<Data> {
  torch::Tensor x = torch::rand({40, 3}, torch::kDouble), y = x.sum(1, true) - 0.5;
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 40; }
};

struct Result {
  double loss = 0, error = 0, worst = 0;
  int64_t samples = 0;
};

static std::string line(int epoch, const Result& r) {
  return "epoch " + std::to_string(epoch) + ": loss " + std::to_string(r.loss) + ", error " + std::to_string(r.error) + ", worst " + std::to_string(r.worst) + " of " +
         std::to_string(r.samples) + " samples, " + std::to_string(r.loss / 2) + " half, " + std::to_string(r.error * 2) + " twice, " + std::to_string(r.worst - r.error) +
         " above, in " + std::to_string(epoch + 1) + " passes, " + std::to_string(r.loss + r.error) + " together, " + std::to_string(r.loss - r.error) + " apart";
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  torch::manual_seed(3);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Data().map(torch::data::transforms::Stack<>()), std::stoi(argv[1]));
  torch::nn::Linear net(3, 1);
  net->to(torch::kDouble);
  torch::optim::Adam optimizer(net->parameters(), std::stod(argv[2]));
  for (int epoch = 0; epoch < 2; ++epoch) {
    Result result;
    for (auto& batch : *loader) {
      torch::Tensor out;
#if FORM == 1
      std::function<torch::Tensor()> closure = [&]() {
#else
      auto closure = [&]() {
#endif
        optimizer.zero_grad();
        out = net(batch.data);
        auto loss = torch::mse_loss(out, batch.target);
        loss.backward();
        return loss;
      };
      const torch::Tensor loss = optimizer.step(closure);
      const torch::Tensor error = (out.detach() - batch.target).abs();
      result.loss += loss.item<double>() * batch.data.size(0);
      result.error += error.sum().item<double>();
      result.worst = std::max(result.worst, error.max().item<double>());
      result.samples += batch.data.size(0);
    }
    result.loss /= result.samples;
    const std::string text = line(epoch, result);
    std::cout << text << "\n";
  }
  torch::save(net, "net.pt");
  return 0;
}
