// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: batches in std::map and std::unordered_map by name: [], at(), emplace, insert, insert_or_assign, in braces
// form: row numbers shared out, and a std::map of what they choose, gone through by structured bindings, pairs and iterators
// form: targets by name, and a tensor of each chosen by row numbers in a loop over the names
// form: lists of pairs and of structs that a step makes, gone through by index and by structured bindings
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

using Named = std::map<std::string, torch::Tensor>;
struct Example {
  torch::Tensor x, y;
};

// One training for each way of holding the batch's tensors.
int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  const int64_t n = 43;
  const auto xs = torch::randn({n, 3}), ys = torch::randn({n, 1}), zs = torch::randn({n, 1});
  Named targets{{"area", ys}, {"mass", zs}};
  torch::nn::Linear net(3, 1), second(3, 1);
  auto weights = net->parameters();
  for (auto& w : second->parameters()) weights.push_back(w);
  torch::optim::SGD optimizer(weights, rate);
  for (int form = 0; form < 10; ++form) {
    double total = 0;
    int64_t seen = 0;
    const auto order = torch::randperm(n);
    for (int64_t at = 0; at < n; at += batch) {
      const auto end = std::min(at + batch, n);
      auto rows = order.slice(0, at, end);
      auto loss = torch::zeros({});
      if (form == 0) {
        Named named;
        named["x"] = xs.index_select(0, rows);
        named["y"] = ys.index_select(0, rows);
        loss = torch::mse_loss(net(named["x"]), named.at("y"));
      } else if (form == 1) {
        Named named;
        named.emplace("x", xs.index_select(0, rows));
        named.insert({"y", ys.index_select(0, rows)});
        loss = torch::mse_loss(net(named.at("x")), named.at("y"));
      } else if (form == 2) {
        std::unordered_map<std::string, torch::Tensor> named{{"x", xs.index_select(0, rows)}};
        named.insert_or_assign("y", ys.index_select(0, rows));
        for (auto& entry : named) entry.second = entry.second * 0.5;
        if (named.count("y") && !named.count("z")) loss = torch::mse_loss(net(named["x"]), named["y"]);
      } else if (form == 3) {
        const auto x = xs.index_select(0, rows);
        Named wanted{{"y", ys.index_select(0, rows)}, {"z", zs.index_select(0, rows)}};
        for (auto& [name, t] : wanted) loss = loss + torch::mse_loss(net(x), t);
      } else if (form == 4) {
        const auto x = xs.index_select(0, rows);
        Named wanted{{"y", ys.index_select(0, rows)}, {"z", zs.index_select(0, rows)}};
        for (const auto& entry : wanted) loss = loss + torch::mse_loss(net(x), entry.second);
        for (auto it = wanted.begin(); it != wanted.end(); ++it) loss = loss + torch::l1_loss(net(x), it->second);
      } else if (form == 5) {
        const auto x = xs.index_select(0, rows);
        Named wanted;
        for (const auto& [name, t] : targets) wanted[name] = t.index_select(0, rows);
        loss = torch::mse_loss(net(x), wanted["area"]) + torch::mse_loss(second(x), wanted["mass"]);
      } else if (form == 6) {
        const auto x = xs.index_select(0, rows);
        Named wanted, got;
        wanted["area"] = targets["area"].index_select(0, rows);
        wanted["mass"] = targets["mass"].index_select(0, rows);
        got["area"] = net(x);
        got["mass"] = second(x);
        for (const auto& [name, t] : wanted) loss = loss + torch::mse_loss(got.at(name), t);
      } else if (form == 7) {
        const auto x = xs.index_select(0, rows);
        std::vector<std::pair<torch::Tensor, torch::Tensor>> pairs{{x, ys.index_select(0, rows)}, {x * 2, zs.index_select(0, rows)}};
        for (size_t i = 0; i < pairs.size(); ++i) loss = loss + torch::mse_loss(net(pairs[i].first), pairs[i].second);
      } else if (form == 8) {
        const auto x = xs.index_select(0, rows);
        std::vector<std::pair<torch::Tensor, torch::Tensor>> pairs;
        pairs.emplace_back(x, ys.index_select(0, rows));
        pairs.emplace_back(x * 2, zs.index_select(0, rows));
        for (const auto& [a, b] : pairs) loss = loss + torch::mse_loss(net(a), b);
      } else {
        const auto x = xs.index_select(0, rows);
        std::vector<Example> both{{x, ys.index_select(0, rows)}};
        both.push_back(Example{x * 2, zs.index_select(0, rows)});
        for (const auto& b : both) loss = loss + torch::mse_loss(net(b.x), b.y);
      }
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>() * (end - at);
      seen += end - at;
    }
    std::printf("form %d seen %ld loss %.9f\n", form, long(seen), total / seen);
  }
  torch::save(weights, "weights.pt");
  return 0;
}
