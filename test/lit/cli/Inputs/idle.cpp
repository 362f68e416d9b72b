// SPDX-License-Identifier: Apache-2.0
#include <hvd/hvd.hpp>

int main() { return static_cast<int>(hvd::zeros({3}).numel()) - 3; }
