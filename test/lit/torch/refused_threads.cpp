// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// A thread that runs on makes what the training loop reads: how far it has come is another on each rank.

//--- program.h
#pragma once
#include <torch/torch.h>

#include <deque>
#include <mutex>
#include <thread>
#include <vector>

struct Job {
  Job() { net->to(torch::kDouble); }
  void step(const torch::Tensor& a) {
    auto loss = torch::mse_loss(net(a), a.sum(1, true));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  torch::nn::Linear net{4, 1};
  torch::optim::SGD optimizer{net->parameters(), 0.1};
  torch::Tensor x = torch::rand({64, 4}, torch::kDouble);
  std::deque<torch::Tensor> queue;
  std::mutex mutex;
};

//--- latest.cpp
// form: the latest batch that a running thread has made
#include "program.h"

int main() {
  Job job;
  std::thread producer([&] {
    for (int64_t at = 0; at < 64; at += 8) {
      std::lock_guard<std::mutex> lock(job.mutex);
      job.queue.push_back(job.x.slice(0, at, at + 8));
    }
  });
  for (int step = 0; step < 8; ++step) {
    torch::Tensor a;
    while (!a.defined()) {
      std::lock_guard<std::mutex> lock(job.mutex);
      if (!job.queue.empty()) a = job.queue.back();  // refused: HVD3012
    }
    job.step(a);
  }
  producer.join();
}

//--- all_there_are.cpp
// form: all batches that a running thread has made so far
#include "program.h"

int main() {
  Job job;
  std::thread producer([&] {
    for (int64_t at = 0; at < 64; at += 8) {
      std::lock_guard<std::mutex> lock(job.mutex);
      job.queue.push_back(job.x.slice(0, at, at + 8));
    }
  });
  for (int step = 0; step < 8; ++step) {
    torch::Tensor a;
    std::vector<torch::Tensor> all;
    {
      std::lock_guard<std::mutex> lock(job.mutex);
      for (auto& t : job.queue) all.push_back(t);  // refused: HVD3012
    }
    if (all.empty()) continue;
    a = torch::cat(all);
    job.step(a);
  }
  producer.join();
}

//--- copied.cpp
// form: a copy of what a running thread fills
#include "program.h"

int main() {
  Job job;
  std::thread producer([&] {
    for (int64_t at = 0; at < 64; at += 8) {
      std::lock_guard<std::mutex> lock(job.mutex);
      job.queue.push_back(job.x.slice(0, at, at + 8));
    }
  });
  for (int step = 0; step < 8; ++step) {
    torch::Tensor a;
    std::lock_guard<std::mutex> lock(job.mutex);
    std::deque<torch::Tensor> copy(job.queue);  // refused: HVD3012
    if (copy.empty()) continue;
    a = copy[0];
    job.step(a);
  }
  producer.join();
}

//--- drawn.cpp
// form: random numbers that a running thread draws
#include "program.h"

int main() {
  Job job;
  std::thread producer([&] {
    for (int64_t at = 0; at < 64; at += 8) {
      auto made = torch::rand({8, 4}, torch::kDouble);  // refused: HVD3012
      std::lock_guard<std::mutex> lock(job.mutex);
      job.queue.push_back(made);
    }
  });
  for (int step = 0; step < 8; ++step) {
    torch::Tensor a;
    while (!a.defined()) {
      std::lock_guard<std::mutex> lock(job.mutex);
      if (job.queue.empty()) continue;
      a = job.queue.front();
      job.queue.pop_front();
    }
    job.step(a);
  }
  producer.join();
}
