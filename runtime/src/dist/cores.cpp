// SPDX-License-Identifier: Apache-2.0
#include "cores.hpp"

#include <stdlib.h>

#include <algorithm>
#include <string>

#include <hvd/context.hpp>
#include <hvd/core/error.hpp>

namespace hvd::dist {

int fair_share(const cpu_set_t& own, const std::vector<cpu_set_t>& masks) {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const cpu_set_t& mask : masks) CPU_OR(&all, &all, &mask);
  const int share = masks.empty() ? 1 : CPU_COUNT(&all) / static_cast<int>(masks.size());
  return std::max(1, std::min(share, CPU_COUNT(&own)));
}

void share_cores(Communicator& host) {
  cpu_set_t own;
  CPU_ZERO(&own);
  const bool known = sched_getaffinity(0, sizeof own, &own) == 0;
  std::vector<cpu_set_t> masks(static_cast<std::size_t>(host.size()));
  host.allgather(&own, sizeof own, masks.data(), DataType::uint8, {"cores"});
  if (!known || getenv("OMP_NUM_THREADS") || getenv("OPENBLAS_NUM_THREADS")) return;
  const int threads = fair_share(own, masks);
  // For libraries that have not read it yet; those that have are told.
  setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);
  setenv("OPENBLAS_NUM_THREADS", std::to_string(threads).c_str(), 1);
  try {
    set_num_threads(threads);
  } catch (const Error&) {
    // This process has no BLAS, and will say so where it needs one.
  }
}

}  // namespace hvd::dist
