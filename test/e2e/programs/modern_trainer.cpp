// SPDX-License-Identifier: Apache-2.0
// e2e: args=epochs=5 samples=203 held_out=50; scaled=batch={8*N} rate={0.004*sqrt(N)}
// A generic trainer: model and optimizer are template parameters, callbacks report, patience stops.
#include <hvd/hvd.hpp>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using hvd::Tensor;

struct Config {
  std::size_t batch = 8;
  std::size_t epochs = 4;
  std::size_t samples = 200;
  std::size_t held_out = 50;
  std::size_t accumulate = 3;
  std::size_t patience = 2;
  double rate = 0.004;
  double clip = 1.0;
  double dropout = 0.1;

  void set(const std::string& key, const std::string& value) {
    if (key == "batch") batch = std::stoul(value);
    else if (key == "epochs") epochs = std::stoul(value);
    else if (key == "samples") samples = std::stoul(value);
    else if (key == "held_out") held_out = std::stoul(value);
    else if (key == "accumulate") accumulate = std::stoul(value);
    else if (key == "patience") patience = std::stoul(value);
    else if (key == "rate") rate = std::stod(value);
    else if (key == "clip") clip = std::stod(value);
    else if (key == "dropout") dropout = std::stod(value);
    else throw std::invalid_argument("unknown key '" + key + "'");
  }

  void set(std::string_view assignment) {
    const auto equals = assignment.find('=');
    if (equals == std::string_view::npos) throw std::invalid_argument("not KEY=VALUE: " + std::string(assignment));
    set(std::string(assignment.substr(0, equals)), std::string(assignment.substr(equals + 1)));
  }

  static Config read(int argc, char** argv) {
    Config config;
    if (std::ifstream file("trainer.conf"); file) {
      for (std::string line; std::getline(file, line);)
        if (!line.empty() && line.front() != '#') config.set(line);
    }
    for (int i = 1; i < argc; ++i) config.set(std::string_view(argv[i]));
    return config;
  }
};

class ClassifierImpl : public hvd::nn::Module {
 public:
  explicit ClassifierImpl(double dropout)
      : body_(register_module("body", hvd::nn::Sequential(hvd::nn::Flatten(), hvd::nn::Linear(784, 48), hvd::nn::ReLU(), hvd::nn::Dropout(dropout)))),
        head_(register_module("head", hvd::nn::Linear(48, 10))) {}

  Tensor forward(const Tensor& x) { return head_(body_->forward(x)); }

 private:
  hvd::nn::Sequential body_;
  hvd::nn::Linear head_;
};
HVD_MODULE(Classifier);

struct EpochStats {
  std::size_t epoch = 0;
  double train_loss = 0.0;
  double held_out_loss = 0.0;
  double accuracy = 0.0;
  std::size_t updates = 0;
};

template <typename Model, typename Optim>
class Trainer {
 public:
  using EpochCallback = std::function<void(const EpochStats&)>;
  using BatchCallback = std::function<void(std::size_t batch, double loss, double norm)>;

  Trainer(Model model, std::unique_ptr<Optim> optimizer, Config config)
      : model_(std::move(model)), optimizer_(std::move(optimizer)), config_(std::move(config)) {}

  void on_epoch(EpochCallback callback) { epoch_callbacks_.push_back(std::move(callback)); }
  void on_batch(BatchCallback callback) { batch_callbacks_.push_back(std::move(callback)); }

  template <typename TrainLoader, typename TestLoader>
  std::optional<std::size_t> fit(TrainLoader& train, TestLoader& test) {
    for (std::size_t epoch = 1; epoch <= config_.epochs; ++epoch) {
      EpochStats stats{.epoch = epoch};
      stats.train_loss = train_epoch(train);
      std::tie(stats.held_out_loss, stats.accuracy) = evaluate(test);
      stats.updates = updates_;
      for (const auto& callback : epoch_callbacks_) callback(stats);
      if (!best_ || stats.held_out_loss < *best_) {
        best_ = stats.held_out_loss;
        bad_epochs_ = 0;
        hvd::save(model_, "best.safetensors");
      } else if (++bad_epochs_ >= config_.patience) {
        return epoch;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] double best() const { return best_.value_or(0.0); }
  Model& model() { return model_; }

 private:
  template <typename Loader>
  double train_epoch(Loader& loader) {
    model_->train();
    double sum = 0.0;
    std::size_t seen = 0, index = 0;
    const std::size_t last = loader.size();
    optimizer_->zero_grad();
    for (auto& [data, target] : loader) {
      const auto loss = hvd::nn::functional::cross_entropy(model_->forward(data), target);
      (loss / static_cast<double>(config_.accumulate)).backward();
      const auto rows = static_cast<std::size_t>(data.size(0));
      sum += loss.template item<double>() * static_cast<double>(rows);
      seen += rows;
      ++index;
      if (index % config_.accumulate == 0 || index == last) {
        const double norm = hvd::nn::utils::clip_grad_norm_(model_->parameters(), config_.clip);
        optimizer_->step();
        optimizer_->zero_grad();
        ++updates_;
        for (const auto& callback : batch_callbacks_) callback(index, loss.template item<double>(), norm);
      }
    }
    return sum / static_cast<double>(seen);
  }

  template <typename Loader>
  std::pair<double, double> evaluate(Loader& loader) {
    hvd::NoGradGuard guard;
    model_->eval();
    double sum = 0.0;
    std::int64_t correct = 0, total = 0;
    for (const auto& batch : loader) {
      const auto scores = model_->forward(batch.data);
      sum += hvd::nn::functional::cross_entropy(scores, batch.target,
                                                hvd::nn::functional::CrossEntropyFuncOptions().reduction(hvd::kSum))
                 .template item<double>();
      correct += scores.argmax(1).eq(batch.target).sum().template item<std::int64_t>();
      total += batch.data.size(0);
    }
    return {sum / static_cast<double>(total), static_cast<double>(correct) / static_cast<double>(total)};
  }

  Model model_;
  std::unique_ptr<Optim> optimizer_;
  Config config_;
  std::vector<EpochCallback> epoch_callbacks_;
  std::vector<BatchCallback> batch_callbacks_;
  std::optional<double> best_;
  std::size_t bad_epochs_ = 0;
  std::size_t updates_ = 0;
};

auto digits(std::size_t n, std::uint64_t seed) { return hvd::data::datasets::Digits(n, seed).map(hvd::data::Normalize(0.13, 0.31)); }

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto config = Config::read(argc, argv);
    hvd::set_default_dtype(hvd::kFloat64);
    hvd::manual_seed(11);

    auto train = hvd::data::make_data_loader<hvd::data::RandomSampler>(digits(config.samples, 1), hvd::data::DataLoaderOptions(config.batch));
    auto test = hvd::data::make_data_loader<hvd::data::SequentialSampler>(digits(config.held_out, 2), hvd::data::DataLoaderOptions(32));

    Classifier model(config.dropout);
    auto optimizer = std::make_unique<hvd::optim::AdamW>(model->parameters(), hvd::optim::AdamWOptions(config.rate).weight_decay(0.01));
    Trainer<Classifier, hvd::optim::AdamW> trainer(model, std::move(optimizer), config);

    std::vector<EpochStats> history;
    trainer.on_epoch([&history](const EpochStats& stats) { history.push_back(stats); });
    trainer.on_epoch([](const EpochStats& stats) {
      std::cout << "epoch " << stats.epoch << std::fixed << std::setprecision(5) << ": loss " << stats.train_loss << ", held out "
                << stats.held_out_loss << ", accuracy " << stats.accuracy << ", updates " << stats.updates << '\n';
    });
    trainer.on_batch([](std::size_t batch, double loss, double norm) {
      if (batch % 2 == 0) std::cout << "  batch " << batch << " loss " << loss << " norm " << norm << '\n';
    });

    if (const auto stopped = trainer.fit(*train, *test)) std::cout << "stopped after epoch " << *stopped << '\n';
    std::cout << "best held-out loss " << trainer.best() << std::endl;

    std::ofstream report("history.txt");
    for (const auto& stats : history) report << stats.epoch << ' ' << stats.train_loss << ' ' << stats.accuracy << '\n';
    hvd::save(trainer.model(), "last.safetensors");
    return 0;
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << '\n';
    return 1;
  }
}
