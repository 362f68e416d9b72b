// SPDX-License-Identifier: Apache-2.0
// e2e: name=numbers_by_functions; cxx=-DFORM=1; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// e2e: name=numbers_in_objects; cxx=-DFORM=2; scaled={8*N} {0.05*N}; ranks=1,3; timeout=60
// e2e: name=numbers_in_lists; cxx=-DFORM=3; scaled={8*N} {0.05*N}; ranks=1,3; timeout=60
// e2e: name=numbers_by_steps; cxx=-DFORM=4; scaled={8*N} {0.05*N}; ranks=1,3; timeout=60
// e2e: name=numbers_of_powers; cxx=-DFORM=5; scaled={8*N} {0.05*N}; ranks=1,3; timeout=60
// e2e: name=numbers_between; cxx=-DFORM=6; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// e2e: name=numbers_in_tuples; cxx=-DFORM=7; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// e2e: name=numbers_that_grow; cxx=-DFORM=8; scaled={8*N} 0.01; ranks=1,3; timeout=60
// e2e: name=batches_in_maps; cxx=-DFORM=9; scaled={8*N} {0.05*N}; ranks=1,3; timeout=60
// e2e: name=numbers_of_settings; cxx=-DFORM=10; scaled={8*N} {0.05*N}; ranks=1,3; timeout=60
// e2e: name=numbers_of_positions; cxx=-DFORM=11; scaled={8*N} {0.05*N}; ranks=1,3; timeout=60
// e2e: name=numbers_of_batches; cxx=-DFORM=12; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// However the number is made that a summed loss is divided by: where it follows the size of the batch, the loss is a mean, and the rate follows that size.
#include <hvd/hvd.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace F = hvd::nn::functional;
using hvd::Tensor;

double inverse(long n) { return n > 0 ? 1.0 / static_cast<double>(n) : 0.0; }
template <class T>
T over(T all, T n) { return all / n; }

struct Norm {
  double rows;
  double inverse() const { return 1.0 / rows; }
};
struct Config {
  long size = 4;
  double inverse() const { return 1.0 / size; }
};
struct Settings {
  static inline double scale = 1.0;
};

std::tuple<Tensor, Tensor, long> cut(const Tensor& x, const Tensor& y, long at, long size) {
  auto part = x.slice(0, at, at + size);
  return std::make_tuple(part, y.slice(0, at, at + size), part.size(0));
}

int main(int, char** argv) {
  hvd::manual_seed(5);
  const long rows = 48, size = std::strtol(argv[1], nullptr, 10);
  auto x = hvd::randn({rows, 6}, hvd::kFloat64), y = x.slice(1, 0, 3).argmax(1);
  hvd::nn::Linear net(6, 3);
  net->to(hvd::kFloat64);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(std::atof(argv[2])));
  [[maybe_unused]] const Norm norm{static_cast<double>(size)};
  [[maybe_unused]] Config config;
  config.size = size;
  [[maybe_unused]] long done = 0;
  [[maybe_unused]] const double factors[2] = {1.0 / size, 0.5};
  [[maybe_unused]] const std::array<double, 2> pair{0.5, static_cast<double>(size)};
  [[maybe_unused]] double kept = 2.0;
  kept /= static_cast<double>(size);
  Settings::scale = 2.0 / static_cast<double>(size);
  std::vector<long> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  [[maybe_unused]] const long batches = (rows - 1 + size) / size;
  for (int epoch = 0; epoch < 2; ++epoch) {
    double total = 0;
    for (long i = 0; i < rows; i += size) {
      opt.zero_grad();
#if FORM == 7
      auto [in, label, count] = cut(x, y, i, size);
#elif FORM == 9
      std::map<std::string, Tensor> parts;
      parts["in"] = x.slice(0, i, i + size);
      parts["label"] = y.slice(0, i, i + size);
      const Tensor in = parts["in"], label = parts["label"];
#else
      const auto in = x.slice(0, i, i + size), label = y.slice(0, i, i + size);
#endif
      auto loss = F::cross_entropy(net(in), label, F::CrossEntropyFuncOptions().reduction(hvd::kSum));
#if FORM == 1
      loss = loss * inverse(in.size(0)) * over<double>(8.0, 4.0);
#elif FORM == 2
      loss = loss * norm.inverse() * (Settings::scale * norm.rows);
#elif FORM == 3
      const std::vector<long> sizes{in.size(0), in.size(1)};
      loss = loss * factors[0] * factors[1] * pair[1] / (sizes[0] * sizes[1]);
#elif FORM == 4
      double part = 1.0;
      part /= static_cast<double>(std::max<long>(1, in.size(0)));
      part *= 2;
      loss = loss * part * kept * (0.5 * size);
#elif FORM == 5
      loss = loss * std::pow(static_cast<double>(in.size(0)), -2) * static_cast<double>(size << 1);
#elif FORM == 6
      const long first = i, last = i + size < rows ? i + size : rows;
      loss = loss / static_cast<double>(last - first);
#elif FORM == 7
      loss = loss / static_cast<double>(count);
#elif FORM == 8
      loss = loss / static_cast<double>(in.size(0)) * (pair[1] * 0.25);
#elif FORM == 10
      done += size;
      loss = loss * config.inverse() * (static_cast<double>(done) / (2 * rows));
#elif FORM == 9
      loss = loss / static_cast<double>(label.size(0));
#elif FORM == 11
      const auto first = order.begin() + i, last = order.begin() + std::min(i + size, rows);
      const Tensor positions = hvd::arange(i, std::min<long>(i + size, rows));
      const auto by_list = epoch == 0 ? std::distance(first, last) : last - first;
      loss = loss * 0.5 / static_cast<double>(by_list) + loss * 0.5 / static_cast<double>(positions.numel());
#elif FORM == 12
      loss = loss * (static_cast<double>(batches) / static_cast<double>(rows));
#endif
      loss.backward();
      opt.step();
      total += loss.item<double>();
    }
    std::printf("%.9f\n", total);
  }
  hvd::save(net, "net.safetensors");
}
