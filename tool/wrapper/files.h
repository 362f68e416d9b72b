// SPDX-License-Identifier: Apache-2.0
// Files, paths and texts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hvdize::wrapper {

std::vector<std::string> split(const std::string& text, char at);
bool readFile(const std::string& path, std::string& text);
/// Into a temporary file beside it, then renamed. Throws std::runtime_error.
void writeFile(const std::string& path, const std::string& text);
std::string currentFolder();
std::string absolutePath(const std::string& path, const std::string& folder);
/// With links followed; the absolute path when there is no such file.
std::string realPath(const std::string& path);
/// "" for a name without a folder.
std::string folderOf(const std::string& path);
std::string nameOf(const std::string& path);
/// The name without its last extension.
std::string stemOf(const std::string& path);
bool exists(const std::string& path);
/// Creates a folder with its parents. Throws std::runtime_error.
void makeFolders(const std::string& path);
void removeTree(const std::string& path);
/// Size and time of last change, as text; empty when there is no such file.
std::string stampOf(const std::string& path);
/// 64 bits, as 16 hexadecimal digits: tells texts apart that changed, no protection against forgery.
std::string hashOf(const std::string& text);

}  // namespace hvdize::wrapper
