// SPDX-License-Identifier: Apache-2.0
#pragma once

// How the ranks of a host share its cores.

#include <sched.h>

#include <vector>

#include <hvd/dist/communicator.hpp>

namespace hvd::dist {

/// Threads of one rank, at least 1: an equal share of the cores that the ranks of the host may run on together (`masks`, one for
/// each rank), but not more than the cores of its own mask. A launcher may have bound every rank to cores of its own, or none.
int fair_share(const cpu_set_t& own, const std::vector<cpu_set_t>& masks);

/// Limits the threads of OpenMP and BLAS in this process to its share, unless OMP_NUM_THREADS or OPENBLAS_NUM_THREADS says
/// otherwise: by default every rank would start as many as the host has cores. Collective over the ranks of one host.
void share_cores(Communicator& host);

}  // namespace hvd::dist
