// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

namespace hvd::bench {

namespace {

double gigabits(std::size_t bytes, double microseconds) { return static_cast<double>(bytes) * 8e-3 / microseconds; }

std::size_t best_of(const std::vector<double>& times) {
  return static_cast<std::size_t>(std::min_element(times.begin(), times.end()) - times.begin());
}

std::string printed(const char* format, double a, double b = 0, double c = 0, double d = 0) {
  char text[256];
  std::snprintf(text, sizeof text, format, a, b, c, d);
  return text;
}

}  // namespace

double Report::crossing(std::size_t bytes) const {
  const double n = ranks_, size = static_cast<double>(bytes);
  if (op_ == "allreduce") return 2 * (n - 1) / n * size;
  if (op_ == "allgather" || op_ == "reduce_scatter") return (n - 1) * size;
  return op_ == "sendrecv" ? 2 * size : size;
}

void Report::print_head() const {
  std::printf("%s, %d ranks; each copies %.2f GB/s while all of them copy\n%12s", op_.c_str(), ranks_, copy_rate_ * 1e-9, "bytes");
  for (const std::string& name : variants_) std::printf(" %9s us", name.c_str());
  for (std::size_t v = 1; v < variants_.size(); ++v) std::printf(" %9s", v == 1 ? ("gain: " + variants_[v]).c_str() : variants_[v].c_str());
  std::printf("\n");
}

void Report::add(const Measured& m) {
  all_.push_back(m);
  std::printf("%12zu", m.bytes);
  for (const double t : m.times) std::printf(" %12.2f", t);
  for (std::size_t v = 1; v < m.times.size(); ++v) std::printf(" %9.2f", m.times[0] / m.times[v]);
  std::printf("\n");
  std::fflush(stdout);
}

void Report::print_winners() const {
  std::printf("quickest:");
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const std::size_t winner = best_of(all_[i].times);
    if (i && winner == best_of(all_[i - 1].times)) continue;
    std::printf("%s %s from %zu bytes", i ? "," : "", variants_[winner].c_str(), all_[i].bytes);
  }
  std::printf("\n");
}

bool Report::write_csv(const std::string& path) const {
  std::ofstream csv(path);
  csv << "op,ranks,variant,bytes,microseconds,gain,gigabits_per_second,bus_gigabytes_per_second,share_of_copying\n";
  for (const Measured& m : all_) {
    for (std::size_t v = 0; v < m.times.size(); ++v) {
      const double bus = crossing(m.bytes) / m.times[v] * 1e-3;
      csv << op_ << ',' << ranks_ << ',' << variants_[v] << ',' << m.bytes << ','
          << printed("%.3f,%.3f,%.4f,%.4f,", m.times[v], m.times[0] / m.times[v], gigabits(m.bytes, m.times[v]), bus)
          << printed("%.4f\n", bus * 1e9 / copy_rate_);
    }
  }
  return static_cast<bool>(csv.flush());
}

bool Report::write_svg(const std::string& path) const {
  constexpr double kWidth = 760, kHeight = 420, kLeft = 70, kRight = 150, kTop = 40, kBottom = 50;
  constexpr const char* kColours[] = {"#7f7f7f", "#1f77b4", "#2ca02c", "#ff7f0e", "#d62728", "#9467bd"};
  double low = 1e300, high = 0;
  for (const Measured& m : all_)
    for (const double t : m.times) {
      low = std::min(low, gigabits(m.bytes, t));
      high = std::max(high, gigabits(m.bytes, t));
    }
  const double decades = std::max(1.0, std::ceil(std::log10(high)) - std::floor(std::log10(low))), floor = std::floor(std::log10(low));
  const auto across = [&](std::size_t i) {
    return kLeft + (kWidth - kLeft - kRight) * (static_cast<double>(i) + 0.5) / static_cast<double>(all_.size());
  };
  const auto up = [&](double value) { return kHeight - kBottom - (kHeight - kTop - kBottom) * (std::log10(value) - floor) / decades; };
  std::ofstream out(path);
  out << printed("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" font-size=\"12\">\n", kWidth, kHeight)
      << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      << printed("<text x=\"%.0f\" y=\"22\" font-size=\"15\">", kLeft) << op_ << ", " << ranks_ << " ranks: gigabits a second over bytes</text>\n";
  for (double d = 0; d <= decades; ++d)
    out << printed("<line x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", kLeft, kWidth - kRight, up(std::pow(10, floor + d)), up(std::pow(10, floor + d)))
        << printed("<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", kLeft - 6, up(std::pow(10, floor + d)) + 4, std::pow(10, floor + d));
  for (std::size_t i = 0; i < all_.size(); i += all_.size() > 8 ? 2 : 1)
    out << printed("<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%.0f</text>\n", across(i), kHeight - kBottom + 18, static_cast<double>(all_[i].bytes));
  for (std::size_t v = 0; v < variants_.size(); ++v) {
    const char* colour = kColours[v % std::size(kColours)];
    out << "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" << colour << "\" points=\"";
    for (std::size_t i = 0; i < all_.size(); ++i) out << printed("%.1f,%.1f ", across(i), up(gigabits(all_[i].bytes, all_[i].times[v])));
    out << "\"/>\n" << printed("<text x=\"%.0f\" y=\"%.0f\" fill=\"", kWidth - kRight + 12, kTop + 16 + 18 * static_cast<double>(v)) << colour << "\">" << variants_[v] << "</text>\n";
  }
  out << "</svg>\n";
  return static_cast<bool>(out.flush());
}

}  // namespace hvd::bench
