// SPDX-License-Identifier: Apache-2.0
// Whether a checkpoint goes to a file, or stays with the process.
#pragma once

#include "rewriters/program/origins.h"
#include "rewriters/program/sites.h"

namespace hvdize {

/// `save(net, text)` with a std::stringstream: every rank has a text of its own, and needs what is written to it. The same of functions that take the bytes, and of
/// streams of which is not seen what they are: where one of them leads to a file, that has been opened for the root alone.
class MemoryStreams {
 public:
  MemoryStreams(const AuthorCode& code, const Sites& sites, const Definitions& definitions) : code_(code), sites_(sites), definitions_(definitions) {}

  /// Does this save or load concern something that each rank has for itself?
  bool concerns(const clang::Expr* call) const;
  /// Does this load read what the program itself has saved there, on every rank alike?
  bool readsOwn(const clang::Expr* load) const;

 private:
  bool isOwn(const clang::Expr* destination) const;
  bool isBytes(const clang::Expr* destination) const;
  const clang::Expr* destinationOf(const clang::Expr* call) const;

  const AuthorCode& code_;
  const Sites& sites_;
  const Definitions& definitions_;
};

}  // namespace hvdize
