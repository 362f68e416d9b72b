// SPDX-License-Identifier: Apache-2.0
// e2e: name=local_steps_of_one; scaled={10*N} {0.1*N}; env=HVD_SYNC=periodic:1; ranks=1,2,3,4; timeout=60
// e2e: name=local_steps_later; scaled={10*N} {0.1*N}; env=HVD_SYNC=post-local:3:1; ranks=2,3; timeout=60
// e2e: name=local_steps_apart; modes=global; env=HVD_SYNC=periodic:3; ranks=2,3; expect=different; timeout=60
// e2e: name=local_steps_in_nodes; scaled={10*N} {0.1*N}; env=HVD_SYNC=hierarchical:1; env=HVD_NODE_SIZE=2; ranks=2,3,4; timeout=60
// e2e: name=local_steps_of_one_node; scaled={10*N} {0.1*N}; env=HVD_SYNC=hierarchical:5; ranks=1,3; timeout=60
// e2e: name=local_steps_server; scaled={10*(N-1 or 1)} {0.1*(N-1 or 1)}; env=HVD_SYNC=parameter-server; ranks=2,3,4; timeout=60
// e2e: name=local_steps_server_ahead; scaled={10*(N-1 or 1)} {0.1*(N-1 or 1)}; env=HVD_SYNC=parameter-server:async:0; ranks=1,3; timeout=60
// Momentum, weight decay and a schedule are linear in the gradients: parameters that are averaged after every step are those of common
// steps, and those of the program; averaged after every third step they are not.
#include <hvd/hvd.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>

using hvd::Tensor;

struct Wave : hvd::data::Dataset {
  hvd::data::Example get(size_t i) override {
    const double x = 0.17 * static_cast<double>(i);
    Tensor in = hvd::empty({2}, hvd::kFloat64);
    in.data_ptr<double>()[0] = std::sin(x);
    in.data_ptr<double>()[1] = std::cos(3 * x);
    Tensor out = hvd::full({1}, std::sin(2 * x), hvd::kFloat64);
    return {in, out};
  }
  size_t size() const override { return 73; }
};

int main(int argc, char** argv) {
  const int batch = argc > 1 ? std::atoi(argv[1]) : 10;
  const double lr = argc > 2 ? std::atof(argv[2]) : 0.1;
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(5);
  auto net = hvd::nn::Sequential(hvd::nn::Linear(2, 12), hvd::nn::Tanh(), hvd::nn::Linear(12, 1));
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(lr).momentum(0.8).weight_decay(1e-3));
  hvd::optim::StepLR schedule(optimizer, 2, 0.5);
  auto loader = hvd::data::make_data_loader(Wave(), batch);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    for (auto& b : *loader) {
      optimizer.zero_grad();
      const Tensor loss = hvd::nn::functional::mse_loss(net->forward(b.data), b.target);
      loss.backward();
      optimizer.step();
      sum += loss.item<double>() * static_cast<double>(b.data.size(0));
    }
    schedule.step();
    std::printf("epoch %d: loss %.9f\n", epoch, sum / 73);
  }
  hvd::save(net, "wave.safetensors");
}
