// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N} {12*N}; ranks=1,2,3; timeout=60
// Hand-written batches of as many rows as are left: the position goes on by the clipped count, which is written in several ways.
#include <hvd/hvd.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace F = hvd::nn::functional;

constexpr std::int64_t kRows = 50;

struct Batch {
  hvd::Tensor x, y;
};

static Batch cut(const Batch& rows, std::int64_t at, std::int64_t count) { return {rows.x.narrow(0, at, count), rows.y.narrow(0, at, count)}; }

int main(int argc, char** argv) {
  hvd::set_default_dtype(hvd::kFloat64);
  const std::int64_t batch_size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.1;
  const std::int64_t other_size = argc > 3 ? std::atoll(argv[3]) : 12;
  hvd::manual_seed(6);
  const Batch rows{hvd::randn({kRows, 5}), hvd::randint(3, {kRows})};
  hvd::nn::Linear net(5, 3);
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(rate).momentum(0.9));
  const auto train = [&](const hvd::Tensor& x, const hvd::Tensor& y) {
    auto loss = F::cross_entropy(net->forward(x), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return loss.item<double>();
  };
  double sum = 0;
  std::int64_t done = 0;
  while (done < kRows) {
    const auto n = std::min(batch_size, kRows - done);
    sum += n * train(rows.x.slice(0, done, done + n), rows.y.narrow(0, done, n));
    done += n;
  }
  std::printf("min %.10f\n", sum / kRows);

  sum = 0;
  std::int64_t count = 0;
  for (std::int64_t at = 0; at < kRows; at += count) {
    count = std::min(batch_size, kRows - at);
    const Batch batch = cut(rows, at, count);
    sum += count * train(batch.x, batch.y);
  }
  std::printf("for %.10f\n", sum / kRows);

  sum = 0;
  done = 0;
  while (done < kRows) {
    const auto n = done + batch_size > kRows ? kRows - done : batch_size;
    const auto x = rows.x.narrow(0, done, n);
    sum += n * train(x, rows.y.narrow(0, done, n));
    done += x.size(0);
  }
  std::printf("chosen %.10f\n", sum / kRows);

  sum = 0;
  done = 0;
  while (done < kRows) {
    const auto end = std::min(done + other_size, kRows), n = end - done;
    auto x = hvd::empty({n, 5});
    std::memcpy(x.data_ptr<double>(), rows.x.data_ptr<double>() + done * 5, static_cast<std::size_t>(n) * 5 * sizeof(double));
    sum += n * train(x, rows.y.narrow(0, done, n));
    done = end;
  }
  std::printf("end %.10f\n", sum / kRows);
  hvd::save(net, "net.safetensors");
}
