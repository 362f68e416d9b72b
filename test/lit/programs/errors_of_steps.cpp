// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// Handlers behind which training goes on: an error that one rank has in its slice is none of the others', which wait for it in the step. A handler that
// passes the error on, one of the program's own errors, and one around something else than a step stay as they are.

#include <hvd/hvd.hpp>

#include <cstdio>
#include <exception>
#include <stdexcept>

int main() {
  hvd::nn::Linear net(5, 1);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  const auto x = hvd::randn({50, 5}), y = hvd::randn({50, 1});
  int skipped = 0;
  try {
    for (int i = 0; i < 50; i += 10) {
      try {
        auto loss = hvd::nn::functional::mse_loss(net->forward(x.slice(0, i, i + 10)), y.slice(0, i, i + 10));
        opt.zero_grad();
        loss.backward();
        opt.step();
        // CHECK: } catch (const std::logic_error&) {
        // CHECK-NEXT: skipped += 2;
      } catch (const std::logic_error&) {
        skipped += 2;
        // CHECK: } catch (const hvd::Error& error) {
        // CHECK-NEXT: hvd::caught_in_step();
        // CHECK-NEXT: ++skipped;
      } catch (const hvd::Error& error) {
        ++skipped;
        // CHECK: } catch (...) {
        // CHECK-NEXT: hvd::caught_in_step();
        // CHECK-NEXT: skipped += 3;
      } catch (...) {
        skipped += 3;
      }
    }
    // CHECK: } catch (const std::exception&) {
    // CHECK-NEXT: ++skipped;
  } catch (const std::exception&) {
    ++skipped;
    throw;
  }
  try {
    std::printf("%g\n", x.sum().item<double>());
    // CHECK: } catch (const std::exception&) {
    // CHECK-NEXT: return 1;
  } catch (const std::exception&) {
    return 1;
  }
  std::printf("%d\n", skipped);
}
