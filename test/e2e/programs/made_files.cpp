// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// Files that the program itself has written, read by functions of the core: a vocabulary, labelled texts, a network, plain text. No rank may
// read what the root has not written yet.
#include <hvd/hvd.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace data = hvd::data;

// Read where members are initialised, too.
struct Texts {
  explicit Texts(const std::string& path) : all(data::read_labelled_texts(path)) {}
  std::vector<data::LabelledText> all;
};

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const double lr = argc > 2 ? std::atof(argv[2]) : 0.1;
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(3);

  auto first = data::ByteTokenizer::train("the cat sat on the mat, the cat", 262);
  first.save("vocabulary.json", "merges.txt");
  auto second = data::ByteTokenizer::load("vocabulary.json", "merges.txt");
  std::cout << second.size() << "\n";
  {
    std::ofstream out("texts.tsv");
    for (int i = 0; i < 2000; ++i) out << i % 2 << "\t" << "a text of some length, number " << i << "\n";
  }
  const Texts texts("texts.tsv");
  std::cout << texts.all.size() << "\n";
  {
    std::ofstream out("made.txt");
    out << "input input shape=4\nfirst linear out=5\nrelu relu\nlast linear out=3\n";
  }
  auto net = hvd::nn::load_network("made.txt");
  {
    std::ofstream out("notes.txt");
    for (int i = 0; i < 20000; ++i) out << i << "\n";
  }
  std::cout << data::read_text("notes.txt").size() << "\n";

  const hvd::Tensor x = hvd::randn({50, 4});
  auto loader = data::make_data_loader(data::datasets::TensorDataset(x, x.matmul(hvd::randn({4, 3})).argmax(1)), data::DataLoaderOptions(batch));
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(lr));
  for (auto& b : *loader) {
    opt.zero_grad();
    auto loss = hvd::nn::functional::cross_entropy(net(b.data), b.target);
    loss.backward();
    opt.step();
    std::printf("%.10f\n", loss.item<double>());
  }
  hvd::save(net, "net.safetensors");
}
