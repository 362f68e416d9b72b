// SPDX-License-Identifier: Apache-2.0
// e2e: edit=batch = 6 => batch = {6*N}; edit=rate = 0.02 => rate = {0.02*sqrt(N)}; ranks=1,2,3; timeout=120
// What real trainers show of a batch: a picture of one sample through its memory, numbers that count up inside of a file's name, what a network
// makes of fixed noise, saved where it is computed. Losses in an optional and behind a pointer.
// form: picture of one sample, read through its memory
// form: checkpoint whose name counts up where it is saved
// form: loss in an optional or behind a pointer
#include <torch/torch.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

void write_picture(const std::string& path, const unsigned char* pixels, int width, int height) {
  std::ofstream file(path, std::ios::binary);
  file << "P5 " << width << ' ' << height << " 255\n";
  file.write(reinterpret_cast<const char*>(pixels), width * height);
}

int main() {
  torch::manual_seed(6);
  const int64_t rows = 27, batch = 6;
  const double rate = 0.02;
  torch::nn::Sequential net(torch::nn::Linear(16, 8), torch::nn::Tanh(), torch::nn::Linear(8, 16));
  net->to(torch::kDouble);
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(rate));
  auto samples = torch::rand({rows, 16}, torch::kDouble);
  const auto noise = torch::rand({3, 16}, torch::kDouble);
  int64_t saved = 0, pictures = 0;
  for (int epoch = 0; epoch < 5 && saved < 5; ++epoch) {
    bool first = true;
    for (int64_t i = 0; i < rows; i += batch) {
      auto x = samples.slice(0, i, std::min(i + batch, rows));
      optimizer.zero_grad();
      auto out = net->forward(x);
      if (epoch == 0) {
        std::optional<torch::Tensor> loss;
        loss = torch::mse_loss(out, x);
        loss->backward();
        std::cout << "loss " << loss->item<double>() << std::endl;
      } else {
        auto loss = std::make_unique<torch::Tensor>(torch::mse_loss(out, x));
        (*loss).backward();
        std::cout << "loss " << (*loss).item<double>() << std::endl;
      }
      optimizer.step();
      if (first) {
        auto picture = out.detach().cpu().index({-1});
        picture = picture.view({4, 4}).contiguous();
        picture = (picture + 1) / 2. * 127;
        picture = picture.clamp(0, 255).to(torch::kU8);
        write_picture("picture" + std::to_string(pictures++) + ".pgm", picture.data_ptr<unsigned char>(), 4, 4);
        std::printf("middle %d\n", static_cast<int>(picture[2][2].item<unsigned char>()));
        torch::save(net, torch::str("net", ++saved, ".pt"));
      }
      first = false;
    }
    torch::NoGradGuard no_grad;
    if (epoch < 2) torch::save(net->forward(noise), "noise" + std::to_string(saved++) + ".pt");
  }
  std::cout << "saved " << saved << std::endl;
}
