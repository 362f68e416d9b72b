// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: a loader class of the program's own, constructed with a size for training and with another for evaluation, both handed to the function that trains
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

class Loader {
 public:
  Loader(torch::Tensor x, torch::Tensor y, int64_t size) : x_(std::move(x)), y_(std::move(y)), size_(size) {}
  void reset() { at_ = 0; }
  bool has_next() const { return at_ < x_.size(0); }
  std::pair<torch::Tensor, torch::Tensor> next() {
    const auto end = std::min(at_ + size_, x_.size(0));
    auto x = x_.slice(0, at_, end), y = y_.slice(0, at_, end);
    at_ = end;
    return {x, y};
  }

 private:
  torch::Tensor x_, y_;
  int64_t size_, at_ = 0;
};

void train(torch::nn::Linear& net, torch::optim::SGD& optimizer, Loader& training, Loader& held) {
  for (int epoch = 0; epoch < 3; ++epoch) {
    training.reset();
    while (training.has_next()) {
      auto [x, y] = training.next();
      auto loss = torch::mse_loss(net(x), y);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    torch::NoGradGuard guard;
    held.reset();
    double total = 0;
    int batches = 0;
    while (held.has_next()) {
      auto [x, y] = held.next();
      total += torch::mse_loss(net(x), y).item<double>();
      ++batches;
    }
    std::printf("epoch %d loss %.9f of %d batches\n", epoch, total / batches, batches);
  }
}

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  Loader training(torch::randn({43, 3}), torch::randn({43, 1}), argc > 1 ? std::atoi(argv[1]) : 8);
  Loader held(torch::randn({40, 3}), torch::randn({40, 1}), 16);
  torch::nn::Linear net(3, 1);
  torch::optim::SGD optimizer(net->parameters(), argc > 2 ? std::atof(argv[2]) : 0.05);
  train(net, optimizer, training, held);
  torch::save(net, "net.pt");
  return 0;
}
