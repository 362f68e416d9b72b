// SPDX-License-Identifier: Apache-2.0
#include "tool/wrapper/forced.h"

#include <algorithm>

#include "tool/wrapper/files.h"

namespace hvdize::wrapper {
namespace {

/// Where a file that is included, or a precompiled header, is named.
struct Named {
  size_t begin = 0, value = 0;  ///< of the option, and of its value
  bool precompiled = false;
  bool byClang = false;         ///< "-Xclang" "-include" "-Xclang" FILE
};

std::vector<Named> named(const Words& flags) {
  std::vector<Named> found;
  const auto names = [](const std::string& word) { return word == "-include" || word == "-include-pch"; };
  for (size_t i = 0; i + 1 < flags.size(); ++i) {
    const bool byClang = flags[i] == "-Xclang" && i + 3 < flags.size() && names(flags[i + 1]) && flags[i + 2] == "-Xclang";
    if (!byClang && !names(flags[i])) continue;
    found.push_back({i, byClang ? i + 3 : i + 1, flags[byClang ? i + 1 : i] == "-include-pch", byClang});
    i = found.back().value;
  }
  return found;
}

std::string whereIs(const std::string& file, const std::string& folder) {
  const std::string path = absolutePath(file, folder);
  return exists(path) ? path : file;
}

const Changed* changedHeader(const Rewriting& rewriting, const std::string& file, const std::string& folder) {
  const std::string real = realPath(whereIs(file, folder));
  for (const Changed& c : rewriting.changed)
    if (c.header && realPath(c.original) == real) return &c;
  return nullptr;
}

}  // namespace

Words forcedIncludes(const Words& flags, const std::string& folder) {
  Words files;
  for (const Named& n : named(flags))
    if (!n.precompiled) files.push_back(whereIs(flags[n.value], folder));
  return files;
}

Words asText(const Words& flags) {
  const std::vector<Named> all = named(flags);
  const bool text = std::any_of(all.begin(), all.end(), [](const Named& n) { return !n.precompiled; });
  Words out;
  size_t next = 0;
  for (const Named& n : all) {
    out.insert(out.end(), flags.begin() + static_cast<std::ptrdiff_t>(next), flags.begin() + static_cast<std::ptrdiff_t>(n.begin));
    if (!n.precompiled || !text) out.insert(out.end(), {n.precompiled ? "-include-pch" : "-include", flags[n.value]});
    next = n.value + 1;
  }
  out.insert(out.end(), flags.begin() + static_cast<std::ptrdiff_t>(next), flags.end());
  return out;
}

Words withoutForced(const Words& flags) {
  Words out;
  size_t next = 0;
  for (const Named& n : named(flags)) {
    out.insert(out.end(), flags.begin() + static_cast<std::ptrdiff_t>(next), flags.begin() + static_cast<std::ptrdiff_t>(n.begin));
    next = n.value + 1;
  }
  out.insert(out.end(), flags.begin() + static_cast<std::ptrdiff_t>(next), flags.end());
  return out;
}

Words withNewTexts(const Words& flags, const std::string& folder, const Rewriting& rewriting) {
  const std::vector<Named> all = named(flags);
  const auto changed = [&](const Named& n) { return n.precompiled ? nullptr : changedHeader(rewriting, flags[n.value], folder); };
  if (std::none_of(all.begin(), all.end(), changed)) return flags;
  Words out;
  size_t next = 0;
  for (const Named& n : all) {
    const size_t end = n.precompiled ? n.begin : n.value;
    out.insert(out.end(), flags.begin() + static_cast<std::ptrdiff_t>(next), flags.begin() + static_cast<std::ptrdiff_t>(end));
    const Changed* c = changed(n);
    if (!n.precompiled) out.push_back(c ? c->rewritten : flags[n.value]);
    next = n.value + 1;
  }
  out.insert(out.end(), flags.begin() + static_cast<std::ptrdiff_t>(next), flags.end());
  return out;
}

bool concerns(const Rewriting& rewriting, const std::string& source, const Words& flags, const std::string& folder) {
  if (rewriting.find(source)) return true;
  const Words forced = forcedIncludes(flags, folder);
  return std::any_of(forced.begin(), forced.end(), [&](const std::string& f) { return changedHeader(rewriting, f, folder) != nullptr; });
}

}  // namespace hvdize::wrapper
