// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: means of a step read in the next one: in a member set by a method, in an array, a pair, a map of structs, by std::exchange
// form: a record with a tensor assigned as a whole, and lists of such records: in braces, by a constructor, by emplace_back
// form: the first value of a moving average of the program's own class
// form: losses by name: a map gone through with structured bindings, printed with its keys, weighted by another map
#include <torch/torch.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

struct Tracker {
  torch::Tensor last;
  void keep(const torch::Tensor& t) { last = t; }
  double change(const torch::Tensor& t) const { return last.defined() ? (t - last).abs().item<double>() : 0.0; }
};
struct Average {
  torch::Tensor value;
  void update(const torch::Tensor& t) {
    if (!value.defined()) value = t.clone();
    else value = 0.9 * value + 0.1 * t;
  }
};
struct Record {
  int step = 0;
  torch::Tensor mean, sum;
};
struct Sum {
  int step;
  torch::Tensor sum;
};
struct Entry {
  Entry(int step, const torch::Tensor& loss) : step(step), loss(loss) {}
  int step;
  torch::Tensor loss;
};

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  const auto xs = torch::randn({43, 4}), ys = torch::randn({43, 1});
  torch::nn::Linear a(4, 6), b(6, 1);
  auto weights = a->parameters();
  for (auto& w : b->parameters()) weights.push_back(w);
  torch::optim::SGD optimizer(weights, rate);
  Tracker tracker;
  Average average;
  std::array<torch::Tensor, 2> pair_of{torch::zeros({6}), torch::zeros({})};
  std::pair<torch::Tensor, double> kept{torch::zeros({6}), 0};
  std::map<std::string, Record> records;
  records["a"].mean = torch::zeros({6});
  Record record{0, torch::zeros({6}), torch::zeros({})};
  std::vector<Record> history;
  std::vector<std::pair<int, torch::Tensor>> pairs;
  std::vector<Entry> entries;
  std::vector<Sum> sums;
  std::unique_ptr<torch::Tensor> held;
  torch::Tensor before = torch::zeros({6});
  const std::map<std::string, double> shares{{"absolute", 0.25}, {"square", 0.75}};
  int step = 0;
  for (int64_t at = 0; at < 43; at += batch) {
    auto x = xs.slice(0, at, std::min<int64_t>(at + batch, 43)), y = ys.slice(0, at, std::min<int64_t>(at + batch, 43));
    auto h = torch::tanh(a(x)), out = b(h);
    std::map<std::string, torch::Tensor> losses;
    losses["square"] = torch::mse_loss(out, y);
    losses["absolute"] = torch::l1_loss(out, y);
    auto loss = torch::zeros({});
    for (const auto& [name, value] : losses) loss = loss + shares.at(name) * value;
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    const auto mean = h.detach().mean(0);
    const auto sum = (out - y).detach().pow(2).sum();
    std::printf("step %d change %.9f", step, tracker.change(loss.detach()));
    tracker.keep(loss.detach());
    average.update(mean);
    std::printf(" average %.9f array %.9f", average.value.sum().item<double>(), (pair_of[0].sum() + pair_of[1]).item<double>());
    pair_of[0] = mean;
    pair_of[1] = sum;
    std::printf(" pair %.9f %.9f", kept.first.sum().item<double>(), kept.second);
    kept.first = mean;
    kept.second = sum.item<double>();
    std::printf(" map %.9f", records["a"].mean.sum().item<double>());
    records["a"].mean = mean;
    std::printf(" record %.9f %.9f", record.mean.sum().item<double>(), record.sum.item<double>());
    record = Record{step, mean, sum};
    history.push_back({step, mean, sum});
    pairs.push_back({step, sum});
    entries.push_back(Entry(step, sum));
    entries.emplace_back(step, sum);
    sums.push_back({step, (out - y).pow(2).sum()});
    double total = 0;
    for (const auto& r : history) total += r.sum.item<double>();
    for (const auto& p : pairs) total += p.second.item<double>();
    for (const auto& e : entries) total += e.loss.item<double>();
    for (const auto& s : sums) total += s.sum.item<double>();
    if (held) total += held->sum().item<double>();
    held = std::make_unique<torch::Tensor>(mean);
    const auto old = std::exchange(before, mean);
    std::printf(" total %.9f exchanged %.9f\n", total, old.sum().item<double>());
    for (auto& [name, value] : losses) std::printf("%s %.9f\n", name.c_str(), value.item<double>());
    ++step;
  }
  torch::save(weights, "weights.pt");
  return 0;
}
