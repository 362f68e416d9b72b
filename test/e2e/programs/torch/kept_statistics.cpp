// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: a buffer set from a mean of the batch by copy_(), running
// form: a buffer set from the first batch: assigned, by copy_(), by data().copy_(), by set_data()
// form: losses of a step kept in a list for the weights of the next one
// form: a normaliser of the program's own, whose running mean is assigned and whose rows the model gets
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

struct NetImpl : torch::nn::Module {
  explicit NetImpl(int form) : form(form) {}
  torch::Tensor forward(const torch::Tensor& x) {
    auto act = torch::tanh(a(x));
    if (form == 0 && is_training()) {
      torch::NoGradGuard guard;
      mean.copy_(0.9 * mean + 0.1 * act.mean(0));
    } else if (form > 0 && !ready) {
      start(act.detach());
      ready = true;
    }
    return b(act - mean);
  }
  void start(const torch::Tensor& act) {
    if (form == 1) mean = act.mean(0);
    if (form == 2) mean.copy_(act.mean(0));
    if (form == 3) mean.data().copy_(act.mean(0));
    if (form == 4) mean.set_data(act.mean(0));
  }
  int form;
  bool ready = false;
  torch::nn::Linear a{register_module("a", torch::nn::Linear(4, 6))}, b{register_module("b", torch::nn::Linear(6, 1))};
  torch::Tensor mean{register_buffer("mean", torch::zeros({6}))};
};
TORCH_MODULE(Net);

struct Normaliser {
  torch::Tensor mean = torch::zeros({4});
  void update(const torch::Tensor& x) { mean = 0.9 * mean + 0.1 * x.mean(0); }
  torch::Tensor apply(const torch::Tensor& x) const { return x - mean; }
};

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  const auto xs = torch::randn({43, 4}), ys = torch::randn({43, 1});
  std::vector<torch::Tensor> results;
  for (int form = 0; form < 7; ++form) {
    Net net(form);
    torch::optim::SGD optimizer(net->parameters(), rate);
    Normaliser normaliser;
    std::vector<torch::Tensor> last(2, torch::ones({}));
    double total = 0;
    for (int64_t at = 0; at < 43; at += batch) {
      auto x = xs.slice(0, at, std::min<int64_t>(at + batch, 43)), y = ys.slice(0, at, std::min<int64_t>(at + batch, 43));
      if (form == 5) {
        normaliser.update(x);
        x = normaliser.apply(x);
      }
      auto out = net(x);
      auto square = torch::mse_loss(out, y), absolute = torch::l1_loss(out, y);
      auto loss = form == 6 ? square * last[1] / (last[0] + last[1]) + absolute * last[0] / (last[0] + last[1]) : square;
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      last = {square.detach(), absolute.detach()};
      total += loss.item<double>();
    }
    std::printf("form %d loss %.9f mean %.9f\n", form, total, net->mean.abs().sum().item<double>());
    for (auto& p : net->parameters()) results.push_back(p.detach());
    results.push_back(net->mean);
    results.push_back(normaliser.mean);
  }
  torch::save(results, "results.pt");
  return 0;
}
