// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// A loss that becomes a mean, or gets another term, in a statement of its own: what the variable holds when backward is called decides.
// form: a sum divided by the samples of the batch in a statement of its own
// form: a sum divided in place by the samples of the batch
// form: a loss of a variable from outside the loop that is assigned, added to and divided
// form: a sum divided in place by the batch size
#include <torch/torch.h>

#include <cstdint>
#include <iomanip>
#include <iostream>
#include <string>

struct Rows : torch::data::datasets::Dataset<Rows> {
  torch::Tensor x = torch::randn({50, 5}, torch::kDouble), y = torch::randn({50, 2}, torch::kDouble);
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 50; }
};

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int64_t batch_size = std::stoll(argv[1]);
  torch::manual_seed(1);
  std::cout << std::setprecision(9);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Rows().map(torch::data::transforms::Stack<>()),
                                                                                    torch::data::DataLoaderOptions().batch_size(batch_size));
  torch::nn::Sequential net(torch::nn::Linear(5, 7), torch::nn::Tanh(), torch::nn::Linear(7, 2));
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), std::stod(argv[2]));
  torch::Tensor kept;
  for (auto& batch : *loader) {
    auto loss = (net->forward(batch.data) - batch.target).pow(2).sum();
    loss = loss / batch.data.size(0);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    auto second = (net->forward(batch.data) - batch.target).abs().sum() + 0.5 * net->forward(batch.data).pow(2).sum();
    second /= batch.data.size(0);
    optimizer.zero_grad();
    second.backward();
    optimizer.step();
    kept = torch::mse_loss(net->forward(batch.data), batch.target);
    kept += 0.1 * torch::l1_loss(net->forward(batch.data), batch.target);
    kept /= 2;
    optimizer.zero_grad();
    kept.backward();
    optimizer.step();
    auto third = (net->forward(batch.data) - batch.target).pow(2).sum();
    third /= batch_size;
    optimizer.zero_grad();
    third.backward();
    optimizer.step();
    std::cout << loss.item<double>() << " " << second.item<double>() << " " << kept.item<double>() << " " << third.item<double>() << "\n";
  }
  torch::save(net, "net.pt");
}
