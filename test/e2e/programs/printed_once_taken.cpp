// e2e: modes=global; ranks=1,2,3; timeout=60
// Prints that take away, run or move on what they show: on every rank, for all of them go on with what is left.
#include <hvd/hvd.hpp>

#include <fstream>
#include <functional>
#include <future>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <ranges>
#include <sstream>
#include <string>
#include <vector>

namespace F = hvd::nn::functional;

struct Rows : hvd::data::Dataset {
  Rows() : x(hvd::randn({50, 5})), y((x.matmul(hvd::randn({5, 3}))).argmax(1)) {}
  hvd::data::Example get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  size_t size() const override { return 50; }
  hvd::Tensor x, y;
};

class Messages {
 public:
  void add(const std::string& line) { text_ += line; }
  std::string take() { return std::move(text_); }
  size_t size() const { return text_.size(); }

 private:
  std::string text_;
};

int main() {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(1);
  auto loader = hvd::data::make_data_loader(Rows(), hvd::data::DataLoaderOptions(8));
  hvd::nn::Linear net(5, 3);
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(0.1));
  std::cout << std::setprecision(10);
  Messages messages;
  std::istringstream words("one two three four five six seven"), rest("a rest of a text");
  std::future<double> pending;
  const std::vector<int> numbers = {1, 2, 3};
  int asked = 0, taken = 0, calls = 0;
  auto lazy = numbers | std::views::transform([&](int k) {
    ++asked;
    return k * k;
  });
  const std::function<int()> next = [&] { return ++calls; };
  for (int epoch = 0; epoch < 4; ++epoch) {
    double sum = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = F::cross_entropy(net->forward(batch.data), batch.target);
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
    }
    messages.add("epoch " + std::to_string(epoch) + "\n");
    if (epoch % 2 == 1) std::cout << messages.take();
    if (pending.valid()) std::cout << "last " << pending.get() << "\n";
    if (!pending.valid()) {
      ++taken;
      pending = std::async(std::launch::deferred, [sum] { return 2 * sum; });
    }
    std::cout << "first square " << *lazy.begin() << "\n";
    std::cout << "call " << std::ref(next)() << "\n";
    words.seekg(0);
    std::string word;
    words >> word;
    std::cout << "then " << static_cast<char>(words.get()) << static_cast<char>(words.get()) << "\n";
    words >> word;
    if (epoch == 2) std::cout << std::string(std::istreambuf_iterator<char>(rest), {}) << "\n";
    const int left = rest.get() == EOF ? 1 : 0;
    rest.clear();
    rest.seekg(0);
    optimizer.set_lr(0.1 / (1.0 + asked + taken + calls + left + static_cast<double>(messages.size() + word.size())));
  }
  hvd::save(net, "net.safetensors");
}
