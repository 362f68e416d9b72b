// SPDX-License-Identifier: Apache-2.0
// What the options of g++, clang++ and nvcc mean to hvdize-c++.
#pragma once

#include <string>
#include <string_view>

#include "tool/wrapper/command.h"

namespace hvdize::wrapper {

/// The option's value is the next word: "-o", "-include", "-Xlinker".
bool takesNextWord(std::string_view option);
/// No object of a program comes out, or nothing is compiled at all: "-E", "--version".
bool asksOnly(std::string_view option);
/// -M, -MD and so on.
bool isDependencyOption(std::string_view option);
/// Read by the linker only.
bool isLinkOption(std::string_view option);
/// Decides how a source reads: include folders, macros, the standard, the target. `word` is the option without its value.
bool decidesParsing(std::string_view word);

/// All that comes of a compilation with this flag is the object: no file beside it, no message that somebody waits for, nothing that depends
/// on the object's name. False also for what is not known. `word` is the option without its value.
bool makesObjectOnly(std::string_view word);

Language languageOfFile(const std::string& file);
/// Of -x.
Language languageNamed(std::string_view name);

/// Is this the name of a compiler, or of a launcher that stands in front of one?
bool looksLikeCompiler(const std::string& program);
bool looksLikeLauncher(const std::string& program);

}  // namespace hvdize::wrapper
