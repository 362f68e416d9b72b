// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=90
// Schedules of the program's own, which keep the rates that they have read from the optimizer, or give rates of their own: each is scaled once.
#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <string>
#include <unordered_map>
#include <vector>

// form: base rates in a list that is filled from the optimizer's groups
class Falling {
 public:
  explicit Falling(torch::optim::Optimizer& optimizer) : optimizer_(optimizer) {
    for (auto& group : optimizer_.param_groups()) base_.push_back(group.options().get_lr());
  }
  void step() {
    ++steps_;
    size_t i = 0;
    for (auto& group : optimizer_.param_groups()) group.options().set_lr(base_[i++] / (1 + 0.1 * steps_));
  }

 private:
  torch::optim::Optimizer& optimizer_;
  std::vector<double> base_;
  int steps_ = 0;
};

// form: the rate in a record, changed there by a factor
struct Kept {
  double rate, now;
};

// form: a schedule derived from the framework's whose rates are written out
struct Written : torch::optim::LRScheduler {
  Written(torch::optim::Optimizer& optimizer, double first) : LRScheduler(optimizer), first_(first) {}
  std::vector<double> get_lrs() override { return std::vector<double>(get_current_lrs().size(), first_ / (1 + 0.2 * step_count_)); }
  double first_;
};

template <class Step>
void train(const char* name, torch::nn::Linear& net, torch::optim::SGD& optimizer, const torch::Tensor& x, int64_t batch, Step step) {
  for (int64_t i = 0; i < x.size(0); i += batch) {
    auto rows = x.slice(0, i, std::min(i + batch, x.size(0)));
    auto loss = torch::mse_loss(net(rows), rows.flip(1));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    step();
  }
  std::cout << name << " " << optimizer.param_groups()[0].options().get_lr() << " " << net->weight.sum().item<double>() << "\n";
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int64_t batch = std::stoll(argv[1]);
  const double rate = std::stod(argv[2]);
  torch::manual_seed(33);
  std::cout << std::setprecision(9);
  auto x = torch::randn({77, 5}, torch::kDouble);
  torch::nn::Linear net(5, 5);
  net->to(torch::kDouble);
  {
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
    Falling schedule(optimizer);
    train("falling", net, optimizer, x, batch, [&] { schedule.step(); });
  }
  {
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
    std::vector<Kept> kept;
    for (auto& group : optimizer.param_groups()) kept.push_back({group.options().get_lr(), 0});
    train("kept", net, optimizer, x, batch, [&] {
      for (size_t k = 0; k < kept.size(); ++k) {
        kept[k].rate *= 0.9;
        kept[k].now = kept[k].rate + kept[k].now * 0;
        optimizer.param_groups()[k].options().set_lr(kept[k].rate);
      }
    });
  }
  {
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
    Written schedule(optimizer, rate);
    train("written", net, optimizer, x, batch, [&] { schedule.step(); });
  }
  {
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
    std::unordered_map<size_t, double> base;
    for (size_t k = 0; k < optimizer.param_groups().size(); ++k) base.emplace(k, optimizer.param_groups()[k].options().get_lr());
    train("by number", net, optimizer, x, batch, [&] { optimizer.param_groups()[0].options().set_lr(base.at(0) * 0.9); });
  }
  {
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
    std::vector<double> base;
    std::transform(optimizer.param_groups().begin(), optimizer.param_groups().end(), std::back_inserter(base),
                   [](const auto& group) { return group.options().get_lr(); });
    train("inserted", net, optimizer, x, batch, [&] { optimizer.param_groups()[0].options().set_lr(base.front() * 0.8); });
  }
  torch::save(net, "net.pt");
}
