// SPDX-License-Identifier: Apache-2.0
// e2e: args=; edit=#define BATCH 12 => #define BATCH {12*N}; edit=#define LEARNING_RATE 0.08 => #define LEARNING_RATE {0.08*N}
// Everything in main: a convolutional network on generated digits, settings as macros.
#include <hvd/hvd.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#define BATCH 12
#define LEARNING_RATE 0.08
#define MAX_EPOCHS 6
#define TRAIN_SAMPLES 157
#define TEST_SAMPLES 40
#define TIME_LIMIT_SECONDS 3000
#define LOG_EVERY 4
#define TARGET_LOSS 0.05

#define CHECK(condition, message)                                          \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, (message));  \
      return 1;                                                            \
    }                                                                      \
  } while (0)
#define LOG(...) (std::printf("[train] "), std::printf(__VA_ARGS__), std::printf("\n"))
#define SQUARE(x) ((x) * (x))

int main() {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(99);
  const std::clock_t cpu_start = std::clock();
  const auto wall_start = std::chrono::system_clock::now();

  // ---- data
  auto train_set = hvd::data::datasets::Digits(TRAIN_SAMPLES, 21).map(hvd::data::Normalize(0.5, 0.5));
  hvd::data::datasets::Digits test_set(TEST_SAMPLES, 22);
  CHECK(train_set.size() == TRAIN_SAMPLES, "wrong number of training samples");
  auto loader = hvd::data::make_data_loader(train_set, hvd::data::DataLoaderOptions().batch_size(BATCH).drop_last(false));
  const hvd::Tensor test_images = (test_set.images() - 0.5) / 0.5;
  const hvd::Tensor test_labels = test_set.targets();

  // ---- model
  hvd::nn::Conv2d conv(hvd::nn::Conv2dOptions(1, 6, 5).stride(2).padding(2));
  hvd::nn::MaxPool2d pool(hvd::nn::MaxPool2dOptions(2));
  hvd::nn::Linear hidden(6 * 7 * 7, 32);
  hvd::nn::Linear out(32, 10);
  hvd::nn::Sequential model;
  model->push_back(conv);
  model->push_back(hvd::nn::ReLU());
  model->push_back(pool);
  model->push_back(hvd::nn::Flatten());
  model->push_back(hidden);
  model->push_back(hvd::nn::ReLU());
  model->push_back(out);

  int64_t parameter_count = 0;
  double weight_square = 0;
  for (auto& p : model->named_parameters()) {
    parameter_count += p.value().numel();
    weight_square += SQUARE(p.value().detach().norm().item<double>());
  }
  LOG("%lld parameters, norm %.6f", (long long)parameter_count, std::sqrt(weight_square));

  // ---- optimizer: no decay for biases
  std::vector<hvd::Tensor> all = model->parameters();
  hvd::optim::SGD optimizer(all, hvd::optim::SGDOptions(LEARNING_RATE).momentum(0.8));
  hvd::optim::StepLR scheduler(optimizer, 2, 0.7);

  // ---- training
  int epoch = 0;
  bool failed = false, timed_out = false;
  double loss_of_epoch = 0, previous_loss = 1e9, best_accuracy = 0;
  std::vector<double> losses;
  std::string status = "running";
  do {
    ++epoch;
    loss_of_epoch = 0;
    int batches = 0;
    size_t correct = 0, seen = 0;
    model->train();
    for (auto it = loader->begin(); it != loader->end(); ++it) {
      hvd::Tensor images = it->data;
      hvd::Tensor labels = it->target;
      hvd::Tensor scores = model->forward(images);
      hvd::Tensor loss = hvd::nn::functional::cross_entropy(scores, labels);
      const double value = loss.item<double>();
      if (std::isnan(value) || std::isinf(value)) {
        failed = true;
        break;
      }
      optimizer.zero_grad();
      loss.backward();

      double gradient_square = 0;
      for (auto& p : model->parameters())
        if (p.grad().defined()) gradient_square += SQUARE(p.grad().norm().item<double>());

      optimizer.step();
      loss_of_epoch += value;
      batches++;
      seen += images.size(0);
      correct += scores.argmax(1).eq(labels).sum().item<int64_t>();
      if (batches % LOG_EVERY == 0)
        LOG("epoch %d batch %d/%d (%zu samples): loss %.6f, gradient %.6f", epoch, batches, (int)loader->size(), seen, loss_of_epoch / batches,
            std::sqrt(gradient_square));

      const auto now = std::chrono::system_clock::now();
      if (std::chrono::duration_cast<std::chrono::seconds>(now - wall_start).count() > TIME_LIMIT_SECONDS) {
        timed_out = true;
        break;
      }
    }
    if (failed || timed_out) break;
    loss_of_epoch /= batches;
    losses.push_back(loss_of_epoch);

    // ---- evaluation
    double accuracy = 0;
    {
      hvd::NoGradGuard no_grad;
      model->eval();
      int64_t i = 0, right = 0;
      while (i < TEST_SAMPLES) {
        const int64_t end = std::min<int64_t>(i + 16, TEST_SAMPLES);
        hvd::Tensor guess = model->forward(test_images.slice(0, i, end)).argmax(1);
        right += guess.eq(test_labels.slice(0, i, end)).sum().item<int64_t>();
        i = end;
      }
      accuracy = 100.0 * right / TEST_SAMPLES;
    }
    const char* trend = loss_of_epoch < previous_loss ? "down" : "up";
    previous_loss = loss_of_epoch;
    std::cout << "epoch " << epoch << ": mean loss " << loss_of_epoch << " (" << trend << "), training accuracy "
              << 100.0 * correct / seen << "%, test accuracy " << accuracy << "%, rate " << optimizer.lr() << std::endl;
    if (accuracy >= best_accuracy) {
      best_accuracy = accuracy;
      hvd::save(model, "epoch" + std::to_string(epoch) + ".safetensors");
    }
    scheduler.step();
  } while (loss_of_epoch > TARGET_LOSS && epoch < MAX_EPOCHS);

  if (failed) status = "diverged";
  else if (timed_out) status = "out of time";
  else status = loss_of_epoch <= TARGET_LOSS ? "target reached" : "finished";
  std::cout << "status: " << status << ", best accuracy " << best_accuracy << "%\n";
  if (FILE* file = std::fopen("losses.txt", "w")) {
    for (size_t i = 0; i < losses.size(); ++i) std::fprintf(file, "%zu %.9g\n", i + 1, losses[i]);
    std::fclose(file);
  }
  const double cpu = double(std::clock() - cpu_start) / CLOCKS_PER_SEC;
  std::fprintf(stderr, "%.1f s of CPU time\n", cpu);
  CHECK(!failed, "the loss is not a number");
  return 0;
}
