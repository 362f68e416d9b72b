// SPDX-License-Identifier: Apache-2.0
// e2e: name=mask_made_on_a_device; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=rows_moved_to_a_device; cxx=-DFORM=1; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=mask_of_own_outputs; cxx=-DFORM=2; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// form: a batch that is filled row by row from kept rows, and then moved to a device under its own name
// form: a new tensor that is made on a device by a call behind the one that makes it, and filled where a list says so
// form: rows of the targets that a mask of the outputs of the program's own model takes
// Tensors that a step makes, fills row by row and moves to a device, before or behind that; a mask of what a model of the program's own has made.
#include <torch/torch.h>

#include <random>
#include <vector>

#ifndef FORM
#define FORM 0
#endif

using torch::Tensor;

struct NetImpl : torch::nn::Module {
  torch::nn::Linear inner{register_module("inner", torch::nn::Linear(3, 1))};
  Tensor forward(Tensor x) { return inner->forward(x); }
};
TORCH_MODULE(Net);

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  torch::manual_seed(1);
  const int batch = std::stoi(argv[1]);
  const torch::Device device(torch::kCPU);
  std::vector<Tensor> memory, values;
  for (int i = 0; i < 50; ++i) {
    memory.push_back(torch::rand({3}, torch::kDouble));
    values.push_back(torch::rand({1}, torch::kDouble) - 0.5);
  }
  Net net;
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), std::stod(argv[2]));
  std::mt19937 engine(2);
  std::uniform_int_distribution<int> pick(0, 49);
  for (int seen = 0; seen < 96; seen += batch) {
    std::vector<int> chosen;
    for (int j = 0; j < batch; ++j) chosen.push_back(pick(engine));
    Tensor states = torch::zeros({batch, 3}, torch::kDouble), wanted = torch::zeros({batch, 1}, torch::kDouble);
    for (int j = 0; j < batch; ++j) {
      states[j] = memory[chosen[j]];
      wanted[j] = values[chosen[j]];
    }
#if FORM == 1
    states = states.to(device);
    wanted = wanted.to(device);
#endif
#if FORM == 0
    Tensor mask = torch::ones({batch, 1}, torch::kDouble).to(device);
    for (int j = 0; j < batch; ++j)
      if (chosen[j] % 5 == 0) mask[j][0] = 0;
    const Tensor loss = torch::mse_loss(net(states) * mask, wanted);
#elif FORM == 2
    const Tensor out = net(states);
    const Tensor keep = torch::any(out.detach().abs() > 0.01, -1);
    const Tensor loss = (out.index({keep}) - wanted.index({keep})).square().sum(-1).mean();
#else
    const Tensor loss = torch::mse_loss(net(states), wanted);
#endif
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("loss %.9f\n", loss.item<double>());
  }
  torch::save(net, "net.pt");
  return 0;
}
