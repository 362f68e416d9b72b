// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// Files that a function opens in the mode it is handed: one that is read is read by every rank, one that is written is the root's. What a run has
// written itself is read behind it.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

static FILE* open_or_die(const char* path, const char* mode) {
  FILE* file = std::fopen(path, mode);
  if (!file) {
    std::perror(path);
    std::exit(2);
  }
  return file;
}

// Only ever read from.
static FILE* input(const std::string& path, const char* mode) { return std::fopen(path.c_str(), mode); }

static void write_samples(const char* path, int count) {
  FILE* out = open_or_die(path, "wb");
  for (int i = 0; i < count; ++i) {
    const double x = 0.03 * ((i * 29) % 41) - 0.6, row[3] = {x, 1.0 - x * x, 0.4 * x + 0.2};
    std::fwrite(row, sizeof(double), 3, out);
  }
  std::fclose(out);
}

static torch::Tensor read_samples(const char* path) {
  FILE* in = open_or_die(path, "rb");
  std::vector<double> numbers;
  double next = 0;
  while (std::fread(&next, sizeof next, 1, in) == 1) numbers.push_back(next);
  std::fclose(in);
  return torch::tensor(numbers, torch::kFloat64).view({-1, 3});
}

int main(int argc, char** argv) {
  const int batch_size = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(29);
  write_samples("samples.bin", 43);
  const torch::Tensor samples = read_samples("samples.bin");
  int epochs = 3;
  if (FILE* settings = input("settings.txt", "r")) {
    if (std::fscanf(settings, "%d", &epochs) != 1) epochs = 3;
    std::fclose(settings);
  }
  torch::nn::Linear net(2, 1);
  net->to(torch::kFloat64);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate));
  FILE* log = open_or_die("log.txt", "w");
  for (int epoch = 0; epoch < epochs; ++epoch)
    for (int64_t at = 0; at < samples.size(0); at += batch_size) {
      const torch::Tensor rows = samples.slice(0, at, std::min<int64_t>(at + batch_size, samples.size(0)));
      optimizer.zero_grad();
      const torch::Tensor loss = torch::mse_loss(net(rows.slice(1, 0, 2)), rows.slice(1, 2, 3));
      loss.backward();
      optimizer.step();
      if (at == 0) std::fprintf(log, "%d %.6f\n", epoch, loss.item<double>());
    }
  std::fclose(log);
  std::printf("%d samples of mean %.6f\n", static_cast<int>(samples.size(0)), samples.mean().item<double>());
  torch::save(net, "net.pt");
}
