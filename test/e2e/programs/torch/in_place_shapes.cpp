// e2e: name=squeezed_in_place; cxx=-DFORM=1; scaled={4*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=detached_in_place; cxx=-DFORM=2; scaled={4*N} {0.05*N}; ranks=1,2,3; timeout=120
// e2e: name=evaluation_within_a_step; cxx=-DFORM=3; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: rows squeezed in place, by squeeze_(), where a rank has one of them
// form: rows detached in place, by detach_()
// form: a helper with a lambda of its own, called by a step and by an evaluation inside the step
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

int64_t right_of(const torch::Tensor& out, const torch::Tensor& y) {
  const auto count = [&](const torch::Tensor& scores) { return scores.argmax(1).eq(y).sum().item<int64_t>(); };
  return count(out);
}

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 4;
  const auto x = torch::randn({40, 3}), y = torch::randn({40, 1, 5}), labels = torch::randint(5, {40}, torch::kLong);
  const auto test_x = torch::randn({20, 3}), test_labels = torch::randint(5, {20}, torch::kLong);
  torch::nn::Linear net(3, 5);
  torch::optim::SGD optimizer(net->parameters(), argc > 2 ? std::atof(argv[2]) : 0.05);
  for (int epoch = 0; epoch < 3; ++epoch) {
    int64_t seen = 0, right = 0, step = 0;
    double total = 0;
    for (int64_t at = 0; at < 40; at += batch) {
#if FORM == 1
      const auto xb = x.slice(0, at, at + batch);
      auto yb = y.slice(0, at, at + batch).clone();
      yb.squeeze_();
      const auto loss = torch::mse_loss(net(xb), yb);
#elif FORM == 2
      const auto rows = torch::arange(at, std::min<int64_t>(at + batch, 40));
      auto xb = x.index_select(0, rows);
      xb = xb.cpu().detach_();
      const auto yb = labels.index_select(0, rows);
      const auto loss = torch::nn::functional::cross_entropy(net(xb), yb);
#else
      const auto xb = x.slice(0, at, at + batch), yb = labels.slice(0, at, at + batch);
      const auto out = net(xb);
      const auto loss = torch::nn::functional::cross_entropy(out, yb);
      right += right_of(out, yb);
#endif
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>() * yb.size(0);
      seen += yb.size(0);
#if FORM == 3
      if (++step % 2 == 0) {
        torch::NoGradGuard none;
        int64_t others = 0;
        for (int64_t j = 0; j < 20; j += 7) others += right_of(net(test_x.slice(0, j, j + 7)), test_labels.slice(0, j, j + 7));
        std::printf("step %lld: %lld of 20\n", static_cast<long long>(step), static_cast<long long>(others));
      }
#endif
    }
    std::printf("epoch %d: loss %.9f, %lld right of %lld, %lld steps\n", epoch, total / static_cast<double>(seen), static_cast<long long>(right), static_cast<long long>(seen), static_cast<long long>(step));
  }
  torch::save(net, "net.pt");
}
