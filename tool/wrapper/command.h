// SPDX-License-Identifier: Apache-2.0
// A compiler's command line, as far as hvdize-c++ must understand it: what is read, what is written, and which flags decide how.
#pragma once

#include <string>
#include <vector>

namespace hvdize::wrapper {

using Words = std::vector<std::string>;

enum class Language { Cxx, Cuda, Preprocessed, Other, LinkerInput };

struct Argument {
  enum class Role {
    Flag,        ///< decides how a source is read or translated
    Linking,     ///< for the linker only
    Input,
    Output,      ///< -o
    Compile,     ///< -c
    Dependency   ///< -M, -MD, -MF FILE, ...
  };
  Role role = Role::Flag;
  Words words;                            ///< one word, or an option and its value
  std::string value;                      ///< of Input and Output: the file; of Dependency: the file or target
  Language language = Language::Other;    ///< of Input
};

struct Command {
  enum class Mode {
    PassThrough,   ///< no object that a program is linked of: preprocessing, questions to the compiler, standard input
    Compile,       ///< -c
    Link           ///< inputs are compiled where they are sources, then linked
  };
  Words compiler;                 ///< the real one, with further launchers in front of it
  bool launcher = false;          ///< hvdize-c++ stands in front of the compiler's name
  Words original;                 ///< the compiler's arguments as they were given, without those of hvdize-c++
  std::vector<Argument> arguments;///< response files expanded
  Words options;                  ///< for hvdize: --hvdize-batch=global is --batch=global here
  bool off = false;               ///< --hvdize-off
  bool defers = true;             ///< no --hvdize-defer=off
  Mode mode = Mode::PassThrough;

  std::string output() const;     ///< empty when there is no -o
  bool has(Argument::Role role) const;
  /// The words of the arguments of one role.
  Words wordsOf(Argument::Role role) const;
  bool hasFlag(const std::string& word) const;
  std::vector<const Argument*> inputs() const;
};

/// Reads `arguments` (without the program's own name). `fallback` is the compiler when none stands first. Throws std::runtime_error.
Command parseCommand(const Words& arguments, const std::string& fallback);

}  // namespace hvdize::wrapper
