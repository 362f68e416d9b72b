// SPDX-License-Identifier: Apache-2.0
//
// A small convolutional network with batch norm on MNIST, Fashion-MNIST or generated digits.

#include <hvd/hvd.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>

using hvd::Tensor;
using hvd::data::DataLoader;
using hvd::data::DataLoaderOptions;
using hvd::data::Dataset;
namespace nn = hvd::nn;
namespace datasets = hvd::data::datasets;

// ---------------------------------------------------------------------------------------------------------------------
// Command line

class CommandLine {
 public:
  CommandLine(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string name = argv[i];
      const auto known = values_.find(name);
      if (known == values_.end()) die("unknown option '" + name + "'\n" + usage());
      if (name == "--no-dropout") {
        known->second = "yes";
      } else {
        if (i + 1 == argc) die("option " + name + " needs a value");
        known->second = argv[++i];
      }
    }
  }

  const std::string& text(const std::string& name) const { return values_.at(name); }

  int64_t count(const std::string& name, int64_t least) const {
    std::istringstream in(text(name));
    int64_t value = 0;
    if (!(in >> value) || !in.eof() || value < least)
      die("option " + name + ": '" + text(name) + "' is not a whole number of at least " + std::to_string(least));
    return value;
  }

  double rate(const std::string& name) const {
    std::istringstream in(text(name));
    double value = 0;
    if (!(in >> value) || !in.eof() || !(value >= 0)) die("option " + name + ": '" + text(name) + "' is not a number of at least 0");
    return value;
  }

  std::string one_of(const std::string& name, const std::string& a, const std::string& b) const {
    if (text(name) != a && text(name) != b) die("option " + name + ": '" + text(name) + "' is neither " + a + " nor " + b);
    return text(name);
  }

 private:
  [[noreturn]] static void die(const std::string& message) {
    std::cerr << "mnist_cnn: " << message << std::endl;
    std::exit(2);
  }

  std::string usage() const {
    std::string line = "options:";
    for (const auto& [name, value] : values_) line += " " + name;
    return line;
  }

  // Every option with its default.
  std::map<std::string, std::string> values_ = {
      {"--data", ""},           {"--epochs", "8"},   {"--batch", "64"},       {"--lr", "0.002"},  {"--max-steps", "0"},
      {"--samples", "0"},       {"--seed", "1"},     {"--test-samples", "0"}, {"--workers", "1"}, {"--dtype", "float32"},
      {"--device", ""},         {"--no-dropout", ""}, {"--patience", "3"},     {"--out", ""},      {"--save", ""},
      {"--save-every", "0"},    {"--resume", ""},
  };
};

// ---------------------------------------------------------------------------------------------------------------------
// Model

struct ConvBlockImpl : nn::Module {
  ConvBlockImpl(int64_t in, int64_t out)
      : conv(register_module("conv", nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1).bias(false)))),
        norm(register_module("norm", nn::BatchNorm2d(out))),
        pool(register_module("pool", nn::MaxPool2d(nn::MaxPool2dOptions(2)))) {}

  Tensor forward(const Tensor& x) { return pool(norm(conv(x)).relu()); }

  nn::Conv2d conv;
  nn::BatchNorm2d norm;
  nn::MaxPool2d pool;
};
HVD_MODULE(ConvBlock);

struct ConvNetImpl : nn::Module {
  explicit ConvNetImpl(double dropout_rate)
      : block1(register_module("block1", ConvBlock(1, 16))),
        block2(register_module("block2", ConvBlock(16, 32))),
        dropout(register_module("dropout", nn::Dropout(dropout_rate))),
        classifier(register_module("classifier", nn::Linear(32 * 7 * 7, 10))) {}

  Tensor forward(const Tensor& images) {
    Tensor features = block2(block1(images));
    return classifier(dropout(features.flatten(1)));
  }

  ConvBlock block1, block2;
  nn::Dropout dropout;
  nn::Linear classifier;
};
HVD_MODULE(ConvNet);

// ---------------------------------------------------------------------------------------------------------------------
// Training

class Trainer {
 public:
  Trainer(const CommandLine& args, std::shared_ptr<Dataset> train_set, std::shared_ptr<Dataset> test_set)
      : epochs_(args.count("--epochs", 1)),
        max_steps_(args.count("--max-steps", 0)),
        patience_(args.count("--patience", 1)),
        save_every_(args.count("--save-every", 0)),
        out_(args.text("--out")),
        save_file_(args.text("--save")),
        train_loader_(hvd::data::make_data_loader(
            train_set, DataLoaderOptions().batch_size(args.count("--batch", 1)).workers(args.count("--workers", 0)))),
        test_loader_(hvd::data::make_data_loader<hvd::data::SequentialSampler>(test_set, DataLoaderOptions().batch_size(250))),
        model_(args.text("--no-dropout").empty() ? 0.25 : 0.0),
        optimizer_(model_->parameters(), hvd::optim::AdamOptions(args.rate("--lr")).weight_decay(1e-5)),
        schedule_(optimizer_, epochs_ * static_cast<int64_t>(train_loader_->size())) {
    if (save_every_ > 0 && save_file_.empty()) throw std::runtime_error("--save-every goes with --save");
    if (!args.text("--device").empty()) device_ = hvd::Device(args.text("--device"));
    model_->to(device_);
    if (!args.text("--resume").empty()) resume(args.text("--resume"));
    log_.open(out_ + "log.csv", step_ > 0 ? std::ios::app : std::ios::trunc);
    if (!log_) throw std::runtime_error("cannot write '" + out_ + "log.csv'");
    if (step_ == 0) log_ << "epoch,step,train_loss,test_loss,test_accuracy\n";
  }

  void run() {
    while (epoch_ < epochs_ && !finished() && epoch_ - best_epoch_ < patience_) {
      const double train_loss = train_epoch();
      ++epoch_;
      const Score score = evaluate();
      std::cout << "epoch " << epoch_ << ": train loss " << std::fixed << std::setprecision(4) << train_loss << ", test loss " << score.loss
                << ", test accuracy " << score.accuracy << std::endl;
      log_ << epoch_ << "," << step_ << "," << train_loss << "," << score.loss << "," << score.accuracy << std::endl;

      if (score.accuracy > best_accuracy_) {
        best_accuracy_ = score.accuracy;
        best_epoch_ = epoch_;
        hvd::save(model_, out_ + "best.safetensors");
      }
      if (!save_file_.empty()) save("");
      if (epoch_ - best_epoch_ >= patience_) {
        std::cout << "no better model for " << patience_ << " epochs, stopping" << std::endl;
        break;
      }
    }
    std::cout << "best test accuracy " << std::fixed << std::setprecision(4) << best_accuracy_ << " in epoch " << best_epoch_ << std::endl;
  }

 private:
  struct Score {
    double loss = 0;
    double accuracy = 0;
  };

  bool finished() const { return max_steps_ > 0 && step_ >= max_steps_; }

  double train_epoch() {
    model_->train();
    for (auto& [images, labels] : *train_loader_) {
      optimizer_.zero_grad();
      Tensor loss = criterion_(model_(images.to(device_)), labels.to(device_));
      loss.backward();
      optimizer_.step();
      schedule_.step();
      ++step_;

      const int64_t n = images.size(0);
      total_loss_ += loss.item<double>() * static_cast<double>(n);
      seen_ += n;
      if (step_ % 50 == 0) {
        std::cout << "step " << step_ << ": " << seen_ << " of " << train_loader_->dataset_size() << " samples, loss " << std::fixed
                  << std::setprecision(4) << loss.item<double>() << ", learning rate " << std::setprecision(6) << schedule_.last_lr()
                  << std::endl;
      }
      if (finished()) break;
      if (save_every_ > 0 && step_ % save_every_ == 0) save(train_loader_->state());
    }
    const double mean = total_loss_ / static_cast<double>(seen_);
    total_loss_ = 0;
    seen_ = 0;
    return mean;
  }

  Score evaluate() {
    hvd::NoGradGuard no_grad;
    model_->eval();
    double loss = 0;
    int64_t correct = 0, samples = 0;
    for (auto& batch : *test_loader_) {
      const Tensor labels = batch.target.to(device_);
      const Tensor logits = model_(batch.data.to(device_));
      loss += criterion_(logits, labels).item<double>() * static_cast<double>(labels.size(0));
      correct += logits.argmax(1).eq(labels).sum().item<int64_t>();
      samples += labels.size(0);
    }
    return {loss / static_cast<double>(samples), static_cast<double>(correct) / static_cast<double>(samples)};
  }

  static std::string exactly(double value) {
    std::ostringstream text;
    text << std::setprecision(17) << value;
    return text.str();
  }

  // `pass`: where the pass over the training set stands; empty between two epochs.
  void save(const std::string& pass) {
    hvd::CheckpointMeta meta;
    meta.epoch = epoch_;
    meta.step = step_;
    meta.extra = {{"best_accuracy", exactly(best_accuracy_)}, {"best_epoch", std::to_string(best_epoch_)},
                  {"total_loss", exactly(total_loss_)},       {"seen", std::to_string(seen_)},
                  {"pass", pass}};
    hvd::save_checkpoint(save_file_, model_, optimizer_, meta);
  }

  void resume(const std::string& file) {
    const hvd::CheckpointMeta meta = hvd::load_checkpoint(file, model_, optimizer_);
    epoch_ = meta.epoch;
    step_ = meta.step;
    best_accuracy_ = std::stod(meta.extra.at("best_accuracy"));
    best_epoch_ = std::stoll(meta.extra.at("best_epoch"));
    total_loss_ = std::stod(meta.extra.at("total_loss"));
    seen_ = std::stoll(meta.extra.at("seen"));
    train_loader_->load_state(meta.extra.at("pass"));
    schedule_.set_last_epoch(step_);
    std::cout << "resumed in epoch " << epoch_ + 1 << " after step " << step_ << std::endl;
  }

  int64_t epochs_, max_steps_, patience_, save_every_;
  std::string out_, save_file_;
  hvd::Device device_ = hvd::default_device();
  std::unique_ptr<DataLoader> train_loader_, test_loader_;
  ConvNet model_;
  nn::CrossEntropyLoss criterion_;
  hvd::optim::Adam optimizer_;
  hvd::optim::CosineAnnealingLR schedule_;
  std::ofstream log_;
  int64_t epoch_ = 0, step_ = 0;
  double total_loss_ = 0;  // over the samples of the epoch that is under way
  int64_t seen_ = 0;       // those samples
  double best_accuracy_ = -1;
  int64_t best_epoch_ = 0;
};

// At most `limit` samples (0: all) of the IDX files in `dir`, or else of `generated` digits.
static std::shared_ptr<Dataset> open_images(const std::string& dir, datasets::Mode mode, int64_t limit, int64_t generated) {
  auto set = datasets::open_digits_or(dir, mode, limit > 0 ? limit : generated);
  if (limit > 0) set = std::make_shared<datasets::Mapped>(hvd::data::take(set, limit));
  return std::make_shared<datasets::Mapped>(hvd::data::map(set, hvd::data::Normalize(0.5, 0.5)));
}

int main(int argc, char** argv) try {
  const CommandLine args(argc, argv);
  hvd::manual_seed(static_cast<uint64_t>(args.count("--seed", 0)));
  if (args.one_of("--dtype", "float32", "float64") == "float64") hvd::set_default_dtype(hvd::kFloat64);

  const std::string dir = args.text("--data");
  if (!datasets::has_idx_files(dir)) std::cout << "no MNIST files: using generated digits" << std::endl;
  auto train_set = open_images(dir, datasets::kTrain, args.count("--samples", 0), 6000);
  auto test_set = open_images(dir, datasets::kTest, args.count("--test-samples", 0), 1000);
  std::cout << train_set->size() << " training and " << test_set->size() << " test images" << std::endl;

  Trainer trainer(args, train_set, test_set);
  trainer.run();
  return 0;
} catch (const std::exception& error) {
  std::cerr << "mnist_cnn: " << error.what() << std::endl;
  return 1;
}
