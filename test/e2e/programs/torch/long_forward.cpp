// e2e: args=; scaled={6*N} {0.05*N}; ranks=1,3; timeout=90
// A network whose forward gives one variable a new value many times, each made from the one before, twice.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

struct NetImpl : torch::nn::Module {
  NetImpl() {
    l0 = register_module("l0", torch::nn::Linear(4, 4));
    l1 = register_module("l1", torch::nn::Linear(4, 4));
    l2 = register_module("l2", torch::nn::Linear(4, 4));
  }
  torch::Tensor forward(torch::Tensor x) {
    torch::Tensor h;
    h = torch::tanh(l0(x));
    h = torch::relu(l0(h)) + 0.1 * h;
    h = torch::relu(l1(h)) + 0.1 * h;
    h = torch::relu(l2(h)) + 0.1 * h;
    h = torch::relu(l0(h)) + 0.1 * h;
    h = torch::relu(l1(h)) + 0.1 * h;
    h = torch::relu(l2(h)) + 0.1 * h;
    h = torch::relu(l0(h)) + 0.1 * h;
    h = torch::relu(l1(h)) + 0.1 * h;
    h = torch::relu(l2(h)) + 0.1 * h;
    h = torch::relu(l0(h)) + 0.1 * h;
    h = torch::relu(l1(h)) + 0.1 * h;
    h = torch::relu(l2(h)) + 0.1 * h;
    h = torch::relu(l0(h)) + 0.1 * h;
    h = torch::relu(l1(h)) + 0.1 * h;
    h = torch::relu(l2(h)) + 0.1 * h;
    h = torch::relu(l0(h)) + 0.1 * h;
    h = torch::relu(l1(h)) + 0.1 * h;
    h = torch::relu(l2(h)) + 0.1 * h;
    h = torch::relu(l0(h)) + 0.1 * h;
    h = torch::relu(l1(h)) + 0.1 * h;
    h = torch::relu(l2(h)) + 0.1 * h;
    h = torch::relu(l0(h)) + 0.1 * h;
    h = torch::relu(l1(h)) + 0.1 * h;
    h = torch::relu(l2(h)) + 0.1 * h;
    return h.sum(1, true);
  }
  torch::nn::Linear l0{nullptr}, l1{nullptr}, l2{nullptr};
};
TORCH_MODULE(Net);

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 6;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(5);
  Net net;
  net->to(torch::kFloat64);
  auto x = torch::rand({26, 4}, torch::kFloat64), y = x.sum(1, true);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int64_t i = 0; i < 26; i += batch) {
    auto loss = torch::mse_loss(net(x.slice(0, i, i + batch)), y.slice(0, i, i + batch));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("loss %.9f\n", loss.item<double>());
  }
  torch::save(net, "trained.pt");
}
