// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3021
// Batches that an iterator of the program's own cuts: a range-for takes one before its body begins, where no step is.
#include <hvd/hvd.hpp>

#include <memory>

class Batches {
 public:
  Batches(hvd::Tensor x, hvd::Tensor y) : x_(x), y_(y) {}
  class Iterator {
   public:
    Iterator(const Batches* of, std::int64_t at) : of_(of), at_(at) {}
    std::pair<hvd::Tensor, hvd::Tensor> operator*() const { return {of_->x_.narrow(0, at_, 8), of_->y_.narrow(0, at_, 8)}; }
    Iterator& operator++() {
      at_ += 8;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ < other.at_; }

   private:
    const Batches* of_;
    std::int64_t at_;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, x_.size(0)}; }

 private:
  hvd::Tensor x_, y_;
};

int main() {
  hvd::nn::Linear net(4, 3);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  const Batches batches(hvd::randn({48, 4}), hvd::zeros({48}, hvd::kInt64));
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto [x, y] : batches) {
      opt.zero_grad();
      hvd::nn::functional::cross_entropy(net->forward(x), y).backward();
      opt.step();
    }
}
