// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: a loader class of the program's own whose objects for evaluation have a size of their own: it fills batches through references, is an overrider, is made by a static function, gets its size later, is a member of a trainer or of a struct
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

using torch::Tensor;

struct Source {
  virtual ~Source() = default;
  virtual void rewind() = 0;
  virtual bool next(Tensor& x, Tensor& y) = 0;
};

class Rows : public Source {
 public:
  Rows(Tensor x, Tensor y, int64_t rows) : x_(std::move(x)), y_(std::move(y)), rows_(rows) {}
  void rewind() override { at_ = 0; }
  bool next(Tensor& x, Tensor& y) override {
    if (at_ >= x_.size(0)) return false;
    const int64_t end = std::min(at_ + rows_, x_.size(0));
    x = x_.slice(0, at_, end);
    y = y_.slice(0, at_, end);
    at_ = end;
    return true;
  }

 private:
  Tensor x_, y_;
  int64_t rows_, at_ = 0;
};

class Queue {
 public:
  static Queue over(Tensor x, Tensor y) { return {std::move(x), std::move(y)}; }
  void resize(int64_t rows) { rows_ = rows; }
  void rewind() { at_ = 0; }
  bool next(Tensor& x, Tensor& y) {
    if (at_ >= x_.size(0)) return false;
    x = x_.slice(0, at_, std::min(at_ + rows_, x_.size(0)));
    y = y_.slice(0, at_, std::min(at_ + rows_, x_.size(0)));
    at_ += rows_;
    return true;
  }

 private:
  Queue(Tensor x, Tensor y) : x_(std::move(x)), y_(std::move(y)) {}
  Tensor x_, y_;
  int64_t rows_ = 0, at_ = 0;
};

class Cursor {
 public:
  Cursor(Tensor x, Tensor y, int64_t rows) : x_(std::move(x)), y_(std::move(y)), rows_(rows) {}
  bool next(Tensor& x, Tensor& y) {
    if (at_ >= x_.size(0)) return at_ = 0, false;
    x = x_.slice(0, at_, std::min(at_ + rows_, x_.size(0)));
    y = y_.slice(0, at_, std::min(at_ + rows_, x_.size(0)));
    at_ += rows_;
    return true;
  }

 private:
  Tensor x_, y_;
  int64_t rows_, at_ = 0;
};

class Trainer {
 public:
  Trainer(torch::nn::Linear net, double rate, Cursor train, Cursor held) : net_(net), optimizer_(net->parameters(), rate), train_(std::move(train)), held_(std::move(held)) {}
  void epoch() {
    Tensor x, y;
    while (train_.next(x, y)) {
      optimizer_.zero_grad();
      torch::mse_loss(net_(x), y).backward();
      optimizer_.step();
    }
  }
  double evaluate(int& count) {
    torch::NoGradGuard guard;
    Tensor x, y;
    double sum = 0;
    for (count = 0; held_.next(x, y); ++count) sum += torch::mse_loss(net_(x), y).item<double>();
    return sum / count;
  }

 private:
  torch::nn::Linear net_;
  torch::optim::SGD optimizer_;
  Cursor train_, held_;
};

class Pager {
 public:
  Pager(Tensor x, Tensor y, int64_t rows) : x_(std::move(x)), y_(std::move(y)), rows_(rows) {}
  int64_t pages() const { return (x_.size(0) + rows_ - 1) / rows_; }
  bool read(int64_t page, Tensor& x, Tensor& y) const {
    if (page >= pages()) return false;
    x = x_.slice(0, page * rows_, std::min((page + 1) * rows_, x_.size(0)));
    y = y_.slice(0, page * rows_, std::min((page + 1) * rows_, x_.size(0)));
    return true;
  }

 private:
  Tensor x_, y_;
  int64_t rows_;
};

struct Sets {
  Pager train, held;
};

Sets sets_of(const Tensor& x, const Tensor& y, const Tensor& hx, const Tensor& hy, int64_t rows) { return {Pager(x, y, rows), Pager(hx, hy, 16)}; }

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t rows = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  const Tensor x = torch::randn({48, 4}), y = torch::randn({48, 1}), hx = torch::randn({40, 4}), hy = torch::randn({40, 1});
  Tensor bx, by;
  {
    torch::nn::Linear net(4, 1);
    torch::optim::SGD optimizer(net->parameters(), rate);
    const std::unique_ptr<Source> train = std::make_unique<Rows>(x, y, rows), held = std::make_unique<Rows>(hx, hy, 16);
    for (int epoch = 0; epoch < 3; ++epoch) {
      train->rewind();
      while (train->next(bx, by)) {
        optimizer.zero_grad();
        torch::mse_loss(net(bx), by).backward();
        optimizer.step();
      }
      torch::NoGradGuard guard;
      double sum = 0;
      int count = 0;
      for (held->rewind(); held->next(bx, by); ++count) sum += torch::mse_loss(net(bx), by).item<double>();
      std::printf("virtual %d %.9f %d\n", epoch, sum / count, count);
    }
  }
  {
    torch::nn::Linear net(4, 1);
    torch::optim::SGD optimizer(net->parameters(), rate);
    Queue train = Queue::over(x, y), held = Queue::over(hx, hy);
    train.resize(rows);
    held.resize(16);
    for (int epoch = 0; epoch < 3; ++epoch) {
      train.rewind();
      while (train.next(bx, by)) {
        optimizer.zero_grad();
        torch::mse_loss(net(bx), by).backward();
        optimizer.step();
      }
      torch::NoGradGuard guard;
      double sum = 0;
      int count = 0;
      for (held.rewind(); held.next(bx, by); ++count) sum += torch::mse_loss(net(bx), by).item<double>();
      std::printf("sized later %d %.9f %d\n", epoch, sum / count, count);
    }
  }
  {
    torch::nn::Linear net(4, 1);
    Trainer trainer(net, rate, Cursor(x, y, rows), Cursor(hx, hy, 16));
    for (int epoch = 0; epoch < 3; ++epoch) {
      trainer.epoch();
      int count = 0;
      const double mean = trainer.evaluate(count);
      std::printf("members %d %.9f %d\n", epoch, mean, count);
    }
  }
  {
    torch::nn::Linear net(4, 1);
    torch::optim::SGD optimizer(net->parameters(), rate);
    const Sets sets = sets_of(x, y, hx, hy, rows);
    for (int epoch = 0; epoch < 3; ++epoch) {
      for (int64_t page = 0; sets.train.read(page, bx, by); ++page) {
        optimizer.zero_grad();
        torch::mse_loss(net(bx), by).backward();
        optimizer.step();
      }
      torch::NoGradGuard guard;
      double sum = 0;
      int count = 0;
      while (sets.held.read(count, bx, by)) {
        sum += torch::mse_loss(net(bx), by).item<double>();
        ++count;
      }
      std::printf("struct %d %.9f %d of %d\n", epoch, sum / count, count, static_cast<int>(sets.held.pages()));
    }
  }
  return 0;
}
