// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// Old files are taken away while their folder is listed: by the root, whose listing it is.
#include <dirent.h>
#include <torch/torch.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
namespace fs = std::filesystem;

// In the style of C.
static void clear_logs(const char* folder) {
  DIR* listing = opendir(folder);
  if (listing == nullptr) return;
  struct dirent* entry;
  char path[512];
  while ((entry = readdir(listing)) != nullptr) {
    if (strstr(entry->d_name, ".log") == nullptr) continue;
    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
    std::remove(path);
  }
  closedir(listing);
}

struct Checkpoints {
  fs::path folder;

  void clear() const {
    if (!fs::exists(folder)) fs::create_directories(folder);
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      if (fs::file_size(entry.path()) > 1000000) {
        std::cout << "large file " << entry.path() << " stays\n";
        continue;
      }
      fs::remove(entry.path());
    }
  }
};

int main(int argc, char** argv) {
  const int64_t batch = std::stoll(argv[1]);
  const double rate = std::stod(argv[2]);
  torch::manual_seed(1);
  Checkpoints checkpoints{"checkpoints"};
  checkpoints.clear();
  clear_logs(".");
  auto x = torch::rand({50, 3}, torch::kDouble);
  auto y = x.sum(1, true);
  torch::nn::Linear net(3, 1);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int epoch = 0; epoch < 3; ++epoch) {
    auto order = torch::randperm(50);
    for (int64_t i = 0; i < 50; i += batch) {
      auto rows = order.slice(0, i, std::min<int64_t>(i + batch, 50));
      auto loss = torch::mse_loss(net->forward(x.index_select(0, rows)), y.index_select(0, rows));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    if (epoch == 1) checkpoints.clear();
    torch::save(net, "checkpoints/net" + std::to_string(epoch) + ".pt");
    std::ofstream("epoch" + std::to_string(epoch) + ".log") << epoch << '\n';
    if (epoch == 1) clear_logs(".");
  }
  int files = 0;
  for (const auto& entry : fs::directory_iterator("checkpoints")) files += entry.path().extension() == ".pt" ? 1 : 0;
  std::cout << files << " files, " << std::setprecision(12) << net->weight << std::endl;
}
