// SPDX-License-Identifier: Apache-2.0
#include "tool/compare/files.h"

#include "tool/compare/torch_archive.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

namespace hvdize::compare {
namespace {

namespace fs = std::filesystem;

std::set<std::string> filesBelow(const std::string& folder) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) names.insert(fs::relative(entry.path(), folder).string());
  return names;
}

std::string firstByte(const std::string& a, const std::string& b) {
  const size_t common = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  if (common == std::min(a.size(), b.size()))
    return std::to_string(a.size()) + " bytes, in the distributed run " + std::to_string(b.size());
  return "byte " + std::to_string(common) + " of " + std::to_string(a.size()) + " differs";
}

class FolderComparer {
 public:
  FolderComparer(const FileRules& rules, FileComparison& result) : rules_(rules), result_(result) {}

  void compare(const std::string& name, const std::string& expected, const std::string& actual) {
    ++result_.files;
    const bool same = expected == actual;
    if (same) ++result_.identical;
    if (looksLikeSafetensors(expected)) compareCheckpoint(name, expected, actual, same, parseSafetensors);
    else if (looksLikeTorchArchive(expected)) compareCheckpoint(name, expected, actual, same, parseTorchArchive);
    else if (same) return;
    else if (looksLikeText(expected) && looksLikeText(actual)) compareTextFile(name, expected, actual);
    else differs(name + ": " + firstByte(expected, actual));
  }

  void differs(const std::string& what) {
    if (result_.difference.empty()) result_.difference = what;
  }

 private:
  void compareTextFile(const std::string& name, const std::string& expected, const std::string& actual) {
    const TextComparison text = compareText(expected, actual, rules_.text);
    result_.linesIgnored += text.linesIgnored;
    if (text.equal()) return;
    const TextDifference& d = *text.difference;
    differs(name + ":" + std::to_string(d.line) + ":" + std::to_string(d.column) + ": '" + d.expected + "', in the distributed run '" +
            d.actual + "'");
  }

  void compareCheckpoint(const std::string& name, const std::string& expected, const std::string& actual, bool same,
                         Checkpoint (*parse)(const std::string&)) {
    ++result_.checkpoints;
    TensorComparison tensors;
    try {
      const Checkpoint left = parse(expected), right = parse(actual);
      same = same || left.bytesVary;
      tensors = compareCheckpoints(left, right, rules_.tensors);
    } catch (const CheckpointError& error) {
      return differs(name + ": " + error.what());
    }
    noteTensors(name, tensors);
    if (!tensors.equal()) differs(name + ": " + tensors.difference);
    else if (!same && rules_.tensors.exact && tensors.excluded.empty()) differs(name + ": " + firstByte(expected, actual));
  }

  void noteTensors(const std::string& name, const TensorComparison& tensors) {
    if (!tensors.largestName.empty() && (tensors.largest > result_.largest || result_.largestWhere.empty())) {
      result_.largest = tensors.largest;
      result_.largestWhere = tensors.largestName + " (" + name + ")";
    }
    for (const std::string& excluded : tensors.excluded)
      if (std::find(result_.excluded.begin(), result_.excluded.end(), excluded) == result_.excluded.end())
        result_.excluded.push_back(excluded);
  }

  const FileRules& rules_;
  FileComparison& result_;
};

}  // namespace

std::string readFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

bool looksLikeText(const std::string& content) {
  return std::none_of(content.begin(), content.end(), [](char c) {
    const unsigned char u = static_cast<unsigned char>(c);
    return u < 0x20 && !(u >= '\t' && u <= '\r') && u != 0x1B;
  });
}

FileComparison compareFolders(const std::string& expected, const std::string& actual, const FileRules& rules) {
  FileComparison result;
  FolderComparer comparer(rules, result);
  const std::set<std::string> left = filesBelow(expected), right = filesBelow(actual);
  for (const std::string& name : left) {
    if (right.count(name)) comparer.compare(name, readFile(expected + "/" + name), readFile(actual + "/" + name));
    else comparer.differs(name + ": missing in the distributed run");
  }
  for (const std::string& name : right)
    if (!left.count(name)) comparer.differs(name + ": written by the distributed run only");
  return result;
}

}  // namespace hvdize::compare
