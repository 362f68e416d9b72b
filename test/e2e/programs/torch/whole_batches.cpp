// SPDX-License-Identifier: Apache-2.0
// e2e: edit=batch = 8; => batch = {8*N};; edit=SGDOptions(0.05) => SGDOptions({0.05*N}); edit=b < few / batch; => b < std::max(few / batch, 1);; edit=x.narrow(0, b * batch, batch), y.narrow(0, b * batch, batch) => x.slice(0, b * batch, (b + 1) * batch), y.slice(0, b * batch, (b + 1) * batch); edit=step % (few / batch) => step % std::max(few / batch, 1); edit=x.narrow(0, at, batch), y.narrow(0, at, batch) => x.slice(0, at, at + batch), y.slice(0, at, at + batch); ranks=1,2,3; timeout=60; sample=all
// Batches that the program counts or cuts as whole ones: its data are a multiple of its batch size, and not of the job's.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>

static torch::Tensor step_on(torch::nn::Linear& net, torch::optim::SGD& optimizer, const torch::Tensor& x, const torch::Tensor& y) {
  optimizer.zero_grad();
  torch::Tensor loss = torch::mse_loss(net->forward(x), y);
  loss.backward();
  optimizer.step();
  return loss;
}

int main() {
  torch::manual_seed(4);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  const torch::Tensor x = torch::sin(torch::arange(40 * 6, torch::kDouble) * 0.37).view({40, 6}), y = x.sum(1, true).tanh();
  torch::nn::Linear net(6, 1);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05));
  const int n = static_cast<int>(x.size(0)), few = 16;
  const int batch = 8;
// form: batches counted by a division, and cut by slices
  for (int epoch = 0; epoch < 2; ++epoch) {
    double sum = 0;
    for (int b = 0; b < n / batch; ++b) {
      const torch::Tensor order = torch::arange(n).flip(0).slice(0, b * batch, (b + 1) * batch);
      sum += step_on(net, optimizer, x.index_select(0, order), y.index_select(0, order)).item<double>();
    }
    std::printf("%.9f\n", sum / (n / batch));
  }
// form: fewer rows than a batch of the job, cut by narrow
  for (int b = 0; b < few / batch; ++b) std::printf("%.9f\n", step_on(net, optimizer, x.narrow(0, b * batch, batch), y.narrow(0, b * batch, batch)).item<double>());
// form: batches that begin anew after a number of steps
  for (int64_t step = 0; step < 6; ++step) {
    const int64_t at = step % (few / batch) * batch;
    std::printf("%.9f\n", step_on(net, optimizer, x.slice(0, at, at + batch), y.slice(0, at, at + batch)).item<double>());
  }
// form: narrow in a loop that the data end
  for (int64_t at = 0; at < n; at += batch) std::printf("%.9f\n", step_on(net, optimizer, x.narrow(0, at, batch), y.narrow(0, at, batch)).item<double>());
}
