// SPDX-License-Identifier: Apache-2.0
// Vocabulary (JSON) and merges of a byte-level tokenizer.
#include "fuzz.hpp"

#include <hvd/data/tokenizer.hpp>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return fuzz::run(data, size, [](fuzz::Bytes bytes) {
    const fuzz::Pair files(bytes);
    const auto tokenizer = hvd::data::ByteTokenizer::load(fuzz::write("vocab.json", files.first), fuzz::write("merges.txt", files.second));
    tokenizer.decode(tokenizer.encode("The quick brown fox isn't here; 12 aaaa bbbb\n\xff\xc3\xa4"));
  });
}
