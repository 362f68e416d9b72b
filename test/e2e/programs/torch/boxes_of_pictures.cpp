// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// Pictures with any number of boxes each: a list of tensors beside the batch, padded row by row to the longest, and a loss that is divided by the number
// of boxes, or a mean where a batch has none.
// form: a list with a tensor for each sample, padded to the longest of the batch
// form: a function that gives back a mean in one case and a sum over a count in another
#include <torch/torch.h>

#include <cstdlib>
#include <iostream>
#include <tuple>
#include <vector>

namespace F = torch::nn::functional;

class Boxes : public torch::data::datasets::Dataset<Boxes> {
 public:
  explicit Boxes(int64_t n) : pictures_(torch::randn({n, 8}, torch::kFloat64)) {
    for (int64_t i = 0; i < n; ++i) boxes_.push_back(torch::rand({i % 24 < 8 ? 0 : i % 3, 3}, torch::kFloat64));
  }
  torch::data::Example<> get(size_t i) override { return {pictures_[i], boxes_[i]}; }
  torch::optional<size_t> size() const override { return boxes_.size(); }

 private:
  torch::Tensor pictures_;
  std::vector<torch::Tensor> boxes_;
};

static std::tuple<torch::Tensor, std::vector<torch::Tensor>> collate(std::vector<torch::data::Example<>>& batch) {
  std::vector<torch::Tensor> images, targets;
  images.reserve(batch.size());
  for (const auto& e : batch) {
    images.push_back(e.data);
    targets.push_back(e.target);
  }
  return {torch::stack(images, 0), targets};
}

static torch::Tensor ssd_loss(const torch::Tensor& places, const torch::Tensor& scores, const std::vector<torch::Tensor>& targets, const torch::Tensor& anchors) {
  const int64_t B = places.size(0), N = places.size(1);
  int64_t M = 0;
  for (size_t i = 0; i < targets.size(); ++i) M = std::max(M, targets.at(i).size(0));
  if (M == 0) return F::cross_entropy(scores.reshape({B * N, -1}), torch::zeros({B * N}, torch::kLong));
  auto padded = torch::zeros({B, M, 3}, torch::kFloat64);
  auto valid = torch::zeros({B, M}, torch::kBool);
  for (int64_t i = 0; i < B; ++i) {
    const int64_t n = targets[i].size(0);
    if (n > 0) {
      padded[i].slice(0, 0, n).copy_(targets[i]);
      valid[i].slice(0, 0, n).fill_(true);
    }
  }
  auto distance = (anchors.unsqueeze(0).unsqueeze(2) - padded.slice(2, 0, 2).unsqueeze(1)).pow(2).sum(3);
  distance = distance.masked_fill(valid.unsqueeze(1).logical_not(), 1e9);
  auto [least, which] = distance.min(2);
  auto near = (least < 0.1).to(torch::kFloat64);
  auto wanted = torch::gather(padded.slice(2, 0, 2), 1, which.unsqueeze(2).expand({B, N, 2}));
  auto each = F::cross_entropy(scores.reshape({B * N, -1}), near.to(torch::kLong).reshape({B * N}), F::CrossEntropyFuncOptions().reduction(torch::kNone)).reshape({B, N});
  auto loc = ((places - wanted).pow(2).sum(2) * near).sum();
  auto total = torch::clamp_min(near.sum(), 1.0);
  return (loc + each.sum()) / total;
}

int main(int argc, char** argv) {
  torch::manual_seed(3);
  const int64_t batch = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  auto anchors = torch::rand({5, 2}, torch::kFloat64);
  torch::nn::Linear net(8, 5 * 4);
  net->to(torch::kFloat64);
  torch::optim::SGD optimizer(net->parameters(), rate);
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Boxes(43), batch);
  for (int epoch = 0; epoch < 3; ++epoch)
    for (auto& b : *loader) {
      optimizer.zero_grad();
      auto [images, targets] = collate(b);
      auto out = net->forward(images).view({images.size(0), 5, 4});
      auto loss = ssd_loss(out.slice(2, 0, 2), out.slice(2, 2, 4), targets, anchors);
      loss.backward();
      optimizer.step();
      std::cout << loss.item<double>() << "\n";
    }
  torch::save(net, "net.pt");
}
