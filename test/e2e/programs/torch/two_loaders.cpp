// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// Two loaders side by side, batches that are counted beforehand, shapes that are compared with the size of the batch, tensors filled row by row.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>

namespace F = torch::nn::functional;

struct Waves : torch::data::datasets::Dataset<Waves> {
  explicit Waves(double phase) : phase(phase) {}
  torch::data::Example<> get(size_t index) override {
    const torch::Tensor x = torch::sin(torch::arange(6, torch::kDouble) * 0.37 + static_cast<double>(index) * 1.1 + phase);
    return {x, torch::tensor(static_cast<int64_t>(index * 7 % 3), torch::kLong)};
  }
  torch::optional<size_t> size() const override { return 52; }
  double phase;
};

// form: a loop over one loader that takes a batch of another one by its iterator
template <typename Loader>
void beside(torch::nn::Linear& net, Loader& loader, Loader& other, torch::optim::Optimizer& optimizer) {
  auto second = other.begin();
  double sum = 0;
  for (auto& batch : loader) {
    if (second == other.end()) second = other.begin();
    auto& more = *second;
    optimizer.zero_grad();
    auto loss = F::cross_entropy(net->forward(batch.data), batch.target) + 0.3 * net->forward(more.data).pow(2).mean();
    loss.backward();
    optimizer.step();
    sum += loss.template item<double>();
    ++second;
  }
  std::printf("beside %.9f\n", sum);
}

// form: two iterators in the head of one loop
template <typename Loader>
void both(torch::nn::Linear& net, Loader& loader, Loader& other, torch::optim::Optimizer& optimizer) {
  auto a = loader.begin();
  auto b = other.begin();
  for (; a != loader.end() && b != other.end(); ++a, ++b) {
    optimizer.zero_grad();
    auto loss = F::cross_entropy(net->forward(a->data), a->target) + F::cross_entropy(net->forward(b->data), b->target);
    loss.backward();
    optimizer.step();
    std::printf("both %.9f\n", loss.template item<double>());
  }
}

// form: a new tensor that a function fills row by row
static torch::Tensor marks(const torch::Tensor& target, int64_t classes) {
  auto out = torch::zeros({target.size(0), classes});
  for (int64_t i = 0; i < target.size(0); ++i) {
    const auto label = target[i].item<int64_t>();
    out[i][label] = 1;
  }
  return out;
}

static torch::Tensor softened(const torch::Tensor& rows) {
  auto out = torch::empty_like(rows);
  const int n = static_cast<int>(rows.size(0));
  for (int i = 0; i < n; i++) out.index_put_({i}, rows.index({i}) * 0.9 + 0.05);
  return out;
}

// form: a new tensor that a function fills through an accessor, one row for each label that it reads through one
static torch::Tensor chosen(const torch::Tensor& target) {
  auto out = torch::zeros({target.size(0), 3});
  auto to = out.accessor<double, 2>();
  const auto from = target.accessor<int64_t, 1>();
  for (int64_t i = 0; i < target.size(0); ++i) to[i][from[i]] = 1;
  return out;
}

int main(int argc, char** argv) {
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(6);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Waves(0).map(torch::data::transforms::Stack<>()), size);
  auto other = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Waves(0.5).map(torch::data::transforms::Stack<>()), size);
  torch::nn::Linear net(6, 3);
  torch::optim::SGD optimizer(net->parameters(), rate);
// form: batches of a loader, counted by std::distance
  const auto batches = std::distance(loader->begin(), loader->end());
  beside(net, *loader, *other, optimizer);
  both(net, *loader, *other, optimizer);
  double sum = 0;
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    const auto out = torch::softmax(net->forward(batch.data), 1);
// form: the shape of a batch compared with a list that has the size of batches
    if (out.sizes() != torch::IntArrayRef({size, 3})) continue;
    TORCH_CHECK(batch.data.sizes() == torch::IntArrayRef({size, 6}), "not a whole batch");
    auto loss = F::mse_loss(out, softened(marks(batch.target, 3))) + 0.1 * F::mse_loss(out, chosen(batch.target));
    loss.backward();
    optimizer.step();
    sum += loss.item<double>();
  }
  std::printf("%.9f in %ld batches\n", sum / static_cast<double>(batches), static_cast<long>(batches));
  torch::save(net, "net.pt");
}
