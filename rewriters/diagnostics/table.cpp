// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cassert>

#include "rewriters/diagnostics/diagnostics.h"

namespace hvdize {
namespace {

constexpr auto kTable = std::to_array<DiagInfo>({
#define HVD_DIAG(NUMBER, SEVERITY, NAME, ASSUME, MESSAGE, EXPLANATION, BEFORE, AFTER) \
  {DiagID::NAME, Severity::SEVERITY, #NAME, ASSUME, MESSAGE, EXPLANATION, BEFORE, AFTER},
#include "rewriters/diagnostics/diagnostics.def"
#undef HVD_DIAG
});

constexpr bool inOrder() {
  for (size_t i = 1; i < kTable.size(); ++i)
    if (kTable[i - 1].id >= kTable[i].id) return false;
  return true;
}
static_assert(inOrder(), "rows of diagnostics.def must be in the order of their numbers, each number once");

constexpr bool numbersFitSeverities() {
  for (const DiagInfo& d : kTable) {
    const unsigned thousand = static_cast<unsigned>(d.id) / 1000;
    if (thousand != static_cast<unsigned>(d.severity) + 1) return false;
    if (!d.assume.empty() && d.severity != Severity::Warning) return false;
  }
  return true;
}
static_assert(numbersFitSeverities(), "1xxx are notes, 2xxx warnings, 3xxx refusals, 4xxx said at run time; only warnings are assumptions");

}  // namespace

llvm::ArrayRef<DiagInfo> allDiagnostics() { return kTable; }

const DiagInfo& diagInfo(DiagID id) {
  auto row = std::lower_bound(kTable.begin(), kTable.end(), id, [](const DiagInfo& d, DiagID i) { return d.id < i; });
  assert(row != kTable.end() && row->id == id);
  return *row;
}

const DiagInfo* findDiagnostic(llvm::StringRef idOrName) {
  llvm::StringRef digits = idOrName;
  digits.consume_front_insensitive("HVD");
  unsigned number = 0;
  const bool isNumber = !digits.getAsInteger(10, number);
  for (const DiagInfo& d : kTable) {
    if (isNumber ? static_cast<unsigned>(d.id) == number
                 : idOrName == llvm::StringRef(d.name) || (!d.assume.empty() && idOrName == llvm::StringRef(d.assume)))
      return &d;
  }
  return nullptr;
}

std::string idString(DiagID id) { return "HVD" + std::to_string(static_cast<unsigned>(id)); }

}  // namespace hvdize
