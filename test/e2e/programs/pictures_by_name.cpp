// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={4*N} {0.05*N}; ranks=1,2,3
// Pictures written with OpenCV, by one rank. In place of its library stands a function of the C library that prints the path, so that each
// call shows in the output.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace cv {
int imwrite(const char* path) __asm__("puts");
}

namespace F = hvd::nn::functional;

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  hvd::manual_seed(5);
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::nn::Linear net(4, 3);
  hvd::data::datasets::TensorDataset samples(hvd::randn({22, 4}), hvd::randint(0, 3, {22}));
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(std::atof(argv[2])));
  auto loader = hvd::data::make_data_loader(samples, hvd::data::DataLoaderOptions(std::atol(argv[1])));
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (auto& batch : *loader) {
      opt.zero_grad();
      F::cross_entropy(net(batch.data), batch.target).backward();
      opt.step();
    }
    const std::string path = "epoch-" + std::to_string(epoch) + ".png";
    cv::imwrite(path.c_str());
  }
  if (cv::imwrite("last.png") < 0) std::puts("no picture");
  hvd::save(net, "net.safetensors");
}
