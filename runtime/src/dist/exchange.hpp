// SPDX-License-Identifier: Apache-2.0
#pragma once

// Numbers of all ranks, combined in the order of ranks: exact for integers, the same bits on every rank for the others.

#include <vector>

#include <hvd/dist/call_site.hpp>
#include <hvd/dist/scalars.hpp>

#include "rank.hpp"

namespace hvd::dist {

inline OpName op_name(const char* name, CallSite site) { return {name, site.file, site.line}; }

/// What is wrong when a backward pass comes through a number that was combined over ranks; `why` not.
std::string lost_gradient(const OpName& name, const char* why = "");

/// The sum of what each rank of `comm` brings, in their order.
double sum_over(Communicator& comm, double mine, const OpName& name);

/// Combines `count` numbers, position by position, over the ranks that take part; at least one must.
void combine_numbers(Rank& rank, detail::Number* numbers, std::size_t count, detail::Combine how, bool takes_part,
                     const OpName& name);

/// Sum over ranks of one double each, in the order of ranks.
double sum_over_ranks(Rank& rank, double mine, const OpName& name);

}  // namespace hvd::dist
