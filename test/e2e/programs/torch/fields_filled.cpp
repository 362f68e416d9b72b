// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: batches in a struct whose tensors are filled element by element in its fields, or in its constructor
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Record {
  double values[3];
  double score;
};
using Records = std::vector<Record>;

struct Made {
  int64_t size;
  torch::Tensor x, y;
};

Made make(const Records& records) {
  Made b;
  b.size = static_cast<int64_t>(records.size());
  b.x = torch::zeros({b.size, 3});
  b.y = torch::zeros({b.size, 1});
  for (int64_t i = 0; i < b.size; ++i) {
    for (int j = 0; j < 3; ++j) b.x[i][j] = records[i].values[j];
    b.y[i][0] = records[i].score;
  }
  return b;
}

struct Filled {
  torch::Tensor x, y;
};

void fill(Filled& b, const Records& records) {
  const auto rows = static_cast<int64_t>(records.size());
  b.x = torch::empty({rows, 3});
  b.y = torch::full({rows, 1}, -1.0);
  for (int64_t i = 0; i < rows; ++i) {
    for (int j = 0; j < 3; ++j) b.x[i][j] = records[i].values[j];
    b.y[i] = records[i].score;
  }
}

struct Constructed {
  explicit Constructed(const Records& records) : size(static_cast<int64_t>(records.size())) {
    x = torch::zeros({size, 3});
    y = torch::zeros({size, 1});
    for (int64_t i = 0; i < size; ++i) {
      for (int j = 0; j < 3; ++j) x[i][j] = records[i].values[j];
      y[i][0] = records[i].score;
    }
  }
  int64_t size;
  torch::Tensor x, y;
};

struct Stacked {
  explicit Stacked(const Records& records) {
    std::vector<torch::Tensor> xs, ys;
    for (const auto& r : records) {
      xs.push_back(torch::tensor({r.values[0], r.values[1], r.values[2]}));
      ys.push_back(torch::tensor({r.score}));
    }
    x = torch::stack(xs);
    y = torch::stack(ys);
  }
  torch::Tensor x, y;
};

Records part(const Records& all, size_t at, size_t batch) { return Records(all.begin() + at, all.begin() + std::min(at + batch, all.size())); }

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const size_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  Records all, others;
  for (int i = 0; i < 43; ++i) all.push_back({{i % 5 - 2., i % 7 / 3., i % 3 - 1.}, i % 4 / 2.});
  for (int i = 0; i < 17; ++i) others.push_back({{i % 4 - 2., i % 3 / 3., i % 5 - 1.}, i % 2 / 2.});
  torch::nn::Linear net(3, 1);
  torch::optim::SGD optimizer(net->parameters(), argc > 2 ? std::atof(argv[2]) : 0.05);
  double best = 1e9;
  for (int epoch = 0; epoch < 3; ++epoch) {
    int64_t seen = 0;
    for (size_t at = 0; at < all.size(); at += batch) {
      const auto b = make(part(all, at, batch));
      const auto loss = torch::mse_loss(net(b.x), b.y);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      seen += b.size;
    }
    for (size_t at = 0; at < all.size(); at += batch) {
      Filled b;
      fill(b, part(all, at, batch));
      const auto loss = torch::mse_loss(net(b.x), b.y);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    double total = 0;
    for (size_t at = 0; at < all.size(); at += batch) {
      Constructed b(part(all, at, batch));
      const auto loss = torch::mse_loss(net(b.x), b.y);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>() * b.size;
    }
    for (size_t at = 0; at < all.size(); at += batch) {
      const Stacked b(part(all, at, batch));
      const auto loss = torch::mse_loss(net(b.x), b.y);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    torch::NoGradGuard guard;
    const auto held = make(others);
    const double validation = torch::mse_loss(net(held.x), held.y).item<double>();
    std::printf("epoch %d %lld %.9f %.9f\n", epoch, static_cast<long long>(seen), total / all.size(), validation);
    if (validation >= best) break;
    best = validation;
  }
  return 0;
}
