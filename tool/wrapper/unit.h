// SPDX-License-Identifier: Apache-2.0
//
// What hvdize-c++ knows of a translation unit when the program is linked: the summary that each object carries in a section of its own.
#pragma once

#include <string>
#include <vector>

#include "tool/wrapper/command.h"

namespace hvdize::wrapper {

inline const char* const kSection = ".hvdize";
/// In shared libraries with units that train: they are not rewritten.
inline const char* const kLibrarySection = ".hvdize.sequential";
/// Objects that train need this symbol; only the link step of hvdize-c++ has it. Its name is the message when another linker is used.
inline const char* const kGuard = "hvdize_needs_its_link_step__link_with_hvdize_cxx_or_set_CMAKE_CXX_LINKER_LAUNCHER";
/// The symbol that an object without code needs. No link has it: such an object is never part of a program.
inline const char* const kDeferredGuard = "hvdize_needs_its_link_step__this_object_holds_no_code__link_with_hvdize_cxx_or_set_CMAKE_CXX_LINKER_LAUNCHER";

struct Unit {
  enum class Kind {
    Plain,         ///< compiled as it is written
    Unchanged,     ///< as it is written; hvdize has read it alone and found nothing to do
    Rewritten,     ///< hvdize has read it alone, and its distributed form was compiled
    Unsupported,   ///< cannot be read again: CUDA, preprocessed text
    Deferred       ///< not compiled yet: the link step does it, once it knows the unit's text (defer.h)
  };
  Kind kind = Kind::Plain;
  bool framework = false, words = false, main = false;
  std::string folder;        ///< in which it was compiled
  std::string source;        ///< as the command named it
  std::string sourceHash;
  std::string object;        ///< as the command named it
  std::string key;           ///< what a Rewritten or Unchanged one relied on: hvdize and its options
  std::string texts;         ///< hash of the rewritten files
  std::string runtime;       ///< of a Rewritten one: the header of the runtime that it includes
  Words options;             ///< for hvdize, of this unit's command
  Words compiler, flags;     ///< without input, output and dependencies

  bool mayTrain() const { return framework && words; }
  std::string path() const;  ///< of the source, absolute
};

std::string textOf(const Unit& unit);
/// The units of a section: linkers may have put several behind each other. Throws std::runtime_error for another version's.
std::vector<Unit> unitsOf(const std::string& section);

}  // namespace hvdize::wrapper
