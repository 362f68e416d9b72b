// SPDX-License-Identifier: Apache-2.0
//
// The training benchmark's peer: the same networks on LibTorch's CPU device, float32. bench/train/core.cpp is the other side.
#include "side.h"
#include "torch_networks.h"

namespace {

void load_weights(const peer::Model& model, const std::string& file) {
  const std::vector<float> values = side::read_weights(file);
  torch::NoGradGuard no_grad;
  size_t at = 0;
  for (torch::Tensor p : model.parameters()) {
    if (at + p.numel() > values.size()) throw std::runtime_error("'" + file + "' has too few numbers");
    p.copy_(torch::from_blob(const_cast<float*>(values.data()) + at, p.sizes()));
    at += p.numel();
  }
  if (at != values.size()) throw std::runtime_error("'" + file + "' has too many numbers");
}

std::vector<torch::data::Example<>> as_tensors(const std::vector<side::Batch>& batches, const side::Task& task) {
  std::vector<torch::data::Example<>> out;
  for (const side::Batch& b : batches) {
    const torch::Tensor data = task.vocabulary == 0 ? torch::from_blob(const_cast<float*>(b.pictures.data()), task.shape())
                                                    : torch::from_blob(const_cast<int64_t*>(b.tokens.data()), task.shape(), torch::kLong);
    out.push_back({data.clone(), torch::from_blob(const_cast<int64_t*>(b.labels.data()), {task.batch}, torch::kLong).clone()});
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const side::Options options(argc, argv);
    const side::Task task = side::task_of(options.text("--network", "mlp"));
    torch::set_num_threads(options.number("--threads", 1));
    torch::manual_seed(1);
    peer::Model model(task.network, options.text("--losses", "no") != "yes");
    if (const std::string file = options.text("--read-weights", ""); !file.empty()) load_weights(model, file);
    torch::optim::SGD optimizer(model.parameters(), torch::optim::SGDOptions(0.01).momentum(0.9).weight_decay(0.0005));
    auto examples = as_tensors(side::make_batches(task, 4), task);
    int64_t parameters = 0;
    for (const torch::Tensor& p : model.parameters()) parameters += p.numel();
    const auto step = [&](int i, bool losses) {
      const auto& example = examples[i % examples.size()];
      optimizer.zero_grad();
      const torch::Tensor loss = torch::nn::functional::cross_entropy(model.forward(example.data), example.target);
      loss.backward();
      optimizer.step();
      return losses ? loss.item<double>() : 0.0;
    };
    side::measure(options, parameters, step, [] {}, [] {});
    std::printf("}\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hvd-bench-train-torch: %s\n", error.what());
    return 1;
  }
  return 0;
}
