// SPDX-License-Identifier: Apache-2.0
#include "exchange.hpp"

#include <cmath>

namespace hvd::dist {

std::string lost_gradient(const OpName& name, const char* why) {
  return std::string(name.file) + ":" + std::to_string(name.line) + ": " + name.name +
         ": this number of the whole batch depends on parameters and is part of a loss: its gradient would be lost" + (*why ? ", for " : "") + why +
         " (detach it, if none is meant)";
}

namespace {

using detail::Combine;
using detail::Number;

// What one rank sends: plain bytes.
struct Entry {
  Number number;
  std::int64_t takes_part;
};

double combine_reals(double a, double b, Combine how) {
  if (how == Combine::sum) return a + b;
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  if (how == Combine::max) return a < b ? b : a;
  return b < a ? b : a;
}

template <class T>
T combine_integers(T a, T b, Combine how) {
  if (how == Combine::sum) return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  if (how == Combine::max) return a < b ? b : a;
  return b < a ? b : a;
}

void combine_into(Number& a, const Number& b, Combine how) {
  a.real = combine_reals(a.real, b.real, how);
  a.integer = combine_integers(a.integer, b.integer, how);
  a.natural = combine_integers(a.natural, b.natural, how);
}

}  // namespace

void combine_numbers(Rank& rank, Number* numbers, std::size_t count, Combine how, bool takes_part, const OpName& name) {
  std::vector<Entry> mine(count), all(count * static_cast<std::size_t>(rank.size()));
  for (std::size_t i = 0; i < count; ++i) mine[i] = {numbers[i], takes_part};
  rank.comm->allgather(mine.data(), count * sizeof(Entry), all.data(), DataType::uint8, name);
  for (std::size_t i = 0; i < count; ++i) {
    bool first = true;
    for (std::size_t r = 0; r < static_cast<std::size_t>(rank.size()); ++r) {
      const Entry& entry = all[r * count + i];
      if (!entry.takes_part) continue;
      if (first) numbers[i] = entry.number;
      else combine_into(numbers[i], entry.number, how);
      first = false;
    }
  }
}

double sum_over(Communicator& comm, double mine, const OpName& name) {
  std::vector<double> all(static_cast<std::size_t>(comm.size()));
  comm.allgather(&mine, 1, all.data(), DataType::float64, name);
  double sum = all[0];
  for (std::size_t r = 1; r < all.size(); ++r) sum += all[r];
  return sum;
}

double sum_over_ranks(Rank& rank, double mine, const OpName& name) {
  Number n;
  n.real = mine;
  combine_numbers(rank, &n, 1, Combine::sum, true, name);
  return n.real;
}

}  // namespace hvd::dist
