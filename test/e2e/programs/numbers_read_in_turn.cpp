// SPDX-License-Identifier: Apache-2.0
// e2e: name=options_in_turn; cxx=-DFORM=1; scaled=--width 4 --batch {8*N} --rate {0.05*N} --epochs 2; ranks=1,2,3; timeout=60
// e2e: name=options_behind; cxx=-DFORM=2; scaled=--width 4 --batch {8*N} --rate {0.05*N} --epochs 2; ranks=1,3; timeout=60
// e2e: name=numbers_of_a_stream; cxx=-DFORM=3; scaled=--width 4 --batch {8*N} --rate {0.05*N} --epochs 2; ranks=1,3; timeout=60
// e2e: name=numbers_of_a_reader; cxx=-DFORM=4; scaled=--width 4 --batch {8*N} --rate {0.05*N} --epochs 2; ranks=1,3; timeout=60
// e2e: name=numbers_of_lines; cxx=-DFORM=5; scaled=--width 4 --batch {8*N} --rate {0.05*N} --epochs 2; ranks=1,3; timeout=60
// e2e: name=numbers_that_are_set; cxx=-DFORM=6; scaled=--width 4 --batch {8*N} --rate {0.05*N} --epochs 2; ranks=1,3; timeout=60
// e2e: name=numbers_of_pairs; cxx=-DFORM=7; scaled=--width 4 --batch {8*N} --rate {0.05*N} --epochs 2; ranks=1,3; timeout=60
// e2e: name=numbers_asked_twice; cxx=-DFORM=8; scaled=--width 4 --batch {8*N} --rate {0.05*N} --epochs 2; ranks=1,3; timeout=60
// Several numbers read by the same text, one after another: only that of the batch is multiplied (and that wherever it is read: FORM 8).
#include <hvd/hvd.hpp>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>

long number(std::istream& in) {
  long n = 0;
  in >> n;
  return n;
}

struct Reader {
  std::istringstream in;
  long next() {
    long n = 0;
    in >> n;
    return n;
  }
};

struct Settings {
  long width = 3, batch = 4, epochs = 1;
  void set(const std::string& name, const std::string& value) {
    if (name == "--width") width = std::stol(value);
    else if (name == "--batch") batch = std::stol(value);
    else if (name == "--epochs") epochs = std::stol(value);
  }
};

struct Values {
  std::map<std::string, std::string> all;
  mutable long asked = 0;
  long get(const std::string& name) const {
    ++asked;
    return std::stol(all.at(name));
  }
};

int main(int argc, char** argv) {
  hvd::manual_seed(5);
  [[maybe_unused]] const std::string listed = std::string(argv[2]) + ' ' + argv[4] + ' ' + argv[8];
  double rate = 0.05;
#if FORM == 1 || FORM == 2
  long width = 3, batch = 4, epochs = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
#if FORM == 1
    if (option == "--width") width = std::stol(argv[++i]);
    else if (option == "--batch") batch = std::stol(argv[++i]);
    else if (option == "--epochs") epochs = std::stol(argv[++i]);
    else if (option == "--rate") rate = std::stod(argv[++i]);
#else
    if (option == "--width" && i + 1 < argc) width = std::stol(argv[i + 1]);
    if (option == "--batch" && i + 1 < argc) batch = std::stol(argv[i + 1]);
    if (option == "--epochs" && i + 1 < argc) epochs = std::stol(argv[i + 1]);
    if (option == "--rate" && i + 1 < argc) rate = std::stod(argv[i + 1]);
#endif
  }
#elif FORM == 3
  rate = std::atof(argv[6]);
  std::istringstream in(listed);
  const long width = number(in);
  const long batch = number(in);
  const long epochs = number(in);
#elif FORM == 5
  rate = std::atof(argv[6]);
  long width = 3, batch = 4, epochs = 1;
  std::istringstream lines(std::string("width=") + argv[2] + "\nbatch=" + argv[4] + "\nepochs=" + argv[8] + "\n");
  std::string line;
  while (std::getline(lines, line)) {
    const std::string name = line.substr(0, line.find('=')), value = line.substr(line.find('=') + 1);
    if (name == "width") width = std::stol(value);
    else if (name == "batch") batch = std::stol(value);
    else if (name == "epochs") epochs = std::stol(value);
  }
#elif FORM == 6
  rate = std::atof(argv[6]);
  Settings settings;
  for (int i = 1; i + 1 < argc; i += 2) settings.set(argv[i], argv[i + 1]);
  const long width = settings.width, batch = settings.batch, epochs = settings.epochs;
#elif FORM == 7
  rate = std::atof(argv[6]);
  std::map<std::string, std::string> given;
  for (int i = 1; i + 1 < argc; i += 2) given[argv[i]] = argv[i + 1];
  long width = 3, batch = 4, epochs = 1;
  for (const auto& option : given) {
    if (option.first == "--width") width = std::stol(option.second);
    if (option.first == "--batch") batch = std::stol(option.second);
  }
  for (auto it = given.begin(); it != given.end(); ++it) {
    if (it->first == "--rows") width = std::stol(it->second);
    if (it->first == "--epochs") epochs = std::stol(it->second);
  }
#elif FORM == 8
  rate = std::atof(argv[6]);
  Values values;
  for (int i = 1; i + 1 < argc; i += 2) values.all[argv[i]] = argv[i + 1];
  const long width = values.get("--width"), batch = values.get("--batch"), epochs = values.get("--epochs");
#else
  rate = std::atof(argv[6]);
  Reader reader{std::istringstream(listed)};
  const long width = reader.next();
  const long batch = reader.next();
  const long epochs = reader.next();
#endif
  auto x = hvd::randn({48, width}, hvd::kFloat64), y = x.sum(1).reshape({-1, 1});
  auto loader = hvd::data::make_data_loader<hvd::data::samplers::RandomSampler>(hvd::data::datasets::TensorDataset(x, y), hvd::data::DataLoaderOptions(batch));
  hvd::nn::Linear net(width, 1);
  net->to(hvd::kFloat64);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(rate));
  for (long epoch = 0; epoch < epochs; ++epoch)
    for (auto& rows : *loader) {
      opt.zero_grad();
#if FORM == 8
      auto loss = hvd::nn::functional::mse_loss(net(rows.data), rows.target, hvd::nn::functional::MSELossFuncOptions().reduction(hvd::kSum)) / static_cast<double>(values.get("--batch"));
#else
      auto loss = hvd::nn::functional::mse_loss(net(rows.data), rows.target);
#endif
      loss.backward();
      opt.step();
      std::printf("%ld %ld %.9f\n", width, epochs, loss.item<double>());
    }
  hvd::save(net, "net.safetensors");
}
