// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// Functions of the program's own that print or average whatever they get: templates, variadic ones, generic lambdas, a class template with two
// instances. What they do with the rows of a batch stands at their calls.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace F = hvd::nn::functional;

class Logger {
 public:
  template <typename T>
  Logger& operator<<(const T& value) {
    std::cout << value;
    return *this;
  }
};

template <typename... Args>
void say(const char* format, Args... args) {
  std::printf(format, args...);
}

template <typename... Args>
std::string join(Args&&... args) {
  std::ostringstream out;
  out << std::setprecision(8);
  ((out << args << ';'), ...);
  return out.str();
}

template <typename T>
class Mean {
 public:
  void update(T value, std::size_t n = 1) {
    sum_ += value * static_cast<T>(n);
    n_ += n;
  }
  T value() const { return sum_ / static_cast<T>(n_); }

 private:
  T sum_{};
  std::size_t n_ = 0;
};

int main(int argc, char** argv) {
  hvd::set_default_dtype(hvd::kFloat64);
  const std::int64_t batch_size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.1;
  std::cout << std::setprecision(10);
  hvd::manual_seed(7);
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(hvd::randn({50, 4}), hvd::randint(3, {50})), hvd::data::DataLoaderOptions(batch_size));
  hvd::nn::Linear net(4, 3);
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(rate));
  Logger log;
  const auto show = [](auto&&... xs) { ((std::cout << xs << ' '), ...); };
  Mean<double> losses, rates;
  Mean<float> rough;
  for (int epoch = 0; epoch < 2; ++epoch) {
    try {
      for (auto& batch : *loader) {
        const auto out = net->forward(batch.data);
        auto each = F::cross_entropy(out, batch.target, F::CrossEntropyFuncOptions().reduction(hvd::kNone));
        auto loss = each.mean();
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
        losses.update(loss.item<double>(), static_cast<std::size_t>(batch.data.size(0)));
        rates.update(rate);
        rough.update(0.5F, static_cast<std::size_t>(batch.data.size(0)));
        log << "rows " << batch.data.size(0) << " loss " << loss.item<double>() << "\n";
        say("%s %ld\n", "rows", static_cast<long>(batch.data.size(0)));
        show("rows", batch.data.size(0), join("hits", out.argmax(1).eq(batch.target).sum().item<std::int64_t>()));
        std::cout << "worst " << each.argmax().item<std::int64_t>() << "\n";
      }
      if (epoch == 1) throw std::runtime_error("after " + std::to_string(epoch));
    } catch (const std::exception& e) {
      std::cout << e.what() << " " << losses.value() << " " << rates.value() / rate << " " << rough.value() << std::endl;
    }
  }
  hvd::save(net, "net.safetensors");
}
