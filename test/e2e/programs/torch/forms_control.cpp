// SPDX-License-Identifier: Apache-2.0
// e2e: shortcuts=bodies; name=forms_control; args=train; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=forms_control_inference; args=infer; modes=global; ranks=2; timeout=120
// Control flow around the step, saving and showing things on the way: one training for each form, one after another.
#include <torch/torch.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace F = torch::nn::functional;

namespace {

int64_t batch_size = 6;
double rate = 0.05;
constexpr int64_t kRows = 40;

struct Data {
  Data() {
    auto i = torch::arange(kRows * 5, torch::kDouble);
    x = torch::sin(i * 0.73).reshape({kRows, 5});
    y = torch::cos(x.sum(1, true) * 2);
    label = torch::arange(kRows).mul(7).remainder(3);
  }
  torch::Tensor rows(const torch::Tensor& t, int64_t at) const { return t.slice(0, at, std::min(at + batch_size, kRows)); }
  torch::Tensor x, y, label;
};

torch::nn::Sequential make_net(int64_t outputs) {
  torch::nn::Sequential net(torch::nn::Linear(5, 6), torch::nn::Tanh(), torch::nn::Linear(6, outputs));
  net->to(torch::kDouble);
  return net;
}

void show(const char* form, torch::nn::Sequential& net) {
  std::cout << form;
  for (const auto& p : net->parameters()) std::cout << ' ' << p.sum().item<double>();
  std::cout << std::endl;
}

// form: break or return on NaN
bool stop_on_nan() {
  torch::manual_seed(1);
  Data data;
  auto net = make_net(1);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int64_t at = 0; at < kRows; at += batch_size) {
      auto x = data.rows(data.x, at);
      // One row goes bad: whichever rank has it, all stop.
      if (epoch == 1 && at > 0) x = torch::where(x > 0.999, torch::full_like(x, std::numeric_limits<double>::quiet_NaN()), x);
      auto loss = torch::mse_loss(net->forward(x), data.rows(data.y, at));
      if (std::isnan(loss.item<double>())) {
        std::cerr << "diverged\n";
        show("stopped", net);
        return false;
      }
      if (loss.item().toDouble() > 1e6) break;
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    show("epoch", net);
  }
  return true;
}

// form: goto
// form: do-while
// form: early stopping
void jumps() {
  torch::manual_seed(2);
  Data data;
  auto net = make_net(1);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate).momentum(0.5));
  int epoch = 0, waited = 0;
  double best = std::numeric_limits<double>::infinity();
  do {
    double total = 0;
    int64_t at = 0;
    do {
      auto loss = torch::mse_loss(net->forward(data.rows(data.x, at)), data.rows(data.y, at));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>();
      if (total > 1e9) goto done;
      at += batch_size;
    } while (at < kRows);
    waited = total < best - 0.05 ? 0 : waited + 1;
    if (total < best) best = total;
    if (waited > 2) goto done;
  } while (++epoch < 4);
done:
  std::cout << "jumps " << epoch << ' ' << best << '\n';
  show("jumps", net);
}

// form: throw and catch-all around the loop
void exceptions() {
  torch::manual_seed(3);
  Data data;
  auto net = make_net(3);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
  int steps = 0;
  try {
    for (int epoch = 0; epoch < 3; ++epoch)
      for (int64_t at = 0; at < kRows; at += batch_size) {
        auto loss = F::cross_entropy(net->forward(data.rows(data.x, at)), data.rows(data.label, at));
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
        if (++steps == 4) throw std::runtime_error("enough");
      }
  } catch (const std::exception& e) {
    std::cout << "caught " << e.what() << '\n';
  } catch (...) {
    std::cout << "caught something\n";
  }
  show("exceptions", net);
}

// form: side effects inside a print or a condition
// form: if (c) save(); without braces
// form: periodic checkpoint
void side_effects(const std::string& path) {
  torch::manual_seed(4);
  Data data;
  auto net = make_net(1);
  torch::optim::SGD optimizer(net->parameters(), rate);
  int step = 0, saved = 0;
  const auto train_batch = [&](int64_t at) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(net->forward(data.rows(data.x, at)), data.rows(data.y, at));
    loss.backward();
    optimizer.step();
    return loss.item<double>();
  };
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (int64_t at = 0; at < kRows; at += batch_size) {
      std::cout << "step " << ++step << " loss " << train_batch(at) << '\n';
      if (step % 3 == 0) torch::save(net, path), ++saved;
      if (step % 4 == 0)
        std::printf("saved %d, noise %.6f\n", saved, torch::rand({1}, torch::kDouble).item<double>());
    }
  }
  // What was drawn in a print has been drawn on every rank.
  std::cout << "next " << torch::rand({1}, torch::kDouble).item<double>() << '\n';
  show("side effects", net);
}

// form: guards whose scope holds a NoGradGuard or a declaration used later
// form: image dump
// form: CSV
void guards(const std::string& csv) {
  torch::manual_seed(5);
  Data data;
  auto net = make_net(1);
  torch::optim::SGD optimizer(net->parameters(), rate);
  std::ofstream log(csv);
  log << "step,loss,out\n";
  int step = 0;
  for (int64_t at = 0; at < kRows; at += batch_size) {
    auto output = net->forward(data.rows(data.x, at));
    auto loss = torch::mse_loss(output, data.rows(data.y, at));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (++step % 2 == 0) {
      torch::NoGradGuard no_grad;
      net->eval();
      const auto fixed = net->forward(data.x.slice(0, 0, 4));
      const double mean = fixed.mean().item<double>();
      log << step << ',' << loss.item<double>() << ',' << mean << '\n';
      std::ofstream picture(csv + ".pgm");
      picture << "P2 4 1 255\n";
      for (int64_t i = 0; i < 4; ++i) picture << static_cast<int>(std::lround(100 + 20 * fixed[i].item<double>())) << (i < 3 ? ' ' : '\n');
      net->train();
    }
    torch::NoGradGuard no_grad;
    const double norm = net->parameters()[0].norm().item<double>();
    if (norm > 1e6) break;
  }
  show("guards", net);
}

// form: types with a step() that is not training
struct Simulation {
  double step(double dt) { return position += dt * std::cos(position); }
  double position = 0.3;
};

// form: save inside the batch loop, then a load
// form: wall-clock limit
// form: progress bar
void save_and_load(const std::string& path) {
  torch::manual_seed(6);
  Data data;
  auto net = make_net(3);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate).momentum(0.9));
  Simulation simulation;
  double best = 1e9;
  const auto start = std::chrono::steady_clock::now();
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (int64_t at = 0; at < kRows; at += batch_size) {
      auto output = net->forward(data.rows(data.x, at));
      auto loss = F::cross_entropy(output, data.rows(data.label, at));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      simulation.step(0.1);
      if (loss.item<double>() < best) {
        best = loss.item<double>();
        torch::save(net, path);
        torch::save(optimizer, path + ".opt");
      }
      std::cout << "\r" << std::string(static_cast<size_t>((at + batch_size) * 20 / kRows), '=') << std::flush;
      if (std::chrono::steady_clock::now() - start > std::chrono::minutes(30)) break;
    }
    torch::load(net, path);
    torch::load(optimizer, path + ".opt");
  }
  std::cout << "\nbest " << best << ' ' << simulation.position << '\n';
  show("loaded", net);
}

// form: own GradScaler
class Scaler {
 public:
  torch::Tensor scale(const torch::Tensor& loss) const { return loss * factor_; }
  void step(torch::optim::Optimizer& optimizer) {
    bool finite = true;
    for (auto& group : optimizer.param_groups())
      for (auto& p : group.params())
        if (p.grad().defined()) {
          p.mutable_grad().div_(factor_);
          finite = finite && torch::isfinite(p.grad()).all().item<bool>();
        }
    if (finite) optimizer.step();
    factor_ = finite ? (++good_ % 3 == 0 ? factor_ * 2 : factor_) : factor_ / 2;
  }
  double factor() const { return factor_; }

 private:
  double factor_ = 1024;
  int good_ = 0;
};

void scaled_loss() {
  torch::manual_seed(7);
  Data data;
  auto net = make_net(3);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
  Scaler scaler;
  for (int64_t at = 0; at < kRows; at += batch_size) {
    auto loss = F::cross_entropy(net->forward(data.rows(data.x, at)), data.rows(data.label, at));
    optimizer.zero_grad();
    scaler.scale(loss).backward();
    scaler.step(optimizer);
    std::cout << "scaled " << loss.item<double>() << '\n';
  }
  std::cout << "factor " << scaler.factor() << '\n';
  show("scaled", net);
}

// form: evaluation without a loader
// form: confusion matrix
void infer(torch::nn::Sequential& net) {
  torch::NoGradGuard no_grad;
  net->eval();
  Data data;
  auto matrix = torch::zeros({3, 3}, torch::kLong);
  const auto said = net->forward(data.x).argmax(1);
  for (int64_t i = 0; i < kRows; ++i) matrix[data.label[i].item<int64_t>()][said[i].item<int64_t>()] += 1;
  std::cout << matrix << '\n';
}

}  // namespace

// form: training and inference modes in one main
// form: std::exit, argc and argv
int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode != "train" && mode != "infer") {
    std::fprintf(stderr, "usage: %s train|infer [batch rate]\n", argv[0]);
    std::exit(2);
  }
  std::cout.precision(11);
  if (mode == "infer") {
    torch::manual_seed(8);
    auto net = make_net(3);
    infer(net);
    return 0;
  }
  if (argc == 4) batch_size = std::atol(argv[2]), rate = std::atof(argv[3]);
  std::cout << std::boolalpha << stop_on_nan() << '\n';
  jumps();
  exceptions();
  side_effects("side.pt");
  guards("log.csv");
  save_and_load("best.pt");
  scaled_loss();
  const char* wished = std::getenv("FORMS_SEED");
  torch::manual_seed(wished ? std::strtoull(wished, nullptr, 10) : 8);
  auto net = make_net(3);
  infer(net);
  return 0;
}
