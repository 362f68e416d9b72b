// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// Checkpoints that stay with the process: a target network copied through an archive in a text stream, the best weights kept in a string, bytes collected by a function.
#include <torch/torch.h>

#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

static void copy(torch::nn::Linear& from, torch::nn::Linear& to) {
  torch::serialize::OutputArchive out;
  from->save(out);
  std::stringstream buffer;
  out.save_to(buffer);
  torch::serialize::InputArchive in;
  in.load_from(buffer);
  to->load(in);
}

static void write(torch::nn::Linear& net, std::ostream& to) { torch::save(net, to); }

static std::string keep(torch::nn::Linear& net) {
  std::ostringstream text;
  write(net, text);
  return text.str();
}

static void put(torch::nn::Linear& net, const std::string& kept) {
  std::istringstream text(kept);
  torch::load(net, text);
}

int main(int argc, char** argv) {
  const int64_t batch = std::stoll(argv[1]);
  const double rate = std::stod(argv[2]);
  torch::manual_seed(1);
  torch::nn::Linear online(3, 1), target(3, 1);
  online->to(torch::kDouble), target->to(torch::kDouble);
  copy(online, target);
  torch::optim::SGD optimizer(online->parameters(), rate);
  auto x = torch::rand({50, 3}, torch::kDouble), y = x.sum(1, true);
  std::cout << std::setprecision(12);
  std::string best;
  std::vector<char> bytes;
  double least = 1e9;
  for (int epoch = 0; epoch < 4; ++epoch) {
    double sum = 0;
    for (int64_t i = 0; i < 50; i += batch) {
      const auto end = std::min<int64_t>(i + batch, 50);
      auto wanted = y.slice(0, i, end) + 0.5 * target->forward(x.slice(0, i, end)).detach();
      auto loss = torch::mse_loss(online->forward(x.slice(0, i, end)), wanted);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
    }
    copy(online, target);
    if (sum < least) {
      least = sum;
      best = keep(online);
      torch::save(online->weight, [&bytes](const void* data, size_t size) {
        bytes.assign(static_cast<const char*>(data), static_cast<const char*>(data) + size);
        return size;
      });
    }
    std::cout << epoch << " " << sum << " " << (best.size() > 100) << (bytes.size() > 10) << "\n";
  }
  if (!best.empty()) put(online, best);
  if (bytes.empty()) optimizer.zero_grad();
  std::ofstream file("net.pt", std::ios::binary);
  write(online, file);
}
