// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: batches of the positions between two iterators or pointers, whose distance is the number of rows
#include <torch/torch.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <vector>

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const auto xs = torch::randn({45, 5}), ys = torch::sin(xs.sum(1, true));
  torch::nn::Linear net(5, 1);
  torch::optim::SGD optimizer(net->parameters(), argc > 2 ? std::atof(argv[2]) : 0.05);
  std::vector<int64_t> order(45);
  std::iota(order.begin(), order.end(), 0);
  for (auto first = order.begin(); first != order.end();) {
    auto last = first;
    std::advance(last, std::min<std::ptrdiff_t>(batch, std::distance(first, order.end())));
    const auto rows = torch::from_blob(&*first, {last - first}, torch::kLong).clone();
    const auto loss = torch::mse_loss(net(xs.index_select(0, rows)), ys.index_select(0, rows));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    first = last;
    std::printf("advanced %.9f\n", loss.item<double>());
  }
  for (auto first = order.begin(); first != order.end();) {
    const auto last = order.end() - first > batch ? first + batch : order.end();
    const auto rows = torch::tensor(std::vector<int64_t>(first, last));
    const auto loss = torch::mse_loss(net(xs.index_select(0, rows)), ys.index_select(0, rows));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    first = last;
    std::printf("chosen %.9f\n", loss.item<double>());
  }
  for (int64_t *first = order.data(), *end = first + order.size(); first < end;) {
    int64_t* last = first;
    last += std::min<int64_t>(batch, end - first);
    const auto rows = torch::from_blob(first, {last - first}, torch::kLong).clone();
    const auto loss = torch::mse_loss(net(xs.index_select(0, rows)), ys.index_select(0, rows));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    first = last;
    std::printf("pointed %.9f\n", loss.item<double>());
  }
  for (auto first = order.begin(); first != order.end();) {
    auto last = first;
    const auto left = std::distance(first, order.end());
    if (left > batch) std::advance(last, batch);
    else last = order.end();
    auto rows = torch::empty({std::distance(first, last)}, torch::kLong);
    std::copy(first, last, rows.data_ptr<int64_t>());
    const auto loss = torch::mse_loss(net(xs.index_select(0, rows)), ys.index_select(0, rows));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    first = last;
    std::printf("copied %.9f\n", loss.item<double>());
  }
  return 0;
}
