// SPDX-License-Identifier: Apache-2.0
// e2e: name=draws_up_to_the_memory; scaled={10*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=draws_counted_in_a_field; cxx=-DFORM=1; scaled={10*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=draws_counted_beside_a_field; cxx=-DFORM=2; scaled={10*N} {0.05*N}; ranks=1,2,3; timeout=90
// As many rows as a step takes, or as the memory has: the number of ranks multiplies what the settings say, not the smaller of the two.
#include <torch/torch.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <vector>

#ifndef FORM
#define FORM 0
#endif

using Row = std::vector<double>;

#if FORM > 0
struct Drawn {
  size_t count = 0;
  std::vector<double> in, out;
  torch::Tensor x() const { return torch::tensor(in, torch::kDouble).reshape({static_cast<int64_t>(count), 3}); }
  torch::Tensor y() const { return torch::tensor(out, torch::kDouble).reshape({static_cast<int64_t>(count), 1}); }
};

struct Memory {
  size_t batch;
  std::vector<Row> rows;
  std::mt19937 engine{4};

  Drawn draw() {
    Drawn drawn;
#if FORM == 1
// form: the number of rows that were drawn in a field, no more than there are
    drawn.count = std::min(batch, rows.size());
    const size_t n = drawn.count;
#else
// form: the number of rows that were drawn in a field, and in a variable
    const size_t n = batch;
    drawn.count = n;
#endif
    std::uniform_int_distribution<size_t> pick(0, rows.size() - 1);
    for (size_t i = 0; i < n; ++i) {
      const Row& row = rows[pick(engine)];
      drawn.in.insert(drawn.in.end(), row.begin(), row.end());
      drawn.out.push_back(row[0] - row[1]);
    }
    return drawn;
  }
};
#endif

int main(int argc, char** argv) {
  const size_t size = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10;
  torch::manual_seed(3);
  torch::nn::Linear net(3, 1);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), argc > 2 ? std::atof(argv[2]) : 0.05);
  std::mt19937 engine(2);
  std::uniform_real_distribution<double> number(-1, 1);
#if FORM == 0
  std::vector<Row> memory;
#else
  Memory memory{size, {}};
#endif
  for (int step = 0; step < 36; ++step) {
    const Row row = {number(engine), number(engine), number(engine)};
#if FORM == 0
// form: rows drawn from a memory, no more than there are
    memory.push_back(row);
    const size_t n = std::min(size, memory.size());
    std::vector<torch::Tensor> in, out;
    std::uniform_int_distribution<size_t> pick(0, memory.size() - 1);
    for (size_t i = 0; i < n; ++i) {
      const Row& kept = memory[pick(engine)];
      in.push_back(torch::tensor(kept, torch::kDouble));
      out.push_back(torch::tensor({kept[0] - kept[1]}, torch::kDouble));
    }
    const torch::Tensor x = torch::stack(in), y = torch::stack(out);
#else
    memory.rows.push_back(row);
    const Drawn drawn = memory.draw();
    const torch::Tensor x = drawn.x(), y = drawn.y();
#endif
    const torch::Tensor loss = torch::mse_loss(net(x), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  torch::save(net, "net.pt");
}
