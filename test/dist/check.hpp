// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>

#include <hvd/dist/session.hpp>

/// Ends the job with status 1 and a message that names rank, place and condition, unless the condition holds.
#define HVD_CHECK(condition)                                                                                      \
  do {                                                                                                            \
    if (!(condition)) {                                                                                           \
      std::fprintf(stderr, "rank %d: %s:%d: not so: %s\n", hvd::rank(), __FILE__, __LINE__, #condition);           \
      std::exit(1);                                                                                               \
    }                                                                                                             \
  } while (false)
