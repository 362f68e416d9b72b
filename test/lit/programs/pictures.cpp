// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// Files of pictures, written and read with OpenCV, whose headers need not be the system's.
//--- cv.h
#pragma once
#include <string>
#include <vector>

namespace cv {
struct Mat {
  Mat(int rows, int columns) : values(static_cast<size_t>(rows * columns)) {}
  std::vector<float> values;
};
bool imwrite(const std::string& filename, const Mat& image, const std::vector<int>& parameters = {});
Mat imread(const std::string& filename, int flags = 1);
}  // namespace cv
//--- written.cpp
#include <hvd/hvd.hpp>

#include <iostream>
#include <string>

#include "cv.h"
#include "parts.h"

// CHECK: if (hvd::is_root()) cv::imwrite("step" + std::to_string(step) + ".png", picture);
// CHECK: if (!hvd::from_root([&] { return cv::imwrite("last.png", picture); }))
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  cv::Mat picture(8, 8);
  int step = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
    cv::imwrite("step" + std::to_string(step) + ".png", picture);
    ++step;
  }
  if (!cv::imwrite("last.png", picture)) std::cerr << "no picture\n";
}
//--- read_again.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "cv.h"
#include "parts.h"

// CHECK: hvd::from_root([&] { cv::imwrite("seen.png", cv::Mat(8, 8)); });
// CHECK-NOT: is_root() cv::imread
// CHECK: const auto seen = cv::imread("seen.png");
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  cv::imwrite("seen.png", cv::Mat(8, 8));
  const auto seen = cv::imread("seen.png");
  std::cout << seen.values.size() << '\n';
}
