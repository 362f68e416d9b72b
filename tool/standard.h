// SPDX-License-Identifier: Apache-2.0
// The standard of C++ that flags ask for, and the one that the runtime's headers need.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

namespace hvdize {

/// "-std=gnu++14" is 14; 0 when it is no standard of C++. "1y" and the like were names before a standard had its number.
inline int yearOfStandard(const std::string& flag) {
  const size_t at = flag.find("++");
  if (flag.rfind("-std=", 0) != 0 || at == std::string::npos) return 0;
  const std::string year = flag.substr(at + 2);
  if (year == "98" || year == "03" || year == "0x") return 3;
  if (year == "1y") return 14;
  if (year == "1z") return 17;
  if (year == "2a") return 20;
  return std::atoi(year.c_str()) ? std::atoi(year.c_str()) : 26;
}

/// The standard to add behind `flags`; empty when theirs will do.
inline std::string neededStandard(const std::vector<std::string>& flags) {
  int year = 17;  // what compilers of today take when nobody says
  bool gnu = true;
  for (const std::string& f : flags)
    if (const int y = yearOfStandard(f)) year = y, gnu = f.find("gnu") != std::string::npos;
  return year >= 17 ? "" : gnu ? "-std=gnu++17" : "-std=c++17";
}

}  // namespace hvdize
