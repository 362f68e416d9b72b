// SPDX-License-Identifier: Apache-2.0
//
// A driver without libFuzzer, for the test suite: runs a target on the files of a folder, and on as many changed copies of them as asked for,
// the same ones each time.
//
//   hvd-fuzz-idx SEEDS [COPIES]
#include "fuzz.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <random>
#include <vector>

namespace {

using Input = std::vector<uint8_t>;

std::vector<Input> seeds_in(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Input> out;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    out.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return out;
}

/// One change: a byte, a bit, a number out of proportion, a cut, a repetition, a piece of another seed.
void change(Input& input, const std::vector<Input>& seeds, std::mt19937& dice) {
  const auto below = [&](size_t n) { return n == 0 ? 0 : dice() % n; };
  const size_t at = below(input.size());
  switch (input.empty() ? 5 : dice() % 6) {
    case 0: input[at] = static_cast<uint8_t>(dice()); return;
    case 1: input[at] ^= static_cast<uint8_t>(1 << dice() % 8); return;
    case 2:
      for (size_t i = at; i < std::min(at + 4, input.size()); ++i) input[i] = input[at] >= '0' && input[at] <= '9' ? '9' : 0xff;
      return;
    case 3: input.resize(at); return;
    case 4: {
      const Input piece(input.begin() + static_cast<std::ptrdiff_t>(at), input.begin() + static_cast<std::ptrdiff_t>(at + below(input.size() - at)));
      input.insert(input.begin() + static_cast<std::ptrdiff_t>(below(input.size())), piece.begin(), piece.end());
      return;
    }
    default: {
      const Input& other = seeds[below(seeds.size())];
      const size_t from = below(other.size());
      input.insert(input.begin() + static_cast<std::ptrdiff_t>(at), other.begin() + static_cast<std::ptrdiff_t>(from), other.begin() + static_cast<std::ptrdiff_t>(from + below(other.size() - from)));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: %s SEEDS [COPIES]\n", argv[0]), 2;
  const std::vector<Input> seeds = seeds_in(argv[1]);
  if (seeds.empty()) return std::fprintf(stderr, "%s: no seeds in '%s'\n", argv[0], argv[1]), 2;
  const long copies = argc > 2 ? std::atol(argv[2]) : 0;
  for (const Input& seed : seeds) LLVMFuzzerTestOneInput(seed.data(), seed.size());
  std::mt19937 dice(1);
  for (long i = 0; i < copies; ++i) {
    Input input = seeds[dice() % seeds.size()];
    for (unsigned changes = 1 + dice() % 4; changes > 0; --changes) change(input, seeds, dice);
    if (input.size() > 65536) input.resize(65536);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%zu seeds and %ld changed copies, none led astray\n", seeds.size(), copies);
  return 0;
}
