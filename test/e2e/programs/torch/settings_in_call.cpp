// SPDX-License-Identifier: Apache-2.0
// e2e: edit=batchSize = 12 => batchSize = {12*N}; edit=rate = 0.1 => rate = {0.1*N}; ranks=1,2,3; timeout=120
// form: settings in braces, made where a trainer class is called
// The batch size in them shapes the batch in a member function that stands in front of the call.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>

template <class Loader>
class Trainer {
 public:
  struct Settings {
    int epochs;
    int64_t batch;
    double rate;
  };
  Trainer(Loader&& loader, torch::nn::Linear net, const Settings& settings)
      : loader_(std::move(loader)), net_(net), settings_(settings), optimizer_(net->parameters(), settings.rate) {}

  void train() {
    for (int epoch = 0; epoch < settings_.epochs; ++epoch)
      for (auto& batch : *loader_) {
        auto rows = batch.data.view({settings_.batch, -1});
        optimizer_.zero_grad();
        auto loss = net_(rows).pow(2).mean();
        loss.backward();
        optimizer_.step();
        std::cout << std::setprecision(12) << loss.template item<double>() << '\n';
      }
  }

 private:
  Loader loader_;
  torch::nn::Linear net_;
  Settings settings_;
  torch::optim::SGD optimizer_;
};

const int64_t batchSize = 12;
const double rate = 0.1;

int main() {
  torch::manual_seed(3);
  auto x = torch::randn({72, 2, 2}, torch::kDouble);
  auto loader = torch::data::make_data_loader(torch::data::datasets::TensorDataset(x).map(torch::data::transforms::Stack<torch::data::Example<torch::Tensor, void>>()), batchSize);
  torch::nn::Linear net(4, 3);
  net->to(torch::kDouble);
  Trainer(std::move(loader), net, {2, batchSize, rate}).train();
  torch::save(net, "net.pt");
}
