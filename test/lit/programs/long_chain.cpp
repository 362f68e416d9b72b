// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// A long chain of << is looked at in the time of its length: this test would not end if each operand doubled the work.
#include <fstream>
#include <sstream>

#include <hvd/hvd.hpp>

int main() {
  hvd::nn::Linear net(5, 1);
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(hvd::randn({50, 5}), hvd::randn({50, 1})), hvd::data::DataLoaderOptions(10));
  // CHECK: std::ofstream file(hvd::root_path("summary.txt"));
  std::ofstream file("summary.txt");
  std::ostringstream text;
  double l = 0;
  int n = 0;
  for (auto& batch : *loader) {
    auto loss = hvd::nn::functional::mse_loss(net->forward(batch.data), batch.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    l += loss.item<double>();
    ++n;
    // CHECK: file << "a " << l
    file << "a " << l
        << "b0 " << n << "\n"
        << "c1 " << l << "\n"
        << "d2 " << n << "\n"
        << "e3 " << l << "\n"
        << "f4 " << n << "\n"
        << "g5 " << l << "\n"
        << "h6 " << n << "\n"
        << "i7 " << l << "\n"
        << "j8 " << n << "\n"
        << "k9 " << l << "\n"
        << "l10 " << n << "\n"
        << "m11 " << l << "\n"
        << "n12 " << n << "\n"
        << "o13 " << l << "\n"
        << "p14 " << n << "\n"
        << "q15 " << l << "\n"
        << "r16 " << n << "\n"
        << "s17 " << l << "\n"
        << "t18 " << n << "\n"
        << "u19 " << l << "\n"
        << "v20 " << n << "\n"
        << "w21 " << l << "\n"
        << "x22 " << n << "\n"
        << "y23 " << l << "\n"
        << "b24 " << n << "\n";
    text << "a " << l
        << "b0 " << n << "\n"
        << "c1 " << l << "\n"
        << "d2 " << n << "\n"
        << "e3 " << l << "\n"
        << "f4 " << n << "\n"
        << "g5 " << l << "\n"
        << "h6 " << n << "\n"
        << "i7 " << l << "\n"
        << "j8 " << n << "\n"
        << "k9 " << l << "\n"
        << "l10 " << n << "\n"
        << "m11 " << l << "\n"
        << "n12 " << n << "\n"
        << "o13 " << l << "\n"
        << "p14 " << n << "\n"
        << "q15 " << l << "\n"
        << "r16 " << n << "\n"
        << "s17 " << l << "\n"
        << "t18 " << n << "\n"
        << "u19 " << l << "\n"
        << "v20 " << n << "\n"
        << "w21 " << l << "\n"
        << "x22 " << n << "\n"
        << "y23 " << l << "\n"
        << "b24 " << n << "\n";
  }
}
