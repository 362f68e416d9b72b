// e2e: scaled={8*N} {0.05*N}; ranks=2,3; timeout=120
// On several ranks the tensors are compared. On one rank the bytes are, and those of an archive inside another may differ between two runs of one program.
#include <torch/torch.h>

#include <algorithm>
#include <cstdlib>

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const auto xs = torch::randn({43, 4}), ys = torch::randn({43, 1});
  torch::nn::Linear net(4, 1);
  torch::optim::SGD optimizer(net->parameters(), argc > 2 ? std::atof(argv[2]) : 0.05);
  torch::serialize::OutputArchive archive;
  for (int64_t at = 0; at < 43; at += batch) {
    auto x = xs.slice(0, at, std::min<int64_t>(at + batch, 43)), y = ys.slice(0, at, std::min<int64_t>(at + batch, 43));
    auto out = net(x);
    auto loss = torch::mse_loss(out, y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    torch::serialize::OutputArchive step;
    step.write("loss", loss.detach());
    step.write("mean", out.detach().mean(0));
    archive.write("step" + std::to_string(at / batch), step);
  }
  archive.save_to("steps.pt");
  return 0;
}
