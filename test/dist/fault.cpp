// SPDX-License-Identifier: Apache-2.0

// A program that goes wrong on one rank in the way its argument names. The scripts beside it look at how the job ends. Without
// argument it does nothing wrong. HVD_TEST_DEVICE: where it trains.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>

#include <hvd/context.hpp>
#include <hvd/data.hpp>
#include <hvd/dist/batches.hpp>
#include <hvd/dist/broadcast.hpp>
#include <hvd/dist/errors.hpp>
#include <hvd/dist/from_root.hpp>
#include <hvd/dist/gradients.hpp>
#include <hvd/dist/input.hpp>
#include <hvd/dist/numbers.hpp>
#include <hvd/dist/session.hpp>
#include <hvd/dist/sharded.hpp>
#include <hvd/dist/steps.hpp>

namespace {

namespace data = hvd::data;

void rest(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

// Collectives that never end by themselves.
void train_for_ever() {
  for (;;) {
    double loss = 1;
    hvd::all_reduce_sum(loss);
    rest(0.01);
  }
}

// Training with gradients that are reduced while backward runs; in its third step the rank does as the fault says.
int train(const std::string& fault, bool odd) {
  hvd::nn::Linear layer(8, 8);
  hvd::optim::SGD optimizer(layer->parameters(), hvd::optim::SGDOptions(0.1));
  hvd::broadcast(layer, optimizer);
  hvd::overlap(layer, optimizer);
  for (int step = 0; step < 5; ++step) {
    if (step == 2 && odd && fault == "train-late") rest(3600);
    if (step == 2 && fault == "train-exit") std::exit(5);
    hvd::weighted(layer->forward(hvd::ones({4, 8})).square().mean(), hvd::LossKind::mean).backward();
    if (step == 2 && odd && fault == "train-throw") throw std::runtime_error("between backward and reduction");
    hvd::reduce_gradients(optimizer);
    optimizer.step();
    optimizer.zero_grad();
    if (step == 2 && odd && fault == "train-early") return 0;
  }
  return 0;
}

// A loop of steps that goes wrong on one rank, in ways that only HVD_CHECK notices at once.
int broken(const std::string& fault, bool odd) {
  hvd::nn::Linear layer(8, 8);
  hvd::optim::SGD optimizer(layer->parameters(), hvd::optim::SGDOptions(0.1));
  hvd::broadcast(layer, optimizer);
  hvd::overlap(layer, optimizer);
  for (int step = 0; step < 5; ++step) {
    const hvd::StepScope scope;
    const bool wrong = odd && step == 2;
    hvd::Tensor x = hvd::shard(hvd::ones({8, 8}));
    if (wrong && fault == "check-nan") x = x.mul(std::nan(""));
    if (wrong && fault == "check-parameters") {
      const hvd::NoGradGuard no_grad;
      layer->bias.add_(1e-6);
    }
    optimizer.zero_grad();
    hvd::weighted(layer->forward(x).square().mean(), hvd::LossKind::mean).backward();
    if (!(wrong && fault == "check-skip-step")) hvd::reduce_gradients(optimizer);
    optimizer.step();
    hvd::Tensor numbers = hvd::zeros({wrong && fault == "check-count" ? 4 : 3}, wrong && fault == "check-dtype" ? hvd::kInt64 : hvd::kFloat32);
    if (!(wrong && fault == "check-skip")) hvd::all_reduce_sum(numbers);
  }
  return 0;
}

// Handlers that take whatever is thrown for something they know, and go on.
int caught(const std::string& fault, bool odd) {
  for (int step = 0; step < 5; ++step) {
    const hvd::StepScope scope;
    const bool wrong = (step == 2 && odd && fault == "caught") || (step == 4 && (fault == "caught-at-end" || fault == "caught-status"));
    try {
      if (step == 2 && fault == "caught-own") throw std::runtime_error("a line that cannot be read");
      if (step == 2 && fault == "caught-file") hvd::from_root([]() -> int { throw std::runtime_error("no such file"); });
      if (step == 2 && odd && fault == "caught-error") throw hvd::Error("a label out of range");
      if (step == 2 && fault == "caught-error-of-root") hvd::from_root([]() -> int { throw hvd::Error("no such checkpoint"); });
      hvd::shard(hvd::ones({wrong ? 0 : 8, 2}));
    } catch (const std::exception& e) {
      hvd::caught_in_step();
      if (fault == "caught-status") return 3;
      if (wrong || fault == "caught-error") continue;
    }
    double loss = 1;
    hvd::all_reduce_sum(loss);
  }
  return 0;
}

data::datasets::TensorDataset rows() {
  const hvd::Tensor x = hvd::ones({32, 8});
  return {x, x};
}

// A loop over a loader, as a parameter server needs; in its third step the rank does as the fault says.
int served(const std::string& fault, bool odd) {
  hvd::nn::Linear layer(8, 8);
  hvd::optim::SGD optimizer(layer->parameters(), hvd::optim::SGDOptions(0.1));
  hvd::broadcast(layer, optimizer);
  auto loader = data::make_data_loader<hvd::Sharded<data::SequentialSampler>>(rows(), std::size_t{4});
  int step = 0;
  for (data::Batch& batch : hvd::steps(*loader)) {
    const bool now = odd && step++ == 2;
    if (now && fault == "served-kill") raise(SIGKILL);
    if (now && fault == "served-late") rest(3600);
    if (now && fault == "served-throw") throw std::runtime_error("no gradients this time");
    if (now && fault == "served-early") std::exit(0);
    optimizer.zero_grad();
    hvd::weighted(layer->forward(batch.data).square().mean(), hvd::LossKind::mean).backward();
    hvd::reduce_gradients(optimizer);
    optimizer.step();
  }
  return 0;
}

// Together the ranks of this host use no more threads than it has cores, unless the caller asks for two each.
int report_threads(bool asked) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const int threads = hvd::num_threads();
  const bool good = asked ? threads == std::min(2L, cores) : threads == 1 || threads * hvd::size() <= cores;
  if (hvd::is_root()) std::printf("threads %s\n", good ? "as they should be" : std::to_string(threads).c_str());
  return 0;
}

// Every rank reads the numbers that the root's standard input holds.
int add_input() {
  std::istream& in = hvd::root_input(std::cin);
  int number = 0, sum = 0;
  while (in >> number) sum += number;
  int total = in.eof() ? sum : -1000;
  hvd::all_reduce_sum(total);
  if (hvd::is_root()) std::printf("read %d, on all ranks %d\n", sum, total);
  return 0;
}

int misbehave(const std::string& fault, bool odd) {
  if (fault == "throw" && odd) throw std::runtime_error("diverged at step 7");
  if (fault == "throw-all") throw std::runtime_error("no such data set");
  if (fault == "exit3" && odd) std::exit(3);
  if (fault == "exit3-all") std::exit(3);
  if (fault == "exit0-all") std::exit(0);
  if (fault == "exit0" && odd) std::exit(0);
  if (fault == "abort" && odd) std::abort();
  if (fault == "kill" && odd) raise(SIGKILL);
  if (fault == "stop" && odd) raise(SIGSTOP);
  if (fault == "late" && odd) rest(3600);
  if (fault == "early" && odd) return 0;
  if (fault == "return1-all") return 1;
  if (fault == "other" && odd) hvd::agree(true);
  if (fault == "unwind" && odd) throw std::runtime_error("caught in main");
  if ((fault == "error" && odd) || fault == "error-all") {
    hvd::error_stream(std::cerr) << "cannot read part 3" << std::endl;
    hvd::error_call(std::printf)("giving up\n");
    return 4;
  }
  if (fault == "longwork") {
    hvd::from_root([] { rest(4); });
    return 0;
  }
  if (fault.rfind("train", 0) == 0) return train(fault, odd);
  if (fault.rfind("served", 0) == 0) return served(fault, odd);
  if (fault.rfind("caught", 0) == 0) return caught(fault, odd);
  if (fault.rfind("check", 0) == 0) return broken(fault, odd);
  if (fault == "threads" || fault == "threads-asked") return report_threads(fault == "threads-asked");
  if (fault == "input") return add_input();
  if (fault.empty()) return 0;
  train_for_ever();
  return 0;
}

// What a stop after the end of the session finds: a destructor that runs late.
struct Late {
  bool stop = false;
  ~Late() {
    if (stop) raise(SIGSTOP);
  }
} late;

int run(int argc, char** argv) {
  hvd::Session session(argc, argv);
  if (const char* device = std::getenv("HVD_TEST_DEVICE")) hvd::set_default_device(hvd::Device(device));
  const std::string fault = argc > 1 ? argv[1] : "";
  double ranks = 1;
  hvd::all_reduce_sum(ranks);
  if (ranks != hvd::size()) return 9;
  if (hvd::is_root()) std::printf("started %d\n", hvd::size());
  if (fault == "stop-at-end") {
    late.stop = hvd::rank() == 1;
    return 0;
  }
  return misbehave(fault, hvd::rank() == 1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || std::string(argv[1]) != "unwind") return run(argc, argv);
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "main caught: %s\n", e.what());
    return 4;
  }
}
