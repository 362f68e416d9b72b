// SPDX-License-Identifier: Apache-2.0
// Texts with labels, as lines and as a folder of folders; the tokenizer trained on them.
#include "fuzz.hpp"

#include <hvd/data/text.hpp>
#include <hvd/data/tokenizer.hpp>

#include <stdexcept>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::run(data, size, [](fuzz::Bytes bytes) { hvd::data::read_labelled_texts(fuzz::write("lines.txt", bytes)); });
  return fuzz::run(data, size, [](fuzz::Bytes bytes) {
    const fuzz::Pair files(bytes);
    fuzz::write("text/neg/0.txt", files.first);
    fuzz::write("text/pos/0.txt", files.second);
    const auto texts = hvd::data::read_labelled_texts(fuzz::folder() + "/text");
    const auto tokenizer = hvd::data::ByteTokenizer::train(texts[0].text, 300);
    for (const auto& text : texts)
      if (tokenizer.decode(tokenizer.encode(text.text)) != text.text) throw std::logic_error("a text does not come back from its tokens");
    hvd::data::datasets::TokenizedTexts(texts, tokenizer, 8).get(1);
  });
}
