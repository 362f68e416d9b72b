// SPDX-License-Identifier: Apache-2.0
#include "check.hpp"

#include <algorithm>
#include <cstring>

#include "fixed_text.hpp"
#include "rank.hpp"

namespace hvd::dist {

namespace {

// Names, types and lengths agree, and the ranks are as far in their programs as each other.
bool same_operation(const CheckRecord& a, const CheckRecord& b) {
  return a.number == b.number && a.count == b.count && a.batch == b.batch && a.step == b.step && a.type == b.type && a.root == b.root &&
         std::strcmp(a.op, b.op) == 0 && std::strcmp(a.name, b.name) == 0;
}

std::string place_of(const CheckRecord& r) {
  std::string text;
  if (r.line) text += std::string(r.file) + ":" + std::to_string(r.line) + ", ";
  text += "batch " + std::to_string(r.batch);
  if (r.step >= 0) text += ", step " + std::to_string(r.step);
  return text + ", operation " + std::to_string(r.number);
}

std::string describe(const CheckRecord& r) {
  std::string text = std::string(r.op) + " '" + r.name + "'";
  if (std::strcmp(r.op, "barrier") != 0) text += " of " + std::to_string(r.count) + " " + name_of(static_cast<DataType>(r.type));
  if (std::strcmp(r.op, "broadcast") == 0) text += " from rank " + std::to_string(r.root);
  return text + " (" + place_of(r) + ")";
}

// "rank 1", "ranks 0, 2"
std::string list_of(const std::vector<std::size_t>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) text += (i ? ", " : "") + std::to_string(ranks[i]);
  return text;
}

std::string difference_of(const std::vector<CheckRecord>& all) {
  std::vector<char> told(all.size(), 0);
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (told[i]) continue;
    std::vector<std::size_t> alike;
    for (std::size_t j = i; j < all.size(); ++j) {
      if (!same_operation(all[i], all[j])) continue;
      told[j] = 1;
      alike.push_back(static_cast<std::size_t>(all[j].rank));
    }
    text += (text.empty() ? "" : "; ") + list_of(alike) + " in " + describe(all[i]);
  }
  return text;
}

std::uint64_t hash_of(const void* data, std::size_t bytes) {
  const char* p = static_cast<const char*>(data);
  std::uint64_t hash = 0x9E3779B97F4A7C15ull ^ bytes;
  const auto mix = [&](std::uint64_t word) {
    hash = (hash ^ word) * 0xFF51AFD7ED558CCDull;
    hash ^= hash >> 32;
  };
  std::size_t i = 0;
  for (std::uint64_t word; i + sizeof word <= bytes; i += sizeof word) {
    std::memcpy(&word, p + i, sizeof word);
    mix(word);
  }
  for (; i < bytes; ++i) mix(static_cast<unsigned char>(p[i]));
  return hash;
}

template <class T>
std::size_t first_nan_of(const void* data, std::size_t count) {
  const T* values = static_cast<const T*>(data);
  constexpr std::size_t kBlock = 1024;
  for (std::size_t done = 0; done < count; done += kBlock) {
    const std::size_t n = std::min(kBlock, count - done);
    bool good = true;
    for (std::size_t i = 0; i < n; ++i) good &= values[done + i] == values[done + i];
    for (std::size_t i = 0; i < n && !good; ++i)
      if (values[done + i] != values[done + i]) return done + i;
  }
  return count;
}

}  // namespace

CheckRecord CollectiveCheck::record(const char* op, const OpName& name, std::size_t count, DataType type, int root) {
  CheckRecord r;
  r.number = ++number_;
  r.count = count;
  r.batch = name.batch >= 0 ? name.batch : rank_.batches;
  r.step = name.batch >= 0 ? -1 : rank_.step;
  r.type = static_cast<std::int32_t>(type);
  r.root = root;
  r.line = name.line;
  r.rank = rank_.rank();
  copy_text(r.op, op);
  copy_text(r.name, name.name);
  copy_text(r.file, base_name(name.file));
  copy_text(r.fault, fault_.c_str());
  fault_.clear();
  return r;
}

void CollectiveCheck::compare(const std::vector<CheckRecord>& all) {
  for (const CheckRecord& r : all)
    if (!same_operation(r, all[0])) throw CheckFailed("HVD_CHECK: ranks have reached different operations: " + difference_of(all));
  std::string faults;
  const CheckRecord* at = nullptr;
  for (const CheckRecord& r : all) {
    if (!r.fault[0]) continue;
    faults += (at ? "; " : "") + std::string("on rank ") + std::to_string(r.rank) + " " + r.fault;
    if (!at) at = &r;
  }
  if (at) throw CheckFailed("HVD_CHECK: " + faults + " (" + place_of(*at) + ")");
}

std::size_t first_nan(const void* data, std::size_t count, DataType type) noexcept {
  if (type == DataType::float32) return first_nan_of<float>(data, count);
  if (type == DataType::float64) return first_nan_of<double>(data, count);
  return count;
}

std::string nan_text(const char* what, const std::string& tensor, std::size_t element, std::size_t count) {
  return "'" + tensor + "' (" + what + ") is NaN at element " + std::to_string(element) + " of " + std::to_string(count);
}

void check_numbers(const Rank& rank, const char* what, const std::string& tensor, const void* data, std::size_t count, DataType type) {
  const std::size_t element = first_nan(data, count, type);
  if (element == count) return;
  throw CheckFailed("HVD_CHECK: on rank " + std::to_string(rank.rank()) + " " + nan_text(what, tensor, element, count) + " (batch " +
                    std::to_string(rank.batches) + ", step " + std::to_string(rank.step) + ")");
}

void check_replicas(Rank& rank, const std::vector<CheckedTensor>& tensors, const OpName& name) {
  const std::size_t n = tensors.size(), ranks = static_cast<std::size_t>(rank.size());
  std::vector<std::uint64_t> mine, all(n * ranks);
  for (const CheckedTensor& t : tensors) mine.push_back(hash_of(t.data, t.bytes));
  rank.comm->allgather(mine.data(), n, all.data(), DataType::uint64, name);
  for (std::size_t i = 0; i < n; ++i) {
    // What most ranks hold, of two equally frequent values the lower rank's, is taken for right.
    std::size_t best = 0, most = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
      std::size_t alike = 0;
      for (std::size_t s = 0; s < ranks; ++s) alike += all[s * n + i] == all[r * n + i];
      if (alike > most) {
        most = alike;
        best = r;
      }
    }
    if (most == ranks) continue;
    std::vector<std::size_t> others;
    for (std::size_t r = 0; r < ranks; ++r)
      if (all[r * n + i] != all[best * n + i]) others.push_back(r);
    const std::string place = name.line ? std::string(base_name(name.file)) + ":" + std::to_string(name.line) + ", " : "";
    throw CheckFailed("HVD_CHECK: '" + tensors[i].name + "' of " + list_of(others) + " is not that of rank " + std::to_string(best) +
                      " (" + place + "batch " + std::to_string(rank.batches) + ", step " + std::to_string(rank.step) + ")");
  }
}

}  // namespace hvd::dist
