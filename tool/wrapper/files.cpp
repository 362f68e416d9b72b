// SPDX-License-Identifier: Apache-2.0
#include "tool/wrapper/files.h"

#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

namespace hvdize::wrapper {

namespace fs = std::filesystem;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end = text.find(at); end != std::string::npos; end = text.find(at, begin)) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

bool readFile(const std::string& path, std::string& text) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat s;
  if (file < 0) return false;
  size_t size = 0;
  text.resize(fstat(file, &s) == 0 && s.st_size > 0 ? static_cast<size_t>(s.st_size) + 1 : 4096);  // one more: the end is seen at once
  for (ssize_t got = 1; got > 0; size += static_cast<size_t>(std::max<ssize_t>(got, 0))) {
    if (size == text.size()) text.resize(2 * size);
    got = read(file, text.data() + size, text.size() - size);
    if (got < 0) break;
  }
  close(file);
  text.resize(size);
  return true;
}

void writeFile(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".hvdize-" + std::to_string(getpid());
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file || std::rename(temporary.c_str(), path.c_str()) != 0) {
    unlink(temporary.c_str());
    throw std::runtime_error("cannot write '" + path + "'");
  }
}

std::string currentFolder() { return fs::current_path().string(); }

std::string absolutePath(const std::string& path, const std::string& folder) {
  return (fs::path(folder) / path).lexically_normal().string();
}

std::string realPath(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? absolutePath(path, currentFolder()) : real.string();
}

std::string folderOf(const std::string& path) { return fs::path(path).parent_path().string(); }
std::string nameOf(const std::string& path) { return fs::path(path).filename().string(); }
std::string stemOf(const std::string& path) { return fs::path(path).stem().string(); }
bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

void makeFolders(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw std::runtime_error("cannot create the folder '" + path + "': " + error.message());
}

void removeTree(const std::string& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

std::string stampOf(const std::string& path) {
  struct stat s;
  if (stat(path.c_str(), &s) != 0) return "";
  return std::to_string(s.st_size) + " " + std::to_string(s.st_mtim.tv_sec) + "." + std::to_string(s.st_mtim.tv_nsec);
}

std::string hashOf(const std::string& text) {
  uint64_t hash = 14695981039346656037ull;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

}  // namespace hvdize::wrapper
