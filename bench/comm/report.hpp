// SPDX-License-Identifier: Apache-2.0
#pragma once

// What hvd-bench has measured: a table as it goes, a file of numbers, a picture, and which variant wins where.

#include <cstddef>
#include <string>
#include <vector>

namespace hvd::bench {

/// One size of one operation: medians in microseconds, one for each variant; the first is the library.
struct Measured {
  std::size_t bytes = 0;
  std::vector<double> times;
};

class Report {
 public:
  /// `copy_rate`: bytes a second that each rank copies while all of them copy.
  Report(std::string op, int ranks, std::vector<std::string> variants, double copy_rate)
      : op_(std::move(op)), ranks_(ranks), variants_(std::move(variants)), copy_rate_(copy_rate) {}

  void print_head() const;
  void add(const Measured& measured);  // and prints it
  /// From which size to which each variant is the quickest.
  void print_winners() const;
  /// op, ranks, variant, bytes, microseconds, gain over the library, gigabits a second of the operand, gigabytes a second that cross each rank's
  /// link if there were one (bus bandwidth, as in NCCL's tests), share of what copying allows.
  bool write_csv(const std::string& path) const;
  /// Gigabits a second over the size, both in logarithms.
  bool write_svg(const std::string& path) const;

 private:
  double crossing(std::size_t bytes) const;  // bytes that leave each rank at least

  std::string op_;
  int ranks_;
  std::vector<std::string> variants_;
  double copy_rate_;
  std::vector<Measured> all_;
};

}  // namespace hvd::bench
