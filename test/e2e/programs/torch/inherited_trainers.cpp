// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: a trainer class template whose constructor a derived class takes over by `using`
// form: losses in a list in braces, in the head of the loop that prints them with their names
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

struct Data : torch::data::datasets::Dataset<Data> {
  torch::Tensor x = torch::randn({43, 3}), y = torch::randn({43, 1});
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 43; }
};

template <class Loader>
class Trainer {
 public:
  Trainer(torch::nn::Linear& net, Loader& loader, torch::optim::SGD& optimizer) : net_(net), loader_(loader), optimizer_(optimizer) {}
  virtual ~Trainer() = default;
  void train() {
    for (auto& batch : *loader_) {
      auto out = net_(batch.data);
      auto loss = criterion(out, batch.target);
      auto distance = torch::l1_loss(out, batch.target).detach();
      optimizer_.zero_grad();
      loss.backward();
      optimizer_.step();
      for (auto& [name, value] : std::vector<std::pair<const char*, torch::Tensor>>{{"loss", loss.detach()}, {"distance", distance}})
        std::printf("%s %.9f ", name, value.template item<double>());
      std::printf("\n");
    }
  }

 protected:
  virtual torch::Tensor criterion(const torch::Tensor& out, const torch::Tensor& wanted) = 0;
  torch::nn::Linear& net_;
  Loader& loader_;
  torch::optim::SGD& optimizer_;
};

template <class Loader>
struct SquareTrainer : Trainer<Loader> {
  using Trainer<Loader>::Trainer;
  torch::Tensor criterion(const torch::Tensor& out, const torch::Tensor& wanted) override { return torch::mse_loss(out, wanted); }
};

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Data().map(torch::data::transforms::Stack<>()), argc > 1 ? std::atoi(argv[1]) : 8);
  torch::nn::Linear net(3, 1);
  torch::optim::SGD optimizer(net->parameters(), argc > 2 ? std::atof(argv[2]) : 0.05);
  SquareTrainer<decltype(loader)> trainer(net, loader, optimizer);
  for (int epoch = 0; epoch < 2; ++epoch) trainer.train();
  torch::save(net, "net.pt");
  return 0;
}
