// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// The head line of a table is written when there is no table yet: all ranks see what the root sees, for they wait for the file.
#include <torch/torch.h>

#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>

template <class Number>
class Table {
 public:
  explicit Table(std::string path) : path_(std::move(path)) {}
  void add(int epoch, Number loss) const {
    if (!std::filesystem::exists(path_)) {
      std::ofstream head(path_);
      head << "epoch;loss\n";
    }
    std::ofstream file(path_, std::ios::app);
    file << std::setprecision(10) << epoch << ";" << loss << "\n";
  }
  std::string text() const {
    std::ifstream file(path_);
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
  }

 private:
  std::string path_;
};
template class Table<double>;

int main(int argc, char** argv) {
  const int64_t batch = std::stoll(argv[1]);
  const double rate = std::stod(argv[2]);
  torch::manual_seed(1);
  torch::nn::Linear net(3, 1);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  auto x = torch::rand({50, 3}, torch::kDouble), y = x.sum(1, true);
  const Table<double> table("losses.csv");
  for (int epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    for (int64_t i = 0; i < 50; i += batch) {
      const auto end = std::min<int64_t>(i + batch, 50);
      auto loss = torch::mse_loss(net->forward(x.slice(0, i, end)), y.slice(0, i, end));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
    }
    table.add(epoch, sum);
    std::cout << table.text();
  }
  torch::save(net, "net.pt");
}
