// SPDX-License-Identifier: Apache-2.0
//
// Precompiled headers in a folder of the user's. Any number of processes may use the folder at once. Whatever is wrong with it, the
// answer is "there is nothing": the cache never makes a program fail.
//
// KEY.headers     the record, which names the headers by their checksum
// CHECKSUM.pch    the headers
// KEY.lock        held by the process that makes them
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <llvm/Support/MemoryBuffer.h>

#include "rewriters/parse/header_record.h"
#include "rewriters/parse/precompile.h"

namespace hvdize {

struct CachedHeaders {
  HeaderRecord record;
  std::unique_ptr<llvm::MemoryBuffer> bytes;
};

class HeaderCache {
 public:
  static constexpr uint64_t kDefaultLimit = uint64_t{1} << 30;

  /// `limit`: bytes that all headers together may have; the ones that were not used for the longest time go first.
  explicit HeaderCache(std::string folder, uint64_t limit = kDefaultLimit) : folder_(std::move(folder)), limit_(limit) {}

  /// What is there under this key, if it is whole, our own, and none of the headers has changed.
  std::optional<CachedHeaders> find(const std::string& key) const;
  /// Makes and keeps them. Nothing when `make` gives nothing, when another process is making them, or when the folder cannot be written.
  std::optional<CachedHeaders> make(const std::string& key, const std::function<std::optional<Precompiled>()>& make, std::string* why) const;
  /// Removes the oldest headers until the rest is within the limit, and what was left by processes that were stopped.
  void prune(const std::string& newest) const;

 private:
  std::string file(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
  uint64_t limit_;
};

}  // namespace hvdize
