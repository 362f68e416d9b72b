// SPDX-License-Identifier: Apache-2.0
// JPEG and PNG files of an image folder.
#include "fuzz.hpp"

#include <hvd/data/image_folder.hpp>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A file of 2 KB may rightly hold an image of 50 MB, one of more than that more than is allowed here.
  if (size > 2000) return 0;
  return fuzz::run(data, size, [](fuzz::Bytes bytes) {
    fuzz::write("images/class/file.png", bytes);
    hvd::data::datasets::ImageFolder(fuzz::folder() + "/images", 3, 5).get(0);
  });
}
