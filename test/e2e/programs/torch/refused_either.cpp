// SPDX-License-Identifier: Apache-2.0
// e2e: name=refused_either_chosen; cxx=-DFORM=1; expect=refused:HVD3012
// e2e: name=refused_either_assigned; cxx=-DFORM=2; expect=refused:HVD3012
// e2e: name=refused_either_returned; cxx=-DFORM=3; expect=refused:HVD3012
// e2e: name=rows_or_nothing; cxx=-DFORM=4; edit=DataLoaderOptions(8) => DataLoaderOptions({8*N}); edit=parameters(), 0.1 => parameters(), {0.1*N}; ranks=1,2,3; timeout=120
// A number that is this rank's rows, or one that all ranks have: added up, nothing tells which. None at all fits both.
#include <torch/torch.h>

#include <iostream>

int64_t rows(const torch::Tensor& x, bool last) { if (last) return 1; return x.size(0); }
int64_t rows_or_none(const torch::Tensor& x, bool last) { if (last) return 0; return x.size(0); }

int main() {
  torch::manual_seed(3);
  auto x = torch::randn({50, 4}, torch::kDouble);
  auto loader = torch::data::make_data_loader(torch::data::datasets::TensorDataset(x).map(torch::data::transforms::Stack<torch::data::Example<torch::Tensor, void>>()), torch::data::DataLoaderOptions(8));
  torch::nn::Linear net(4, 3);
  net->to(torch::kDouble);
  torch::optim::SGD opt(net->parameters(), 0.1);
  int64_t seen = 0;
  for (int e = 0; e < 2; ++e)
    for (auto& batch : *loader) {
      opt.zero_grad();
      auto loss = net(batch.data).pow(2).mean();
      loss.backward();
      opt.step();
#if FORM == 1
      seen += e ? 1 : batch.data.size(0);
#elif FORM == 2
      int64_t n = batch.data.size(0);
      if (e) n = 1;
      seen += n;
#elif FORM == 3
      seen += rows(batch.data, e == 1);
#else
      seen += rows_or_none(batch.data, e == 1) + (e ? 0 : batch.data.size(0));
#endif
    }
  std::cout << seen << '\n';
  torch::save(net, "net.pt");
}
