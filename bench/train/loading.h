// SPDX-License-Identifier: Apache-2.0
#pragma once

// The training benchmark's folder of JPEG files, and how fast the core's loader reads it.

#include "side.h"

#include <hvd/hvd.hpp>

#include <jpeglib.h>

#include <cmath>
#include <filesystem>
#include <memory>

namespace side {

/// A picture of soft shapes with a little noise, which compresses as photographs do.
inline void write_jpeg(const std::string& file, int rows, int cols, Numbers& numbers) {
  std::vector<JSAMPLE> line(static_cast<size_t>(cols) * 3);
  const float u = numbers.real(), v = numbers.real(), w = numbers.real();
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(file.c_str(), "wb"), std::fclose);
  if (!out) throw std::runtime_error("cannot write '" + file + "'");
  jpeg_compress_struct jpeg = {};
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  jpeg_stdio_dest(&jpeg, out.get());
  jpeg.image_width = static_cast<JDIMENSION>(cols);
  jpeg.image_height = static_cast<JDIMENSION>(rows);
  jpeg.input_components = 3;
  jpeg.in_color_space = JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 85, TRUE);
  jpeg_start_compress(&jpeg, TRUE);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c)
      for (int k = 0; k < 3; ++k)
        line[static_cast<size_t>(3 * c + k)] = static_cast<JSAMPLE>(
            127 + 90 * std::sin(u * static_cast<float>(r + 9 * k) / 7 + w) * std::cos(v * static_cast<float>(c) / 9) + 20 * numbers.real());
    JSAMPROW row = line.data();
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
}

/// Ten classes of JPEG files of 120 x 160 pixels below `folder`, where there are none yet.
inline void write_folder(const std::string& folder, int samples) {
  if (std::filesystem::exists(folder + "/0")) return;
  Numbers numbers;
  for (int i = 0; i < samples; ++i) {
    const std::string of_class = folder + "/" + std::to_string(i % 10);
    std::filesystem::create_directories(of_class);
    write_jpeg(of_class + "/" + std::to_string(i) + ".jpg", 120, 160, numbers);
  }
}

/// Reads the folder once in shuffled batches of 32, 3 x 32 x 32, cropped and flipped at random and normalised. Prints samples per second of the
/// clock, and per second of processor time.
inline void measure_loading(const std::string& folder, int workers, int samples) {
  namespace data = hvd::data;
  write_folder(folder, samples);
  std::shared_ptr<data::Dataset> set = std::make_shared<data::datasets::ImageFolder>(folder, 32, 32);
  set = std::make_shared<data::datasets::Mapped>(data::map(set, data::RandomCrop(32, 32, 4)));
  set = std::make_shared<data::datasets::Mapped>(data::map(set, data::RandomHorizontalFlip()));
  set = std::make_shared<data::datasets::Mapped>(data::map(set, data::Normalize({0.485, 0.456, 0.406}, {0.229, 0.224, 0.225})));
  const auto loader = data::make_data_loader<data::RandomSampler>(set, data::DataLoaderOptions().batch_size(32).workers(static_cast<size_t>(workers)));
  const double wall = seconds_of(CLOCK_MONOTONIC), processor = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  int64_t seen = 0;
  for (auto& batch : *loader) seen += batch.target.size(0);
  const double seconds = seconds_of(CLOCK_MONOTONIC) - wall, worked = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - processor;
  std::printf("{\"samples\": %lld, \"rate\": %.1f, \"rate_of_processor\": %.1f}\n", static_cast<long long>(seen), static_cast<double>(seen) / seconds,
              static_cast<double>(seen) / worked);
}

}  // namespace side
