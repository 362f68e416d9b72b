// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=180
// form: own loader that returns an optional in the head of the loop
// form: own loader whose members the head of the loop fills
// form: own loader that forms a batch one step ahead
// form: own loader with iterators in a range-for
// form: own loader behind an interface
// Loaders of the program's own that have the batch ready when the step begins: an optional in the head of the loop, members that the head fills, a
// batch that is formed a step ahead, an iterator in a range-for; and one that forms it in the step, behind an interface.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

namespace F = torch::nn::functional;

constexpr std::int64_t kRows = 50;

struct Batch {
  torch::Tensor x, y;
};

class Order {
 public:
  Order(Batch rows, std::int64_t size) : rows_(rows), size_(size) { reset(); }
  virtual ~Order() = default;
  void reset() {
    order_ = torch::randperm(kRows, torch::kLong);
    at_ = 0;
  }

 protected:
  bool over() const { return at_ >= kRows; }
  Batch cut() {
    const auto index = order_.slice(0, at_, std::min(at_ + size_, kRows));
    at_ += size_;
    return Batch{rows_.x.index_select(0, index), rows_.y.index_select(0, index)};
  }

 private:
  Batch rows_;
  std::int64_t size_, at_ = 0;
  torch::Tensor order_;
};

class Optional : public Order {
 public:
  using Order::Order;
  std::optional<Batch> next() {
    if (over()) return std::nullopt;
    return cut();
  }
};

class Maybe : public Order {
 public:
  using Order::Order;
  torch::optional<Batch> next() {
    if (over()) return torch::nullopt;
    return cut();
  }
};

class Cursor : public Order {
 public:
  using Order::Order;
  bool next() {
    if (over()) return false;
    const Batch batch = cut();
    x_ = batch.x;
    y_ = batch.y;
    return true;
  }
  torch::Tensor x() const { return x_; }
  const torch::Tensor& y() const { return y_; }

 private:
  torch::Tensor x_, y_;
};

class Ahead : public Order {
 public:
  using Order::Order;
  void start() {
    reset();
    form();
  }
  bool has_next() const { return ready_; }
  Batch next() {
    const Batch now = next_;
    form();
    return now;
  }

 private:
  void form() {
    ready_ = !over();
    if (ready_) next_ = cut();
  }
  Batch next_;
  bool ready_ = false;
};

class Range {
 public:
  Range(Batch rows, std::int64_t size) : rows_(rows), size_(size) {}
  class Iterator {
   public:
    Iterator(const Range* of, std::int64_t at) : of_(of), at_(at) {}
    Batch operator*() const {
      const auto end = std::min(at_ + of_->size_, kRows);
      return {of_->rows_.x.slice(0, at_, end), of_->rows_.y.slice(0, at_, end)};
    }
    Iterator& operator++() {
      at_ += of_->size_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ < other.at_; }

   private:
    const Range* of_;
    std::int64_t at_;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, kRows}; }

 private:
  Batch rows_;
  std::int64_t size_;
};

struct Source {
  virtual ~Source() = default;
  virtual void reset() = 0;
  virtual bool has_next() const = 0;
  virtual Batch next() = 0;
};

class InStep : public Source {
 public:
  InStep(Batch rows, std::int64_t size) : rows_(rows), size_(size) {}
  void reset() override { at_ = 0; }
  bool has_next() const override { return at_ < kRows; }
  Batch next() override {
    const auto begin = at_;
    at_ += size_;
    const auto end = std::min(begin + size_, kRows);
    return {rows_.x.slice(0, begin, end), rows_.y.slice(0, begin, end)};
  }

 private:
  Batch rows_;
  std::int64_t size_, at_ = 0;
};

int main(int argc, char** argv) {
  torch::manual_seed(2);
  const std::int64_t batch_size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.1;

  const Batch rows{torch::randn({kRows, 5}, torch::kDouble), torch::randint(3, {kRows}, torch::kLong)};
  torch::nn::Sequential net(torch::nn::Linear(5, 6), torch::nn::Tanh(), torch::nn::Linear(6, 3));
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate).momentum(0.9));

  Optional optional(rows, batch_size);
  double sum = 0;
  std::int64_t right = 0;
  while (auto batch = optional.next()) {
    const auto out = net->forward(batch->x);
    auto loss = F::cross_entropy(out, batch->y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    sum += loss.item<double>() * batch->x.size(0);
    right += (out.argmax(1) == batch->y).sum().item<std::int64_t>();
  }
  std::printf("optional %.10f %ld\n", sum / kRows, static_cast<long>(right));

  Maybe maybe(rows, batch_size);
  while (auto batch = maybe.next()) {
    auto loss = F::cross_entropy(net->forward(batch.value().x), (*batch).y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("the framework's own %.10f of %ld\n", loss.item<double>(), static_cast<long>(batch->x.size(0)));
  }

  Cursor cursor(rows, batch_size);
  sum = 0, right = 0;
  while (cursor.next()) {
    const auto out = net->forward(cursor.x());
    auto loss = F::cross_entropy(out, cursor.y());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    sum += loss.item<double>() * cursor.x().size(0);
    right += (out.argmax(1) == cursor.y()).sum().item<std::int64_t>();
  }
  std::printf("members %.10f %ld\n", sum / kRows, static_cast<long>(right));

  Ahead ahead(rows, batch_size);
  sum = 0, right = 0;
  ahead.start();
  while (ahead.has_next()) {
    const Batch batch = ahead.next();
    const auto out = net->forward(batch.x);
    auto loss = F::cross_entropy(out, batch.y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    sum += loss.item<double>() * batch.x.size(0);
    right += (out.argmax(1) == batch.y).sum().item<std::int64_t>();
  }
  std::printf("a step ahead %.10f %ld\n", sum / kRows, static_cast<long>(right));

  const Range range(rows, batch_size);
  sum = 0, right = 0;
  for (const auto& [x, y] : range) {
    const auto out = net->forward(x);
    auto loss = F::cross_entropy(out, y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    sum += loss.item<double>() * x.size(0);
    right += (out.argmax(1) == y).sum().item<std::int64_t>();
  }
  std::printf("iterator %.10f %ld\n", sum / kRows, static_cast<long>(right));

  const std::unique_ptr<Source> source = std::make_unique<InStep>(rows, batch_size);
  sum = 0;
  for (source->reset(); source->has_next();) {
    const Batch batch = source->next();
    auto loss = F::cross_entropy(net->forward(batch.x), batch.y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    sum += loss.item<double>() * batch.x.size(0);
  }
  std::printf("interface %.10f\n", sum / kRows);
  torch::save(net, "net.pt");
}
