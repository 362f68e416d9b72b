// SPDX-License-Identifier: Apache-2.0
//
// CIFAR's binary form: records of one or two label bytes and 3 x 32 x 32 bytes of pixels, red, green, blue.
#include <hvd/data/datasets.hpp>

#include "../io/file.hpp"

#include <filesystem>

namespace hvd::data::datasets {

namespace {

constexpr int64_t kSide = 32, kChannels = 3;
constexpr size_t kPixels = kChannels * kSide * kSide;

struct Form {
  const char* name;
  const char* folder;
  std::vector<std::string> train, test;
  size_t labels;  // bytes in front of the pixels, the last of which is the class
  unsigned classes;
};

std::string find_file(const Form& form, const std::string& root, const std::string& name) {
  for (const auto& folder : {std::filesystem::path(root), std::filesystem::path(root) / form.folder})
    if (std::filesystem::exists(folder / name)) return (folder / name).string();
  throw Error(std::string(form.name) + ": no file '" + (std::filesystem::path(root) / name).string() + "', nor in " + form.folder + " below");
}

void append(const Form& form, const std::string& path, Images& images) {
  const std::vector<uint8_t> bytes = io::read_file_or_gzip(path);
  const size_t record = form.labels + kPixels;
  if (bytes.empty() || bytes.size() % record != 0)
    throw Error(std::string(form.name) + ": '" + path + "' holds " + std::to_string(bytes.size()) + " bytes, no multiple of the " +
                std::to_string(record) + " of a record: it is cut off or another kind of file");
  for (size_t at = 0; at < bytes.size(); at += record) {
    const uint8_t label = bytes[at + form.labels - 1];
    if (label >= form.classes)
      throw Error(std::string(form.name) + ": '" + path + "' gives class " + std::to_string(label) + " for image " + std::to_string(at / record) +
                  "; there are " + std::to_string(form.classes));
    images.labels.push_back(label);
    images.pixels.insert(images.pixels.end(), bytes.begin() + static_cast<int64_t>(at + form.labels), bytes.begin() + static_cast<int64_t>(at + record));
  }
}

std::shared_ptr<const Images> read(const Form& form, const std::string& root, Mode mode) {
  auto images = std::make_shared<Images>();
  for (const std::string& name : mode == Mode::kTrain ? form.train : form.test) append(form, find_file(form, root, name), *images);
  images->count = static_cast<int64_t>(images->labels.size());
  images->rows = images->cols = kSide;
  images->channels = kChannels;
  return images;
}

Form cifar10() {
  return {"CIFAR-10", "cifar-10-batches-bin",
          {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"}, {"test_batch.bin"}, 1, 10};
}
Form cifar100() { return {"CIFAR-100", "cifar-100-binary", {"train.bin"}, {"test.bin"}, 2, 100}; }

}  // namespace

CIFAR10::CIFAR10(const std::string& root, Mode mode) : ImageDataset(read(cifar10(), root, mode)) {}
CIFAR100::CIFAR100(const std::string& root, Mode mode) : ImageDataset(read(cifar100(), root, mode)) {}

}  // namespace hvd::data::datasets
