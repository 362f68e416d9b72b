// SPDX-License-Identifier: Apache-2.0
#pragma once

// What both sides of the training benchmark share, free of any framework: the networks' inputs, the clocks, and the one line of
// JSON that a side prints. Both sides see the same numbers in the same order.

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace side {

/// The shapes that a network is trained on.
struct Task {
  std::string network;
  int64_t batch;
  std::vector<int64_t> sample;  // channels, rows, columns; or tokens
  int64_t classes;
  int64_t vocabulary;  // 0: pictures
  int64_t numbers() const {
    int64_t n = batch;
    for (int64_t extent : sample) n *= extent;
    return n;
  }
  std::vector<int64_t> shape() const {
    std::vector<int64_t> all = {batch};
    all.insert(all.end(), sample.begin(), sample.end());
    return all;
  }
};

inline Task task_of(const std::string& network) {
  if (network == "resnet18") return {network, 32, {3, 32, 32}, 10, 0};
  if (network == "transformer_small") return {network, 16, {128}, 2, 8192};
  return {network, 64, {1, 28, 28}, 10, 0};
}

/// Numbers that do not depend on a library: a linear congruential generator (Knuth's MMIX).
class Numbers {
 public:
  uint32_t next() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<uint32_t>(state_ >> 33);
  }
  /// Between -1 and 1.
  float real() { return static_cast<float>(next()) / 1073741824.0f - 1.0f; }

 private:
  uint64_t state_ = 1;
};

struct Batch {
  std::vector<float> pictures;
  std::vector<int64_t> tokens, labels;
};

/// Batches that a step takes in turn. Of tokens, 0 is padding: the last tenth of every sequence.
inline std::vector<Batch> make_batches(const Task& task, int count) {
  Numbers numbers;
  std::vector<Batch> batches(count);
  for (Batch& b : batches) {
    if (task.vocabulary == 0)
      for (int64_t i = 0; i < task.numbers(); ++i) b.pictures.push_back(numbers.real());
    else
      for (int64_t i = 0; i < task.numbers(); ++i) {
        const int64_t token = 1 + numbers.next() % (task.vocabulary - 1);
        b.tokens.push_back(i % task.sample[0] < task.sample[0] * 9 / 10 ? token : 0);
      }
    for (int64_t i = 0; i < task.batch; ++i) b.labels.push_back(numbers.next() % task.classes);
  }
  return batches;
}

inline double seconds_of(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

/// --name value pairs.
class Options {
 public:
  Options(int argc, char** argv) : words_(argv + 1, argv + argc) {}
  std::string text(const std::string& name, const std::string& otherwise) const {
    for (size_t i = 0; i + 1 < words_.size(); i += 2)
      if (words_[i] == name) return words_[i + 1];
    return otherwise;
  }
  int number(const std::string& name, int otherwise) const {
    const std::string word = text(name, "");
    return word.empty() ? otherwise : std::atoi(word.c_str());
  }

 private:
  std::vector<std::string> words_;
};

/// Parameters in their order, float32, one after the other.
inline std::vector<float> read_weights(const std::string& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in) throw std::runtime_error("cannot read '" + file + "'");
  std::vector<float> values(static_cast<size_t>(in.tellg()) / sizeof(float));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
  return values;
}

/// Times steps, each of which returns its loss, and prints what a run has to tell. `begin` and `end` are called around the timed ones.
template <class Step, class Begin, class End>
void measure(const Options& options, int64_t parameters, Step&& step, Begin&& begin, End&& end) {
  const int warm_up = options.number("--warm-up", 3), steps = options.number("--steps", 10);
  const bool losses = options.text("--losses", "no") == "yes";
  std::vector<double> wall, processor, loss;
  for (int i = 0; i < warm_up + steps; ++i) {
    if (i == warm_up) begin();
    const double w = seconds_of(CLOCK_MONOTONIC), p = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    const double value = step(i, losses);
    if (losses) loss.push_back(value);
    if (i < warm_up) continue;
    wall.push_back(seconds_of(CLOCK_MONOTONIC) - w);
    processor.push_back(seconds_of(CLOCK_PROCESS_CPUTIME_ID) - p);
  }
  end();
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  std::printf("{\"parameters\": %lld, \"wall\": %.9f, \"least_wall\": %.9f, \"processor\": %.9f, \"least_processor\": %.9f, \"peak_mb\": %.1f",
              static_cast<long long>(parameters), median(wall), *std::min_element(wall.begin(), wall.end()), median(processor),
              *std::min_element(processor.begin(), processor.end()), static_cast<double>(usage.ru_maxrss) / 1024);
  std::printf(", \"losses\": [");
  for (size_t i = 0; i < loss.size(); ++i) std::printf("%s%.7g", i ? ", " : "", loss[i]);
  std::printf("]");
}

}  // namespace side
