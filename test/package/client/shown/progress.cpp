// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <cstdio>

void progress(int epoch) { std::printf("epoch %d done\n", epoch); }
