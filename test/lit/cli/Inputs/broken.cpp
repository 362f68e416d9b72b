// SPDX-License-Identifier: Apache-2.0
#include <hvd/hvd.hpp>

int main() { return nonsense; }
