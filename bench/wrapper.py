# SPDX-License-Identifier: Apache-2.0
"""What hvdize-c++ costs a build, against the compiler behind it."""
import json
import os
import shutil
import subprocess
from pathlib import Path

from measure import best_of, row, run

LIBRARY_FILES = 18

CMAKE = """cmake_minimum_required(VERSION 3.22)
project(twenty LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(Torch REQUIRED)
file(GLOB parts part*.cpp)
add_library(parts STATIC ${parts})
target_link_libraries(parts ${TORCH_LIBRARIES})
add_executable(train main.cpp loop.cpp)
target_link_libraries(train parts)
"""
PART = """#include <torch/torch.h>
torch::Tensor part%d(const torch::Tensor& x) { return (x * %d + 1).relu().view({x.size(0), -1}); }
"""
LOOP = """#include "loop.h"
%s
double train_epoch(torch::nn::Linear& net, torch::optim::Optimizer& optimizer, const torch::Tensor& data, const torch::Tensor& target) {
  double sum = 0;
  for (int64_t i = 0; i < data.size(0); i += 16) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(net(%s), target.slice(0, i, i + 16));
    loss.backward();
    optimizer.step();
    sum += loss.item<double>();
  }
  return sum;
}
"""
MAIN = """#include <iostream>
#include "loop.h"
int main() {
  torch::manual_seed(1);
  torch::nn::Linear net(4, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  const auto data = torch::rand({64, 4}), target = torch::rand({64, 1});
  for (int epoch = 1; epoch <= 2; ++epoch) std::cout << train_epoch(net, optimizer, data, target) << std::endl;
}
"""
HEADER = """#pragma once
#include <torch/torch.h>
double train_epoch(torch::nn::Linear& net, torch::optim::Optimizer& optimizer, const torch::Tensor& data, const torch::Tensor& target);
"""


def project(folder):
    """20 files with LibTorch's headers, of which 2 train; all are linked into the program that trains."""
    folder.mkdir(parents=True)
    names = range(1, LIBRARY_FILES + 1)
    batch = "data.slice(0, i, i + 16)"
    for n in names:
        (folder / ("part%d.cpp" % n)).write_text(PART % (n, n))
        batch = "part%d(%s)" % (n, batch)
    declarations = "".join("torch::Tensor part%d(const torch::Tensor& x);\n" % n for n in names)
    for name, text in (("CMakeLists.txt", CMAKE), ("loop.cpp", LOOP % (declarations, batch)), ("main.cpp", MAIN), ("loop.h", HEADER)):
        (folder / name).write_text(text)


def build_costs(source, build, compiler):
    shutil.rmtree(build, ignore_errors=True)
    run(["cmake", "-G", "Ninja", "-S", str(source), "-B", str(build), "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_COMPILER=" + compiler], source)
    return run(["ninja", "-C", str(build), "-j2"], source)


def wrapper_torch(build, rounds, folder):
    """The whole build of a LibTorch project with -j2, hvdize's cache of headers warm. Takes many minutes a round: two rounds at most."""
    site = json.loads((build / "test" / "site.json").read_text())
    if not site["torch"]:
        print("skipped: no LibTorch in this build")
        return True
    os.environ["HVDIZE_CACHE"] = str(Path(folder, "headers"))
    source, wrapper = Path(folder, "twenty"), str(build / "bin" / "hvdize-c++")
    project(source)
    build_costs(source, source / "warm", wrapper)
    plain, wrapped = best_of(min(rounds, 2), lambda: build_costs(source, source / "plain", site["compiler"]),
                             lambda: build_costs(source, source / "wrapped", wrapper))
    print("20 files with LibTorch, 2 of them train: %.0f s, through hvdize-c++ %.0f s" % (plain.seconds, wrapped.seconds))
    good = row("  build / plain build", wrapped.seconds / plain.seconds, 1.15)
    # Both keep two cores busy; unlike wall time this hardly depends on what else the machine does.
    good &= row("  processor time / that of the plain build", wrapped.processor / plain.processor, 1.15)
    again = subprocess.run(["ninja", "-C", str(source / "wrapped")], text=True, stdout=subprocess.PIPE).stdout
    return row("  a build without changes does something (1) or nothing (0)", float("no work to do" not in again), 0) and good


def wrapper_file(build, rounds, folder):
    """One file that does not train, as it is compiled twenty times over."""
    site = json.loads((build / "test" / "site.json").read_text())
    source = Path(folder, "plain.cpp")
    source.write_text("#include <string>\n#include <vector>\nstd::string f(const std::vector<int>& v) { return std::to_string(v.size()); }\n")
    one = lambda compiler: run([compiler, "-O0", "-c", str(source), "-o", str(Path(folder, "plain.o"))], folder)[0]  # noqa: E731
    plain, wrapped = best_of(4 * rounds, lambda: one(site["compiler"]), lambda: one(str(build / "bin" / "hvdize-c++")))
    print("a file that does not train: %.0f ms, through hvdize-c++ %.0f ms" % (1000 * plain, 1000 * wrapped))
    return row("  more", 1000 * (wrapped - plain), 30, " ms")
