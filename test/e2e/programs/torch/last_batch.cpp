// SPDX-License-Identifier: Apache-2.0
// e2e: edit=batch_size(15) => batch_size({15*N}); edit=SGD optimizer(net->parameters(), 0.1) => SGD optimizer(net->parameters(), {0.1*N}); edit=Stack<>()), 4) => Stack<>()), {4*N}); ranks=1,2,3; warns=HVD1034; timeout=120
// What tutorials do after the inner loop: the loss of the last batch, perplexity, a picture of the last outputs; a schedule; the last rate set by
// the reference that lr() returns; labels made with the size of the batch; a do-while around it all; squeeze() without a dimension, where
// a slice has one row (labels in a column, the small batches of a second loader).
// form: the loss of the last batch, after the loop
#include <torch/torch.h>

#include <fstream>
#include <iostream>
#include <memory>

/// `column`: labels in a tensor of extent one, as data sets return them.
struct Waves : torch::data::datasets::Dataset<Waves> {
  torch::data::Example<> get(size_t i) override {
    auto x = torch::cos(torch::arange(6, torch::kDouble) * 0.7 + static_cast<double>(i));
    auto label = (x.sum() > 0).to(torch::kLong);
    return {x, column ? label.unsqueeze(0) : label};
  }
  torch::optional<size_t> size() const override { return column ? 9 : 80; }
  explicit Waves(bool column = false) : column(column) {}
  bool column;
};

int main() {
  torch::manual_seed(8);
  auto net = std::make_shared<torch::nn::SequentialImpl>(torch::nn::Linear(6, 7), torch::nn::Sigmoid(), torch::nn::Linear(7, 2));
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  torch::optim::StepLR schedule(optimizer, 2, 0.5);
  auto options = torch::data::DataLoaderOptions();
  options.batch_size(15).drop_last(true);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Waves().map(torch::data::transforms::Stack<>()), options);
  std::cout.precision(11);
  torch::Tensor loss, output;
  int epoch = 0;
  do {
    double perplexity = 0;
    for (auto& batch : *loader) {
      output = net->forward(batch.data);
      loss = torch::nn::functional::cross_entropy(output, batch.target);
      auto penalty = torch::mse_loss(output.select(1, 0), torch::full({batch.data.size(0)}, 0.25, torch::kDouble));
      optimizer.zero_grad();
      (loss + 0.1 * penalty).backward();
      optimizer.step();
      perplexity = torch::exp(loss).item<double>();
    }
    schedule.step();
    std::cout << "epoch " << epoch << ": last loss " << loss.item<double>() << ", perplexity " << perplexity << std::endl;
    std::ofstream out("outputs-" + std::to_string(epoch) + ".txt");
    for (int64_t i = 0; i < output.size(0); ++i) out << output[i][0].item<double>() << '\n';
  } while (++epoch < 3);
  auto few = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Waves(true).map(torch::data::transforms::Stack<>()), 4);
  for (auto& batch : *few) {
    auto target = batch.target.squeeze();
    optimizer.zero_grad();
    auto loss = torch::nn::functional::cross_entropy(net->forward(batch.data).squeeze(), target);
    loss.backward();
    optimizer.step();
    std::cout << loss.item().toDouble() << '\n';
  }
  static_cast<torch::optim::SGDOptions&>(optimizer.param_groups().front().options()).lr() *= 0.1;
  for (const auto& p : net->parameters()) std::cout << p.abs().sum().item<double>() << '\n';
}
