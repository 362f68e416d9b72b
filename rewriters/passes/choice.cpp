// SPDX-License-Identifier: Apache-2.0
#include "rewriters/passes/choice.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringSet.h>

#include "rewriters/passes/passes.h"

namespace hvdize {
namespace {

struct Without {
  llvm::StringLiteral name;
  llvm::StringLiteral needs;    ///< the pass without which it would write what is wrong; empty: none
  llvm::StringLiteral promise;  ///< what is off without it
};

constexpr Without kWithout[] = {
    {"session", "", "there are no ranks: the program stays sequential"},
    {"device", "session", "every rank of a host uses the GPU that the program names"},
    {"batch-size", "sampling", "batches do not grow with the number of ranks, whatever HVD_BATCH says"},
    {"constants", "batch-size", "numbers in braces may not compile where a batch size has become a variable"},
    {"sampling", "session", "every rank trains on all samples"},
    {"step-counts", "session", "literal numbers of steps stay, whatever HVD_STEPS says"},
    {"whole-batches", "batch-size", "rows / batch may be zero, and narrow reach behind the last row, where the program alone has whole batches"},
    {"learning-rate", "batch-size", "learning rates do not follow the global batch, and there is no warm-up"},
    {"broadcast", "session", "ranks may begin with different parameters"},
    {"gradients", "sampling", "gradients stay each rank's own, and the replicas drift apart"},
    {"batch-dimension", "sampling", "shapes that hold a batch size keep it, and may not fit a rank's samples"},
    {"numbers", "sampling", "numbers speak of one rank's samples"},
    {"decisions", "session", "ranks may decide differently, and then wait for each other until the deadline"},
    {"input-decisions", "session", "ranks may find different input files, and then wait for each other until the deadline"},
    {"buffers", "session", "buffers such as running statistics are each rank's own"},
    {"input", "session", "every rank reads standard input for itself"},
    {"output", "session", "every rank prints and writes files"},
};

const Without* rowOf(llvm::StringRef name) {
  for (const Without& row : kWithout)
    if (row.name == name) return &row;
  return nullptr;
}

std::string names() {
  std::string all;
  for (const PassInfo& pass : allPasses()) all += (all.empty() ? "" : ", ") + std::string(pass.name);
  return all;
}

}  // namespace

std::optional<std::vector<std::string>> passesLeftOut(llvm::StringRef list, std::string* error) {
  llvm::StringSet<> off;
  llvm::SmallVector<llvm::StringRef, 8> words;
  list.split(words, ',');
  for (llvm::StringRef word : words) {
    llvm::StringRef name = word.trim();
    const bool leave = name.consume_front("-");
    bool known = false;
    for (const PassInfo& pass : allPasses()) {
      if (name != "*" && name != pass.name) continue;
      known = true;
      if (leave) off.insert(pass.name);
      else off.erase(pass.name);
    }
    if (known) continue;
    *error = "--passes: there is no pass '" + name.str() + "'; there are " + names();
    return std::nullopt;
  }
  std::vector<std::string> out;
  for (const PassInfo& pass : allPasses()) {
    if (off.contains(pass.name)) {
      out.push_back(pass.name);
      continue;
    }
    const Without* row = rowOf(pass.name);
    if (!row || row->needs.empty() || !off.contains(row->needs)) continue;
    *error = "--passes: '" + std::string(pass.name) + "' needs '" + row->needs.str() + "': leave out both, or none";
    return std::nullopt;
  }
  return out;
}

llvm::StringRef withoutPass(llvm::StringRef name) {
  const Without* row = rowOf(name);
  return row ? llvm::StringRef(row->promise) : llvm::StringRef();
}

}  // namespace hvdize
