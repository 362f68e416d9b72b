// SPDX-License-Identifier: Apache-2.0
// Reductions written by hand: some of the steps have one on every way, three do not.
#include <hvd/hvd.hpp>

namespace hvd {
template <class Optimizer>
void reduce_gradients(Optimizer& optimizer);
}

namespace F = hvd::nn::functional;

int main(int argc, char**) {
  hvd::nn::Linear net(784, 10);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader<hvd::data::RandomSampler>(hvd::data::open_digits_or("", hvd::data::datasets::kTrain, 32), hvd::data::DataLoaderOptions(8));
  const bool first = argc > 1;
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = F::cross_entropy(net->forward(batch.data.flatten(1)), batch.target);
    loss.backward();
    if (first) {
      hvd::reduce_gradients(opt);
      opt.step();
    } else {
      opt.step();  // not reduced
    }
    opt.zero_grad();
    F::cross_entropy(net->forward(batch.data.flatten(1)), batch.target).backward();
    if (first) hvd::reduce_gradients(opt);
    opt.step();  // not reduced
    opt.zero_grad();
    F::cross_entropy(net->forward(batch.data.flatten(1)), batch.target).backward();
    hvd::reduce_gradients(opt);
    if (first) opt.step();
    else opt.step();
    F::cross_entropy(net->forward(batch.data.flatten(1)), batch.target).backward();
    opt.step();  // not reduced since
    F::cross_entropy(net->forward(batch.data.flatten(1)), batch.target).backward();
    (hvd::reduce_gradients(opt), opt.step());
  }
}
