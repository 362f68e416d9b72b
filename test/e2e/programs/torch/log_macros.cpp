// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// A macro that begins a line of a log: the stream that it hands on stands in its text.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>
#include <sstream>

class Line {
 public:
  explicit Line(std::ostream& out) : out_(out) { text_ << std::setprecision(10); }
  ~Line() { out_ << "[train] " << text_.str() << std::endl; }
  template <class T>
  Line& operator<<(const T& value) {
    text_ << value;
    return *this;
  }

 private:
  std::ostringstream text_;
  std::ostream& out_;
};

#define INFO Line(std::cout)
#define NOTE(text) Line(std::cout) << "note: " << (text)

int main(int argc, char** argv) {
  const int64_t batch = std::stoll(argv[1]);
  const double rate = std::stod(argv[2]);
  torch::manual_seed(1);
  torch::nn::Linear net(3, 1);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  auto x = torch::rand({50, 3}, torch::kDouble), y = x.sum(1, true);
  INFO << "begins";
  for (int epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    for (int64_t i = 0; i < 50; i += batch) {
      const auto end = std::min<int64_t>(i + batch, 50);
      auto in = x.slice(0, i, end);
      auto loss = torch::mse_loss(net->forward(in), y.slice(0, i, end));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
      INFO << "from " << i << ": " << in.size(0) << " samples, loss " << loss.item<double>();
    }
    NOTE("epoch " + std::to_string(epoch));
    if (epoch > 0) INFO << sum;
  }
  torch::save(net, "net.pt");
}
