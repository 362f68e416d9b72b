// e2e: name=guard_of_a_model; cxx=-DFORM=1; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=guards_in_a_row; cxx=-DFORM=2; modes=global; args=8 0.05; ranks=1,2,3; timeout=120
// e2e: name=guard_of_sizes; cxx=-DFORM=3; modes=global; args=8 0.05; ranks=1,2,3; timeout=120
// e2e: name=named_guard; cxx=-DFORM=4; modes=global; args=8 0.05; ranks=1,2,3; timeout=120
// e2e: name=guard_with_a_return; cxx=-DFORM=5; modes=global; args=8 0.05; ranks=1,2,3; timeout=120
// e2e: name=guard_by_choice; cxx=-DFORM=6; modes=global; args=8 0.05; ranks=1,2,3; timeout=120
// form: a model that stands a single picture up, `if (x.dim() == 3) x = x.unsqueeze(0);`, in six ways
// Models that take one picture as well as a batch of them: a guard stands the one up. The batches of training have a dimension for their samples.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

struct Pictures : torch::data::datasets::Dataset<Pictures> {
  torch::Tensor images = torch::randn({43, 1, 4, 4}), labels = torch::randint(3, {43}, torch::kLong);
  torch::data::Example<> get(size_t i) override { return {images[static_cast<int64_t>(i)], labels[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 43; }
};

struct NetImpl : torch::nn::Module {
  torch::nn::Conv2d conv{register_module("conv", torch::nn::Conv2d(1, 2, 3))};
  torch::nn::Linear last{register_module("last", torch::nn::Linear(2 * 4, 3))};

  torch::Tensor forward(torch::Tensor x) {
#if FORM == 1
    if (x.dim() == 3) x = x.unsqueeze(0);
#elif FORM == 2
    if (x.dim() == 2) {
      x = x.view({1, 1, 4, 4});
    } else if (x.dim() == 3) {
      x = x.unsqueeze(0);
    }
#elif FORM == 3
    if (x.sizes().size() < 4) x = x.unsqueeze(0);
#elif FORM == 4
    const bool single = x.ndimension() == 3;
    if (single) x = x.unsqueeze(0);
#elif FORM == 5
    const auto dimensions = x.dim();
    if (dimensions != 4) {
      TORCH_CHECK(3 == dimensions, "wants a picture, or a batch of them");
      return forward(x.unsqueeze(0)).squeeze(0);
    }
#elif FORM == 6
    x = x.dim() == 3 ? x.unsqueeze(0) : x;
#endif
    x = torch::relu(conv->forward(x));
    x = last->forward(x.view({x.size(0), -1}));
    if (x.dim() == 1) x = x.reshape({1, -1});
#if FORM == 4
    if (single) x = x.squeeze(0);
#endif
    return x;
  }
};
TORCH_MODULE(Net);

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int batch = argc > 1 ? std::atoi(argv[1]) : 8;
  Pictures pictures;
  const auto one = pictures.images[5].clone();
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(pictures.map(torch::data::transforms::Stack<>()), batch);
  Net net;
  torch::optim::SGD optimizer(net->parameters(), argc > 2 ? std::atof(argv[2]) : 0.05);
  for (int epoch = 0; epoch < 2; ++epoch) {
    double total = 0;
    for (auto& b : *loader) {
      const auto scores = net->forward(b.data.to(torch::kCPU));
      const auto loss = torch::nn::functional::cross_entropy(scores, b.target);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>() * b.data.size(0);
    }
    std::printf("epoch %d loss %.9f\n", epoch, total / 43);
  }
  net->eval();
  torch::NoGradGuard none;
  const auto scores = net->forward(one).flatten();
  std::printf("one picture: %.9f %.9f %.9f\n", scores[0].item<double>(), scores[1].item<double>(), scores[2].item<double>());
  torch::save(net, "net.pt");
}
