// e2e: scaled={8*N} {0.1*N}; ranks=1,2; timeout=60
// Devices that members get from a parameter that is moved, from one of two, from a list.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

struct Place {
  torch::Device device;
  explicit Place(torch::Device d) : device(std::move(d)) {}
};

struct Shared {
  std::shared_ptr<torch::Device> device;
  explicit Shared(std::shared_ptr<torch::Device> d) : device(std::move(d)) {}
};

struct Either {
  torch::Device device;
  Either(const torch::Device& gpu, const torch::Device& cpu) : device(torch::cuda::is_available() ? gpu : cpu) {}
};

struct First {
  torch::Device device;
  explicit First(const std::vector<torch::Device>& devices) : device(devices[0]) {}
};

int main(int argc, char** argv) {
  const int64_t batch = std::stoll(argv[1]);
  const double rate = std::stod(argv[2]);
  torch::manual_seed(1);
  const Place place{torch::Device(torch::kCPU)};
  const Shared shared(std::make_shared<torch::Device>(torch::kCPU));
  auto own = std::make_unique<torch::Device>(torch::kCPU);
  const Either either(place.device, place.device);
  const First first({place.device, either.device});
  auto x = torch::rand({50, 3}, torch::kDouble).to(place.device);
  auto y = x.sum(1, true).to(*shared.device);
  torch::nn::Linear net(3, 1);
  net->to(*own, torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int64_t i = 0; i < 50; i += batch) {
    const auto rows = torch::indexing::Slice(i, std::min<int64_t>(i + batch, 50));
    auto loss = torch::mse_loss(net->forward(x.index({rows})).to(first.device), y.index({rows}));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  std::cout << std::setprecision(12) << net->weight << std::endl;
}
