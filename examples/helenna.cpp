// SPDX-License-Identifier: Apache-2.0
//
// One trainer for many networks and image sets.
//
//   helenna --network resnet18 --dataset cifar10 --data ~/data/cifar-10-batches-bin --augment --epochs 30 --lr 0.1 --out runs/

#include "command_line.h"
#include "event_log.h"

#include <hvd/hvd.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using hvd::Tensor;
namespace nn = hvd::nn;
namespace data = hvd::data;
namespace datasets = hvd::data::datasets;

// The dtype in which products and convolutions run; float32: that of the parameters.
static hvd::Dtype precision_of(const CommandLine& args) {
  const std::string& name = args.one_of("--precision", {"float32", "bf16", "fp16"});
  if (name != "float32" && args.text("--dtype") != "float32") throw std::runtime_error("--precision " + name + " goes with --dtype float32");
  return name == "bf16" ? hvd::kBFloat16 : name == "fp16" ? hvd::kFloat16 : hvd::kFloat32;
}

static CommandLine options_of(int argc, char** argv) {
  CommandLine args("helenna", {
      {"--network", "cnn_small", "mlp, cnn_small, cnn_medium, vgg1, vgg16, resnet18, resnet34, alexnet or the path of a text file"},
      {"--dataset", "synthetic", "mnist (Fashion-MNIST too), cifar10, cifar100, folder (train and test in it, a folder of images for each class) or synthetic"},
      {"--data", "", "folder of the data set"},
      {"--shape", "1x28x28", "of synthetic images: channels, rows, columns; of a folder's: 3xRxC"},
      {"--samples", "0", "at most so many for training; 0: all, or 4096 synthetic ones"},
      {"--test-samples", "0", "likewise for testing"},
      {"--augment", "", "crop and flip training images at random", true},
      {"--batch", "64", "samples of a step"},
      {"--epochs", "3", "passes over the training set"},
      {"--max-steps", "0", "end after so many steps; 0: no limit"},
      {"--lr", "0.05", "learning rate, which falls to 0 along half a cosine"},
      {"--momentum", "0.9", "of SGD"},
      {"--weight-decay", "0.0005", "of SGD"},
      {"--label-smoothing", "0", "share of the uniform distribution in the target"},
      {"--device", "", "cpu, onednn, cublas or cudnn"},
      {"--memory", "malloc", "where tensors live: malloc; device, pinned and managed are memory of CUDA devices"},
      {"--dtype", "float32", "of the parameters: float32 or float64"},
      {"--precision", "float32", "of products and convolutions: float32, bf16 or fp16 (with a scaled loss)"},
      {"--workers", "2", "threads that load batches"},
      {"--seed", "1", "of all random numbers"},
      {"--report", "50", "steps between two lines of progress"},
      {"--save-every", "0", "steps between two checkpoints; 0: one at the end of each epoch"},
      {"--out", "", "prefix of log.csv, last.safetensors and best.safetensors"},
      {"--events", "", "file of events for TensorBoard (name it events.out.tfevents.SOMETHING)"},
      {"--resume", "", "checkpoint to continue from"},
  });
  args.parse(argc, argv);
  return args;
}

// ---------------------------------------------------------------------------------------------------------------------
// Data

struct ImageSets {
  std::shared_ptr<data::Dataset> train, test;
  int64_t classes = 10;
  std::vector<double> mean, deviation;  // of the channels
};

static std::vector<int64_t> shape_of(const std::string& text) {
  std::vector<int64_t> shape;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, 'x');) shape.push_back(std::stoll(part));
  return shape;
}

static ImageSets open_images(const CommandLine& args) {
  const std::string& name = args.one_of("--dataset", {"mnist", "cifar10", "cifar100", "folder", "synthetic"});
  const std::string& folder = args.text("--data");
  if (name == "mnist") return {std::make_shared<datasets::MNIST>(folder, datasets::kTrain), std::make_shared<datasets::MNIST>(folder, datasets::kTest), 10, {0.2}, {0.33}};
  const std::vector<double> mean = {0.491, 0.482, 0.447}, deviation = {0.247, 0.243, 0.262};
  if (name == "cifar10")
    return {std::make_shared<datasets::CIFAR10>(folder, datasets::kTrain), std::make_shared<datasets::CIFAR10>(folder, datasets::kTest), 10, mean, deviation};
  if (name == "cifar100")
    return {std::make_shared<datasets::CIFAR100>(folder, datasets::kTrain), std::make_shared<datasets::CIFAR100>(folder, datasets::kTest), 100, mean, deviation};
  const std::vector<int64_t> shape = shape_of(args.text("--shape"));
  if (name == "folder") {
    if (shape.size() != 3 || shape[0] != 3) throw std::runtime_error("--dataset folder goes with --shape 3xROWSxCOLUMNS, not " + args.text("--shape"));
    const auto train = std::make_shared<datasets::ImageFolder>(folder + "/train", shape[1], shape[2]);
    const auto test = std::make_shared<datasets::ImageFolder>(folder + "/test", shape[1], shape[2]);
    if (train->classes() != test->classes()) throw std::runtime_error("'" + folder + "': train and test have different classes");
    return {train, test, static_cast<int64_t>(train->classes().size()), {0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}};
  }
  const long samples = args.count("--samples", 0), test_samples = args.count("--test-samples", 0);
  return {std::make_shared<datasets::SyntheticImages>(samples > 0 ? samples : 4096, shape, 10, 1),
          std::make_shared<datasets::SyntheticImages>(test_samples > 0 ? test_samples : 512, shape, 10, 2), 10, {0.5}, {0.25}};
}

static std::shared_ptr<data::Dataset> first_of(std::shared_ptr<data::Dataset> set, long limit) {
  return limit > 0 ? std::make_shared<datasets::Mapped>(data::take(set, limit)) : set;
}

// What the network sees of a set: normalised, for training augmented.
static std::shared_ptr<data::Dataset> prepared(std::shared_ptr<data::Dataset> set, const ImageSets& sets, bool augment) {
  if (augment) {
    const Tensor image = set->get(0).data;
    const int64_t rows = image.size(1), cols = image.size(2);
    set = std::make_shared<datasets::Mapped>(data::map(set, data::RandomCrop(rows, cols, rows / 8)));
    set = std::make_shared<datasets::Mapped>(data::map(set, data::RandomHorizontalFlip()));
  }
  return std::make_shared<datasets::Mapped>(data::map(set, data::Normalize(sets.mean, sets.deviation)));
}

// ---------------------------------------------------------------------------------------------------------------------
// Training

class Trainer {
 public:
  Trainer(const CommandLine& args, const ImageSets& sets, std::shared_ptr<data::Dataset> train_set, std::shared_ptr<data::Dataset> test_set)
      : epochs_(args.count("--epochs", 1)),
        max_steps_(args.count("--max-steps", 0)),
        report_(args.count("--report", 1)),
        save_every_(args.count("--save-every", 0)),
        out_(args.text("--out")),
        precision_(precision_of(args)),
        device_(args.text("--device").empty() ? hvd::default_device() : hvd::Device(args.one_of("--device", {"cpu", "onednn", "cublas", "cudnn"}))),
        train_loader_(data::make_data_loader<data::RandomSampler>(
            train_set, data::DataLoaderOptions().batch_size(args.count("--batch", 1)).workers(args.count("--workers", 0)))),
        test_loader_(data::make_data_loader<data::SequentialSampler>(test_set, data::DataLoaderOptions().batch_size(256))),
        model_(nn::networks::open(args.text("--network"), nn::NetworkOptions().input(train_set->get(0).data.sizes()).set("classes", sets.classes))),
        criterion_(nn::CrossEntropyLossOptions().label_smoothing(args.number("--label-smoothing"))),
        optimizer_(model_->parameters(),
                   hvd::optim::SGDOptions(args.number("--lr")).momentum(args.number("--momentum")).weight_decay(args.number("--weight-decay"))),
        schedule_(optimizer_, epochs_ * static_cast<int64_t>(train_loader_->size())),
        scaler_(hvd::amp::GradScalerOptions().enabled(precision_ == hvd::kFloat16)) {
    model_->to(device_);
    if (!args.text("--resume").empty()) resume(args.text("--resume"));
    log_.open(out_ + "log.csv", step_ > 0 ? std::ios::app : std::ios::trunc);
    if (!log_) throw std::runtime_error("cannot write '" + out_ + "log.csv'");
    if (const std::string& file = args.text("--events"); !file.empty()) {
      events_.open(file, std::ios::binary | (step_ > 0 ? std::ios::app : std::ios::trunc));
      if (!events_) throw std::runtime_error("cannot write '" + file + "'");
      has_events_ = true;
      if (step_ == 0) events_ << event_log::header();
    }
    if (step_ == 0) log_ << "epoch,step,test_loss,test_accuracy\n";
  }

  void run() {
    while (epoch_ < epochs_ && !finished()) {
      train_epoch();
      ++epoch_;
      evaluate();
      save("");
    }
    std::cout << "best test accuracy " << std::fixed << std::setprecision(4) << best_accuracy_ << std::endl;
    std::cout << "time: " << phases_.summary() << "; " << energy_.summary() << std::endl;
  }

 private:
  bool finished() const { return max_steps_ > 0 && step_ >= max_steps_; }

  bool is_mixed() const { return precision_ != hvd::kFloat32; }
  // What the guard is told when it is not to cast does not matter.
  hvd::Dtype low_dtype() const { return is_mixed() ? precision_ : hvd::kBFloat16; }

  Tensor logits_of(const Tensor& images) {
    const hvd::amp::AutocastGuard autocast(low_dtype(), is_mixed());
    return model_(images).to(hvd::default_dtype());
  }

  void train_epoch() {
    model_->train();
    phases_.enter("load");
    for (auto& batch : *train_loader_) {
      phases_.enter("forward");
      const Tensor images = batch.data.to(device_), labels = batch.target.to(device_);
      optimizer_.zero_grad();
      const Tensor loss = criterion_(logits_of(images), labels);
      phases_.enter("backward");
      scaler_.scale(loss).backward();
      phases_.enter("update");
      scaler_.step(optimizer_);
      scaler_.update();
      schedule_.step();
      ++step_;
      seen_ += labels.size(0);

      if (step_ % report_ == 0) {
        std::cout << "epoch " << epoch_ + 1 << ", step " << step_ << ": loss " << std::fixed << std::setprecision(4) << loss.item<double>()
                  << ", learning rate " << std::setprecision(6) << schedule_.last_lr() << std::endl;
        report_speed();
      }
      if (finished()) break;
      if (save_every_ > 0 && step_ % save_every_ == 0) save(train_loader_->state());
      phases_.enter("load");
    }
    phases_.leave();
  }

  // Samples in a second since the start of this run, and how long the steps that remain will take at that.
  void report_speed() const {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    const int64_t steps = epochs_ * static_cast<int64_t>(train_loader_->size());
    const int64_t last = max_steps_ > 0 ? std::min(max_steps_, steps) : steps;
    std::cout << "time: " << std::fixed << std::setprecision(0) << static_cast<double>(seen_) / seconds << " samples/s, "
              << seconds / static_cast<double>(step_ - first_step_) * static_cast<double>(last - step_) << " s left" << std::endl;
  }

  void evaluate() {
    hvd::NoGradGuard no_grad;
    model_->eval();
    phases_.enter("evaluate");
    double loss = 0;
    int64_t correct = 0, samples = 0;
    for (auto& batch : *test_loader_) {
      const Tensor labels = batch.target.to(device_);
      const Tensor logits = logits_of(batch.data.to(device_));
      loss += nn::functional::cross_entropy(logits, labels).item<double>() * static_cast<double>(labels.size(0));
      correct += logits.argmax(1).eq(labels).sum().item<int64_t>();
      samples += labels.size(0);
    }
    phases_.leave();
    const double accuracy = static_cast<double>(correct) / static_cast<double>(samples);
    std::cout << "epoch " << epoch_ << ": test loss " << std::fixed << std::setprecision(4) << loss / static_cast<double>(samples)
              << ", test accuracy " << accuracy << std::endl;
    log_ << epoch_ << "," << step_ << "," << loss / static_cast<double>(samples) << "," << accuracy << std::endl;
    if (has_events_) {
      events_ << event_log::scalar("test/loss", loss / static_cast<double>(samples), step_) << event_log::scalar("test/accuracy", accuracy, step_);
      events_ << event_log::scalar("learning_rate", schedule_.last_lr(), step_) << std::flush;
    }
    if (accuracy > best_accuracy_) {
      best_accuracy_ = accuracy;
      hvd::save(model_, out_ + "best.safetensors");
    }
  }

  // `pass`: where the pass over the training set stands; empty between two epochs.
  void save(const std::string& pass) {
    std::ostringstream best;
    best << std::setprecision(17) << best_accuracy_;
    hvd::CheckpointMeta meta;
    meta.epoch = epoch_;
    meta.step = step_;
    meta.extra = {{"best_accuracy", best.str()}, {"pass", pass}, {"scaler", scaler_.state()}};
    hvd::save_checkpoint(out_ + "last.safetensors", model_, optimizer_, meta);
  }

  void resume(const std::string& file) {
    const hvd::CheckpointMeta meta = hvd::load_checkpoint(file, model_, optimizer_);
    epoch_ = meta.epoch;
    step_ = first_step_ = meta.step;
    best_accuracy_ = std::stod(meta.extra.at("best_accuracy"));
    train_loader_->load_state(meta.extra.at("pass"));
    scaler_.load_state(meta.extra.at("scaler"));
    schedule_.set_last_epoch(step_);
    std::cout << "resumed in epoch " << epoch_ + 1 << " after step " << step_ << std::endl;
  }

  int64_t epochs_, max_steps_, report_, save_every_;
  std::string out_;
  hvd::Dtype precision_;
  hvd::Device device_;
  std::unique_ptr<data::DataLoader> train_loader_, test_loader_;
  nn::Network model_;
  nn::CrossEntropyLoss criterion_;
  hvd::optim::SGD optimizer_;
  hvd::optim::CosineAnnealingLR schedule_;
  hvd::amp::GradScaler scaler_;
  hvd::Phases phases_;
  hvd::EnergyMeter energy_;
  std::ofstream log_, events_;
  bool has_events_ = false;
  int64_t epoch_ = 0, step_ = 0;
  double best_accuracy_ = -1;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  int64_t first_step_ = 0, seen_ = 0;  // of this run
};

int main(int argc, char** argv) {
  const CommandLine args = options_of(argc, argv);
  try {
    if (const std::string& memory = args.one_of("--memory", {"malloc", "device", "pinned", "managed"}); memory != "malloc") {
      if (args.text("--device") != "cublas" && args.text("--device") != "cudnn")
        throw std::runtime_error("--memory " + memory + " goes with --device cublas or cudnn");
      hvd::set_device_memory(hvd::memory_kind(memory));
    }
    if (args.one_of("--dtype", {"float32", "float64"}) == "float64") hvd::set_default_dtype(hvd::kFloat64);
    hvd::manual_seed(args.count("--seed", 0));
    const ImageSets sets = open_images(args);
    const auto train_set = prepared(first_of(sets.train, args.count("--samples", 0)), sets, args.flag("--augment"));
    const auto test_set = prepared(first_of(sets.test, args.count("--test-samples", 0)), sets, false);
    std::cout << train_set->size() << " training samples, " << test_set->size() << " test samples" << std::endl;
    Trainer(args, sets, train_set, test_set).run();
  } catch (const std::exception& error) {
    std::cerr << "helenna: " << error.what() << std::endl;
    return 1;
  }
  return 0;
}
