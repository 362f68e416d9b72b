// SPDX-License-Identifier: Apache-2.0
// e2e: args=--epochs 4; scaled=--batch {10*N} --ae-rate {0.002*sqrt(N)} --cls-rate {0.05*N}
// An autoencoder learns a code of the digits, a classifier learns from the code. Two models, two optimizers.
#include <hvd/hvd.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>

using namespace hvd;
namespace F = hvd::nn::functional;

const int kCode = 16;
const int kClasses = 10;

struct AutoencoderImpl : nn::Module {
  AutoencoderImpl() {
    encoder = register_module("encoder", nn::Sequential(nn::Linear(784, 64), nn::Tanh(), nn::Linear(64, kCode)));
    decoder = register_module("decoder", nn::Sequential(nn::Linear(kCode, 64), nn::Tanh(), nn::Linear(64, 784), nn::Sigmoid()));
  }
  Tensor encode(Tensor x) { return encoder->forward(x.flatten(1)); }
  Tensor decode(Tensor code) { return decoder->forward(code); }
  Tensor forward(Tensor x) { return decode(encode(x)); }
  nn::Sequential encoder{nullptr}, decoder{nullptr};
};
HVD_MODULE(Autoencoder);

struct Settings {
  int epochs = 3;
  int batch = 10;
  double ae_rate = 0.002;
  double cls_rate = 0.05;
  int warmup = 5;
  std::string resume;
};

Settings parse(int argc, char* argv[]) {
  Settings s;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--epochs")) s.epochs = std::stoi(argv[i + 1]);
    else if (!strcmp(argv[i], "--batch")) s.batch = std::stoi(argv[i + 1]);
    else if (!strcmp(argv[i], "--ae-rate")) s.ae_rate = std::stod(argv[i + 1]);
    else if (!strcmp(argv[i], "--cls-rate")) s.cls_rate = std::stod(argv[i + 1]);
    else if (!strcmp(argv[i], "--warmup")) s.warmup = std::stoi(argv[i + 1]);
    else if (!strcmp(argv[i], "--resume")) s.resume = argv[i + 1];
    else {
      std::cerr << "unknown option " << argv[i] << std::endl;
      exit(2);
    }
  }
  return s;
}

// Linear warm-up over the first steps, then a cosine down to zero.
double rate_at(double base, int64_t step, int64_t warmup, int64_t total) {
  if (step < warmup) return base * (step + 1) / warmup;
  const double t = double(step - warmup) / std::max<int64_t>(1, total - warmup);
  return base * 0.5 * (1 + std::cos(M_PI * t));
}

class Confusion {
 public:
  void add(const Tensor& guess, const Tensor& truth) {
    for (int64_t i = 0; i < truth.size(0); ++i) ++count_[truth[i].item<int64_t>()][guess[i].item<int64_t>()];
  }
  double accuracy() const {
    int64_t right = 0, all = 0;
    for (int t = 0; t < kClasses; ++t)
      for (int g = 0; g < kClasses; ++g) {
        all += count_[t][g];
        if (t == g) right += count_[t][g];
      }
    return all ? double(right) / all : 0;
  }
  double recall(int c) const {
    int64_t row = 0;
    for (int64_t n : count_[c]) row += n;
    return row ? double(count_[c][c]) / row : 0;
  }
  void print(std::ostream& out) const {
    for (auto& row : count_) {
      for (auto n : row) out << std::setw(4) << n;
      out << "\n";
    }
  }

 private:
  std::array<std::array<int64_t, kClasses>, kClasses> count_{};
};

struct Losses {
  double reconstruction = 0, classification = 0;
  int64_t samples = 0;
};

int main(int argc, char* argv[]) {
  const Settings settings = parse(argc, argv);
  set_default_dtype(kFloat64);
  manual_seed(2024);

  data::datasets::Digits train_set(187, 5), test_set(71, 6);
  auto train_loader = data::make_data_loader<data::RandomSampler>(train_set, data::DataLoaderOptions().batch_size(settings.batch));
  auto test_loader = data::make_data_loader<data::SequentialSampler>(test_set, data::DataLoaderOptions().batch_size(25));

  Autoencoder autoencoder;
  nn::Linear classifier(kCode, kClasses);
  optim::Adam ae_opt(autoencoder->parameters(), optim::AdamOptions(settings.ae_rate));
  optim::SGD cls_opt(classifier->parameters(), optim::SGDOptions(settings.cls_rate).momentum(0.9).nesterov(true));

  int start = 0;
  int64_t step = 0;
  if (!settings.resume.empty()) {
    CheckpointMeta meta = load_checkpoint(settings.resume, autoencoder, ae_opt);
    load(classifier, settings.resume + ".cls");
    start = meta.epoch;
    step = meta.step;
  }
  const int64_t total_steps = int64_t(settings.epochs) * train_loader->size();
  std::ofstream csv("losses.csv");
  csv << "epoch,reconstruction,classification,test_accuracy\n";

  nn::MSELoss mse;
  nn::CrossEntropyLoss cross_entropy;
  for (int epoch = start; epoch < settings.epochs; ++epoch) {
    Losses losses;
    autoencoder->train();
    classifier->train();
    for (auto& batch : *train_loader) {
      ae_opt.set_lr(rate_at(settings.ae_rate, step, settings.warmup, total_steps));
      cls_opt.set_lr(rate_at(settings.cls_rate, step, settings.warmup, total_steps));

      // First the autoencoder ...
      Tensor image = batch.data;
      Tensor code = autoencoder->encode(image);
      Tensor reconstruction_loss = mse(autoencoder->decode(code), image.flatten(1));
      ae_opt.zero_grad();
      reconstruction_loss.backward();
      ae_opt.step();

      // ... then the classifier, which does not change the code.
      Tensor logits = classifier(code.detach());
      Tensor class_loss = cross_entropy(logits, batch.target);
      cls_opt.zero_grad();
      class_loss.backward();
      cls_opt.step();

      const int64_t rows = image.size(0);
      losses.reconstruction += reconstruction_loss.item<double>() * rows;
      losses.classification += class_loss.item<double>() * rows;
      losses.samples += rows;
      if (step % 7 == 0)
        std::cout << "step " << step << " mse " << reconstruction_loss.item<double>() << " ce " << class_loss.item<double>() << " lr "
                  << cls_opt.lr() << std::endl;
      step++;
    }

    Confusion confusion;
    {
      NoGradGuard no_grad;
      autoencoder->eval();
      classifier->eval();
      for (auto& batch : *test_loader) confusion.add(classifier(autoencoder->encode(batch.data)).argmax(1), batch.target);
    }
    std::cout << "epoch " << epoch + 1 << " reconstruction " << losses.reconstruction / losses.samples << " classification "
              << losses.classification / losses.samples << " accuracy " << confusion.accuracy() << std::endl;
    csv << epoch + 1 << "," << losses.reconstruction / losses.samples << "," << losses.classification / losses.samples << ","
        << confusion.accuracy() << "\n";
    csv.flush();
    save_checkpoint("model.ckpt", autoencoder, ae_opt, {epoch + 1, step, {}});
    save(classifier, "model.ckpt.cls");

    if (epoch + 1 == settings.epochs) {
      confusion.print(std::cout);
      for (int c = 0; c < kClasses; ++c) std::cout << "class " << c << " recall " << confusion.recall(c) << "\n";
    }
  }
  return 0;
}
