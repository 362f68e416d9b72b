// SPDX-License-Identifier: Apache-2.0
// Files that the program writes, and those that it may read again in the same run.
#pragma once

#include <vector>

#include "llvm/ADT/SmallPtrSet.h"

#include "rewriters/program/model.h"

namespace hvdize {

/// One rank writes, every rank reads by itself: a read must not come before the write has ended, nor a write before all have read. Which file is meant is known when its
/// path is made of string literals only; a file of unknown name may be any.
class FileAccess {
 public:
  explicit FileAccess(const Model& model);

  /// Does this call (a save, a change of files, the opening of an output file) write what every rank may read later?
  bool isReadLater(const clang::Expr* write) const { return read_.contains(write); }
  /// Calls by which every rank reads what may have been written through an output file that was opened before.
  const std::vector<const clang::Expr*>& readsOfStreams() const { return readsOfStreams_; }
  /// Calls that write what some rank may still be about to read: no training step, where ranks meet, lies between.
  const std::vector<const clang::Expr*>& writesAfterReads() const { return writesAfterReads_; }
  /// Do the ranks wait for each other in `s`, or in a function that it calls, for a file that one of them writes and all may read?
  bool waitsIn(const clang::Stmt* s) const;
  /// Is it seen from `main` who calls the function that holds `e`, and does it run on the main thread?
  bool isVisible(const clang::Expr* e) const;

 private:
  struct Access {
    const clang::Expr* call;
    const clang::Expr* path;
    bool stream;
    bool folder = false;  ///< the path is that of the folder which has the files
  };
  struct Place {
    const clang::FunctionDecl* function;
    const clang::Stmt* at;
  };
  void find(const clang::Expr* e);
  bool waitsIn(const clang::Stmt* s, llvm::SmallPtrSetImpl<const clang::FunctionDecl*>& seen) const;
  std::vector<Place> placesOf(const clang::Expr* e) const;
  bool inHandler(const clang::Expr* e) const;
  bool maySame(const Access& write, const Access& read) const;
  bool mayFollow(const clang::Expr* first, const clang::Expr* then, bool withoutStep) const;
  bool comesBefore(const clang::Stmt* first, const clang::Stmt* then) const;
  bool stepBetween(const Place& first, const Place& then) const;

  const Model& model_;
  std::vector<Access> writes_, reads_;
  llvm::SmallPtrSet<const clang::Expr*, 8> read_;
  std::vector<const clang::Expr*> readsOfStreams_, writesAfterReads_;
  std::vector<Place> steps_;
};

}  // namespace hvdize
