// SPDX-License-Identifier: Apache-2.0
// e2e: name=targets_row_by_row; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=targets_by_branches; cxx=-DFORM=1; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=targets_put_at_places; cxx=-DFORM=2; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=targets_of_a_forward_pass; cxx=-DFORM=3; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=targets_of_pointers; cxx=-DFORM=4; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=targets_of_a_pass_over_data; cxx=-DFORM=5; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=targets_with_a_short_batch; cxx=-DFORM=6; modes=global; args=2 0.05; ranks=1,2,3; timeout=90
// e2e: name=targets_of_named_items; cxx=-DFORM=7; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=targets_of_parts_of_items; cxx=-DFORM=8; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=targets_counted_beside_the_list; cxx=-DFORM=9; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=90
// form: targets that are written in a loop over the drawn transitions, with a counter beside it
// form: targets that are written row by row, found by the position of a batch in the data
// form: targets that are written row by row, from a list of transitions that were drawn
// form: an output of the model that is changed row by row
// Deep Q learning by hand: a copy of the outputs gets, row by row, the wanted value in the column of the action that a list of transitions says.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#ifndef FORM
#define FORM 0
#endif

using torch::Tensor;

struct Transition {
  Tensor state, next;
  int action;
  double reward;
  bool done;
};

#if FORM == 4
using Held = std::shared_ptr<Transition>;
Held hold(const Transition& t) { return std::make_shared<Transition>(t); }
const Transition& seen(const Held& t) { return *t; }
#else
using Held = Transition;
Held hold(const Transition& t) { return t; }
const Transition& seen(const Held& t) { return t; }
#endif

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  torch::manual_seed(3);
  const size_t size = std::stoull(argv[1]);
  std::mt19937 dice(5);
  std::vector<Held> memory;
  for (int i = 0; i < 50; ++i) memory.push_back(hold({torch::randn({3}, torch::kDouble), torch::randn({3}, torch::kDouble), i * 7 % 4, 0.25 * (i % 5), i % 6 == 1}));
  torch::nn::Linear net(3, 4), behind(3, 4);
  net->to(torch::kDouble);
  behind->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), std::stod(argv[2]));
#if FORM == 5
  const size_t rows = memory.size();
  for (size_t at = 0; at < rows; at += size) {
    const size_t end = std::min(rows, at + size), count = end - at;
    std::vector<Tensor> states, nexts;
    for (size_t k = at; k < end; ++k) {
      states.push_back(memory[k].state);
      nexts.push_back(memory[k].next);
    }
    const Tensor q = net(torch::stack(states)), later = behind(torch::stack(nexts));
    Tensor target = q.detach().clone();
    for (size_t i = 0; i < count; ++i) target[i][memory[at + i].action] = memory[at + i].reward + (memory[at + i].done ? 0.0 : 0.9 * later[i].max().item<double>());
#else
  for (size_t seen_samples = 0; seen_samples < 96; seen_samples += size) {
    std::vector<Held> batch;
    for (size_t k = 0; k < size; ++k) batch.push_back(memory[dice() % memory.size()]);
    std::vector<Tensor> states, nexts;
    for (const Held& t : batch) {
      states.push_back(seen(t).state);
      nexts.push_back(seen(t).next);
    }
    const Tensor q = net(torch::stack(states)), later = behind(torch::stack(nexts));
#if FORM == 3
    Tensor target = net->forward(torch::stack(states)).detach();
#else
    Tensor target = q.detach().clone();
#endif
#if FORM == 7
    for (size_t i = 0; i < size; ++i) {
      const auto& t = batch[i];
      target[i][t.action] = t.reward + (t.done ? 0.0 : 0.9 * later[i].max().item<double>());
    }
#elif FORM == 9
    int row = 0;
    for (const auto& t : batch) {
      double wanted = t.reward;
      if (!t.done) wanted += 0.9 * later[row].max().item<double>();
      target[row][t.action] = wanted;
      row++;
    }
#elif FORM == 8
    for (size_t i = 0; i < size; i++) {
      auto [state, next, action, reward, done] = batch[i];
      if (!done) reward += 0.9 * later[i].max().item<double>();
      target[i][action] = reward;
    }
#else
    for (size_t i = 0; i < batch.size(); ++i) {
#if FORM == 1
      double wanted = batch[i].reward;
      if (!batch[i].done) {
        const int best = later[i].argmax().item<int>();
        wanted += 0.9 * later[i][best].item<double>();
      }
      target[i][batch[i].action] = wanted;
#elif FORM == 2
      auto best = std::get<0>(later[i].max(0));
      if (batch[i].action == 3) best = -best;
      if (batch.at(i).done) target.index_put_({static_cast<int64_t>(i), batch[i].action}, batch[i].reward);
      else target.index_put_({static_cast<int64_t>(i), batch[i].action}, batch[i].reward + 0.9 * best.item<double>());
#elif FORM == 4
      if (batch[i]->done) target[i][batch[i]->action] = batch[i]->reward;
      else target[i][batch[i]->action] = (*batch[i]).reward + 0.9 * torch::max(later[i]).item<double>();
#else
      target[i][batch[i].action] = batch[i].reward + (batch[i].done ? 0.0 : 0.9 * later[i].max().item<double>());
#endif
    }
#endif
#endif
    const Tensor loss = torch::mse_loss(q, target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::printf("loss %.6f\n", loss.item<double>());
  }
  torch::save(net, "net.pt");
  return 0;
}
