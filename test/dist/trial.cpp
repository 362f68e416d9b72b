// SPDX-License-Identifier: Apache-2.0

// A small training run in which one rank goes wrong at a given moment; trials.py draws them and looks at how the job ends.
// usage: hvd-dist-trial FAULT MOMENT RANK FILE       FAULT: kill stop exit throw stuck
//        MOMENT: start, a step from 0 on, or end     hvd-dist-trial check FILE   loads the checkpoint
// Without arguments nothing goes wrong. HVD_TEST_DEVICE: where it trains.

#include <signal.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include <hvd/checkpoint.hpp>
#include <hvd/context.hpp>
#include <hvd/dist/broadcast.hpp>
#include <hvd/dist/gradients.hpp>
#include <hvd/dist/output.hpp>
#include <hvd/dist/session.hpp>

namespace {

constexpr int kSteps = 8;

struct Trial {
  std::string fault, moment, file = "/dev/null";
  int rank = -1;

  void maybe(const std::string& now, int here) const {
    if (now != moment || here != rank) return;
    if (fault == "kill") raise(SIGKILL);
    if (fault == "stop") raise(SIGSTOP);
    if (fault == "exit") std::exit(1);
    if (fault == "throw") throw std::runtime_error("the fault of this trial");
    if (fault == "stuck") std::this_thread::sleep_for(std::chrono::hours(1));
  }
};

// Before the session only the launcher's variables tell the rank.
int launched_rank() {
  for (const char* variable : {"HVD_RUN_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (const char* text = std::getenv(variable)) return std::atoi(text);
  return 0;
}

hvd::nn::Linear make_model() { return hvd::nn::Linear(16, 16); }

int train(int argc, char** argv, const Trial& trial) {
  trial.maybe("start", launched_rank());
  hvd::Session session(argc, argv);
  if (const char* device = std::getenv("HVD_TEST_DEVICE")) hvd::set_default_device(hvd::Device(device));
  auto model = make_model();
  hvd::optim::SGD optimizer(model->parameters(), hvd::optim::SGDOptions(0.1).momentum(0.9));
  hvd::broadcast(model, optimizer);
  hvd::overlap(model, optimizer);
  for (int step = 0; step < kSteps; ++step) {
    trial.maybe(std::to_string(step), hvd::rank());
    optimizer.zero_grad();
    hvd::weighted(model->forward(hvd::ones({4, 16})).square().mean(), hvd::LossKind::mean).backward();
    hvd::reduce_gradients(optimizer);
    optimizer.step();
    hvd::save_checkpoint(hvd::root_path(trial.file), model, optimizer, {0, step, {}});
  }
  trial.maybe("end", hvd::rank());
  return 0;
}

int check(const std::string& file) {
  auto model = make_model();
  hvd::optim::SGD optimizer(model->parameters(), hvd::optim::SGDOptions(0.1).momentum(0.9));
  std::printf("step %lld\n", static_cast<long long>(hvd::load_checkpoint(file, model, optimizer).step));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "check") return check(argv[2]);
  Trial trial;
  if (argc == 5) trial = {argv[1], argv[2], argv[4], std::atoi(argv[3])};
  return train(argc, argv, trial);
}
