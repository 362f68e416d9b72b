// SPDX-License-Identifier: Apache-2.0
// How far the threads of the program have come, as others can see it: how many items a container has that a thread fills.
#pragma once

#include "rewriters/program/surroundings.h"

namespace hvdize {

class ThreadProgress {
 public:
  ThreadProgress(const Definitions& definitions, const Surroundings& surroundings);

  /// Why a value is another on each rank.
  static constexpr const char* kWhy = "how far a thread of this rank has come";

  /// Does the expression read a number that a thread may change at this time: the size of a container that it fills or empties, or a counter?
  bool isRead(const clang::Expr* e) const;

  /// A container of the author's into which more than one thread puts items, with the place where one does.
  struct Mixed {
    const clang::ValueDecl* container;
    const clang::Expr* put;
  };
  const std::vector<Mixed>& mixed() const { return mixed_; }

  /// Does the expression name data that a thread may put in or replace at this time, other than to take the items in their order?
  bool isTimed(const clang::Expr* e) const;
  /// May `draw` happen on a thread while `step` runs?
  bool drawsBeside(const clang::Expr* draw, const clang::Expr* step) const;

 private:
  /// The part of a function during which a thread may run: from its start to where it has been waited for, or to the end.
  struct Window {
    const clang::FunctionDecl* in;
    const clang::Expr *from, *to;
  };
  struct Run {
    Functions functions;  ///< that the thread runs
    llvm::DenseSet<const clang::ValueDecl*> changed, put, assigned;
    bool waits = false;  ///< for the others to come to some point
    std::vector<Window> windows;
    Functions during;  ///< what is called in the windows
  };

  void findJoiners();
  bool joins(const clang::Expr* e) const;
  void findWindows(const clang::Expr* start, Run& run) const;
  bool isRepeated(const clang::Expr* start, const Run& run) const;
  void findChanged(const ThreadStart& start, Run& run);
  const clang::ValueDecl* given(const clang::ValueDecl* d, const ThreadStart& start) const;
  bool isAlive(const Run& run, const clang::Expr* e) const;
  bool before(const clang::Stmt* a, const clang::Stmt* b) const;
  bool followsWait(const clang::Expr* e) const;
  bool takesInOrder(const clang::Expr* use) const;

  const Definitions& definitions_;
  const Surroundings& surroundings_;
  const AuthorCode& code_;
  Functions joiners_;
  std::vector<Run> runs_;
  std::vector<Mixed> mixed_;
};

}  // namespace hvdize
