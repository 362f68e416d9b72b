// SPDX-License-Identifier: Apache-2.0
//
// A three-layer perceptron on MNIST, Fashion-MNIST or generated digits.
//
//   mnist_mlp --data ~/data/fashion-mnist --epochs 10 --batch 64 --lr 0.01 --out runs/

#include <hvd/hvd.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>

namespace nn = hvd::nn;
namespace data = hvd::data;
namespace F = hvd::nn::functional;

struct Options {
  std::string data_dir;
  int epochs = 10;
  int batch = 64;
  double lr = 0.01;
  int max_steps = 0;  // 0: no limit
  int samples = 0;    // 0: all
  int test_samples = 0;
  std::string dtype = "float32";
  std::string device;
  unsigned long seed = 1;
  bool dropout = true;
  int workers = 0;
  int patience = 3;
  std::string out;  // prefix of the log and of the best model
  std::string save_file, resume_file;
  int save_every = 0;  // steps between two checkpoints; 0: one at the end of each epoch
};

static const char* kUsage =
    "usage: mnist_mlp [--data DIR] [--epochs N] [--batch N] [--lr X] [--max-steps N] [--samples N] [--test-samples N]\n"
    "                 [--dtype float32|float64] [--device cpu|onednn|cublas|cudnn] [--seed N] [--no-dropout] [--workers N]\n"
    "                 [--patience N] [--out PREFIX] [--save FILE] [--save-every N] [--resume FILE]\n";

// A number that uses up the whole text and is at least `least`.
static double number(const std::string& option, const std::string& text, double least) {
  size_t used = 0;
  double value = 0;
  try {
    value = std::stod(text, &used);
  } catch (const std::logic_error&) {
    used = std::string::npos;
  }
  if (used != text.size() || !(value >= least) || !std::isfinite(value))
    throw std::invalid_argument(option + ": '" + text + "' is not a number of at least " + std::to_string(static_cast<int>(least)));
  return value;
}

static int integer(const std::string& option, const std::string& text, int least) {
  const double value = number(option, text, least);
  if (value != std::floor(value) || value > 2147483647.0) throw std::invalid_argument(option + ": '" + text + "' is not a whole number");
  return static_cast<int>(value);
}

static Options parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--help") {
      std::fputs(kUsage, stdout);
      std::exit(0);
    }
    if (name == "--no-dropout") {
      options.dropout = false;
      continue;
    }
    const auto value = [&]() -> std::string {
      if (i + 1 >= argc) throw std::invalid_argument(name + ": a value is missing");
      return argv[++i];
    };
    if (name == "--data") options.data_dir = value();
    else if (name == "--epochs") options.epochs = integer(name, value(), 1);
    else if (name == "--batch") options.batch = integer(name, value(), 1);
    else if (name == "--lr") options.lr = number(name, value(), 0);
    else if (name == "--max-steps") options.max_steps = integer(name, value(), 1);
    else if (name == "--samples") options.samples = integer(name, value(), 1);
    else if (name == "--test-samples") options.test_samples = integer(name, value(), 1);
    else if (name == "--dtype") options.dtype = value();
    else if (name == "--device") options.device = value();
    else if (name == "--seed") options.seed = static_cast<unsigned long>(integer(name, value(), 0));
    else if (name == "--workers") options.workers = integer(name, value(), 0);
    else if (name == "--patience") options.patience = integer(name, value(), 1);
    else if (name == "--out") options.out = value();
    else if (name == "--save") options.save_file = value();
    else if (name == "--save-every") options.save_every = integer(name, value(), 1);
    else if (name == "--resume") options.resume_file = value();
    else throw std::invalid_argument("unknown option '" + name + "'; --help lists them");
  }
  if (options.dtype != "float32" && options.dtype != "float64")
    throw std::invalid_argument("--dtype: '" + options.dtype + "' is neither float32 nor float64");
  if (options.save_every > 0 && options.save_file.empty()) throw std::invalid_argument("--save-every goes with --save");
  return options;
}

struct NetImpl : nn::Module {
  explicit NetImpl(double dropout) : p(dropout) {
    register_module("fc1", fc1);
    register_module("fc2", fc2);
    register_module("fc3", fc3);
  }

  hvd::Tensor forward(hvd::Tensor x) {
    x = x.flatten(1);
    x = F::dropout(F::relu(fc1->forward(x)), p, is_training());
    x = F::dropout(F::relu(fc2->forward(x)), p, is_training());
    return fc3->forward(x);
  }

  double p;
  nn::Linear fc1{784, 512}, fc2{512, 256}, fc3{256, 10};
};
HVD_MODULE(Net);

static data::datasets::Mapped open_set(const std::string& dir, data::datasets::Mode mode, int generated, int limit) {
  auto set = data::take(data::open_digits_or(dir, mode, limit > 0 ? limit : generated), limit > 0 ? limit : SIZE_MAX);
  return set.map(data::Normalize(0.1307, 0.3081));
}

// Where a run stands.
struct Progress {
  int epoch = 0;  // that are complete
  int64_t step = 0;
  int64_t best = -1;  // correct test samples
  int epochs_without_gain = 0;
  // Of the epoch that is under way; its accuracy is on the training batches, dropout on.
  int batch_index = 0;
  int64_t seen = 0, correct = 0;
  double loss_sum = 0;
};

// `pass`: where the pass over the training set stands; empty between two epochs.
static void save(const std::string& file, const Net& net, const hvd::optim::Optimizer& optimizer, const Progress& progress, const std::string& pass) {
  std::ostringstream loss_sum;
  loss_sum << std::setprecision(17) << progress.loss_sum;
  hvd::save_checkpoint(file, net, optimizer,
                       {progress.epoch,
                        progress.step,
                        {{"best_correct", std::to_string(progress.best)},
                         {"epochs_without_gain", std::to_string(progress.epochs_without_gain)},
                         {"batch_index", std::to_string(progress.batch_index)},
                         {"seen", std::to_string(progress.seen)},
                         {"correct", std::to_string(progress.correct)},
                         {"loss_sum", loss_sum.str()},
                         {"pass", pass}}});
}

// All of it but the place in the training set, which is returned.
static std::string load(const std::string& file, Net& net, hvd::optim::Optimizer& optimizer, Progress& progress) {
  const auto meta = hvd::load_checkpoint(file, net, optimizer);
  progress.epoch = static_cast<int>(meta.epoch);
  progress.step = meta.step;
  progress.best = std::stoll(meta.extra.at("best_correct"));
  progress.epochs_without_gain = std::stoi(meta.extra.at("epochs_without_gain"));
  progress.batch_index = std::stoi(meta.extra.at("batch_index"));
  progress.seen = std::stoll(meta.extra.at("seen"));
  progress.correct = std::stoll(meta.extra.at("correct"));
  progress.loss_sum = std::stod(meta.extra.at("loss_sum"));
  return meta.extra.at("pass");
}

template <typename Loader>
void train(const Options& options, Net& net, hvd::Device device, Loader& loader, hvd::optim::Optimizer& optimizer, Progress& progress) {
  net->train();
  for (auto& batch : loader) {
    auto x = batch.data.to(device), y = batch.target.to(device);
    optimizer.zero_grad();
    auto logits = net->forward(x);
    auto loss = F::cross_entropy(logits, y);
    loss.backward();
    nn::utils::clip_grad_norm_(net->parameters(), 5.0);
    optimizer.step();
    ++progress.step;

    const double value = loss.template item<double>();
    if (!std::isfinite(value)) throw std::runtime_error("the loss is not finite any more: try a smaller --lr");
    progress.loss_sum += value * x.size(0);
    progress.correct += logits.argmax(1).eq(y).sum().template item<int64_t>();
    progress.seen += x.size(0);
    if (++progress.batch_index % 100 == 0)
      std::printf("epoch %d [%lld/%zu] loss %.4f\n", progress.epoch + 1, static_cast<long long>(progress.seen), loader.dataset_size(), value);
    if (options.max_steps > 0 && progress.step >= options.max_steps) break;
    if (options.save_every > 0 && progress.step % options.save_every == 0) save(options.save_file, net, optimizer, progress, loader.state());
  }
}

template <typename Loader>
int64_t count_correct(Net& net, hvd::Device device, Loader& loader) {
  hvd::NoGradGuard no_grad;
  net->eval();
  int64_t correct = 0;
  for (auto& batch : loader) {
    auto prediction = net->forward(batch.data.to(device)).argmax(1);
    correct += prediction.eq(batch.target.to(device)).sum().template item<int64_t>();
  }
  return correct;
}

static void run(const Options& options) {
  hvd::manual_seed(options.seed);
  if (options.dtype == "float64") hvd::set_default_dtype(hvd::kFloat64);
  const hvd::Device device = options.device.empty() ? hvd::default_device() : hvd::Device(options.device);

  if (!data::datasets::has_idx_files(options.data_dir))
    std::printf("no MNIST files %s: training on generated digits\n", options.data_dir.empty() ? "given" : ("in " + options.data_dir).c_str());
  auto train_set = open_set(options.data_dir, data::datasets::kTrain, 12000, options.samples);
  auto test_set = open_set(options.data_dir, data::datasets::kTest, 2000, options.test_samples);
  auto train_loader = data::make_data_loader<data::RandomSampler>(
      train_set, data::DataLoaderOptions().batch_size(options.batch).workers(options.workers));
  auto test_loader = data::make_data_loader<data::SequentialSampler>(test_set, data::DataLoaderOptions(500));
  std::printf("%zu training samples, %zu test samples, %zu steps per epoch\n", train_set.size(), test_set.size(), train_loader->size());

  Net net(options.dropout ? 0.2 : 0.0);
  net->to(device);
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(options.lr).momentum(0.9).weight_decay(1e-4));
  hvd::optim::StepLR schedule(optimizer, 3, 0.5);

  Progress progress;
  if (!options.resume_file.empty()) {
    train_loader->load_state(load(options.resume_file, net, optimizer, progress));
    schedule.set_last_epoch(progress.epoch);
    std::printf("resumed from %s in epoch %d after step %lld\n", options.resume_file.c_str(), progress.epoch + 1, static_cast<long long>(progress.step));
  }

  std::ofstream log(options.out + "log.csv", progress.step > 0 ? std::ios::app : std::ios::trunc);
  if (!log) throw std::runtime_error("cannot write '" + options.out + "log.csv'");
  if (progress.step == 0) log << "epoch,step,lr,train_loss,train_accuracy,test_accuracy\n";

  // The run that is continued may have come to its end.
  const auto steps_are_left = [&] { return options.max_steps == 0 || progress.step < options.max_steps; };
  while (progress.epoch < options.epochs && progress.epochs_without_gain < options.patience && steps_are_left()) {
    const double lr = optimizer.lr();
    train(options, net, device, *train_loader, optimizer, progress);
    schedule.step();
    ++progress.epoch;
    const double loss = progress.loss_sum / progress.seen, train_accuracy = static_cast<double>(progress.correct) / progress.seen;
    progress.batch_index = 0;
    progress.seen = progress.correct = 0;
    progress.loss_sum = 0;

    const int64_t correct = count_correct(net, device, *test_loader);
    const double accuracy = static_cast<double>(correct) / test_set.size();
    std::printf("epoch %d: training loss %.4f, accuracy %.4f; test accuracy %.4f\n", progress.epoch, loss, train_accuracy, accuracy);
    log << progress.epoch << ',' << progress.step << ',' << lr << ',' << loss << ',' << train_accuracy << ',' << accuracy << std::endl;

    if (correct > progress.best) {
      progress.best = correct;
      progress.epochs_without_gain = 0;
      hvd::save(net, options.out + "best.safetensors");
    } else if (++progress.epochs_without_gain >= options.patience) {
      std::printf("no gain in %d epochs: stopping early\n", progress.epochs_without_gain);
    }
    if (!options.save_file.empty()) save(options.save_file, net, optimizer, progress, "");
  }
  std::printf("best test accuracy %.4f\n", static_cast<double>(progress.best) / test_set.size());
}

int main(int argc, char** argv) {
  Options options;
  try {
    options = parse_options(argc, argv);
  } catch (const std::invalid_argument& error) {
    std::cerr << "mnist_mlp: " << error.what() << std::endl;
    return 2;
  }
  try {
    run(options);
  } catch (const std::exception& error) {
    std::cerr << "mnist_mlp: " << error.what() << std::endl;
    return 1;
  }
  return 0;
}
